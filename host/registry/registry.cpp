#include "host/registry/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "host/chains/spin_chains.hpp"
#include "targets/data/nearest_name.hpp"

namespace kilochain {
namespace {

// Inside functions: static objects of other files register before main, in no order.
std::vector<SamplerEntry>& sampler_table() {
  static std::vector<SamplerEntry> table;
  return table;
}
std::vector<TargetEntry>& target_table() {
  static std::vector<TargetEntry> table;
  return table;
}
std::vector<SamplerEntry>& spin_sampler_table() {
  static std::vector<SamplerEntry> table;
  return table;
}
std::vector<TargetEntry>& spin_target_table() {
  static std::vector<TargetEntry> table;
  return table;
}
std::map<std::string, CudaSamplerEntry>& cuda_sampler_table() {
  static std::map<std::string, CudaSamplerEntry> table;
  return table;
}
std::map<std::string, CudaTargetEntry>& cuda_target_table() {
  static std::map<std::string, CudaTargetEntry> table;
  return table;
}

template <class Entry>
void insert_sorted(std::vector<Entry>& table, Entry entry) {
  const auto at = std::lower_bound(table.begin(), table.end(), entry,
                                   [](const Entry& a, const Entry& b) { return a.name < b.name; });
  table.insert(at, std::move(entry));
}

template <class Entry>
const Entry& find(const std::vector<Entry>& table, const std::vector<Entry>& of_spins, const std::string& kind,
                  const std::string& name) {
  std::vector<std::string> known;
  for (const auto* entries : {&table, &of_spins})
    for (const auto& e : *entries) {
      if (e.name == name) return e;
      known.push_back(e.name);
    }
  throw Error(ExitStatus::usage, fmt::format("unknown {} \"{}\"", kind, name),
              fmt::format("{} {}s are registered", known.size(), kind),
              fmt::format("Did you mean {}? `kilochain {}s` lists all.", nearest_name(name, known), kind));
}

template <class Entry>
const Entry& need_cuda(const Entry* entry, const std::string& kind, const std::string& name) {
  if (!entry)
    throw Error(ExitStatus::usage, fmt::format("{} {} has no CUDA version", kind, name), "--device cuda",
                "Run with --device cpu?");
  return *entry;
}

const SamplerEntry::MakeReplicas& replicas_of(const Context& context, const SamplerEntry& entry) {
  return context.backend == Backend::cpu
             ? entry.make_replicas
             : need_cuda(find_cuda_sampler(entry.name), "sampler", entry.name).make_replicas;
}

template <class Entry>
void check_entry(const Entry& entry, const std::string& kind, const SettingTexts& texts) {
  std::vector<std::string> known;
  for (const SettingInfo& info : entry.settings) known.push_back(info.name);
  for (const auto& [name, text] : texts) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string nearest = nearest_name(name, known);
    throw Error(ExitStatus::usage, fmt::format("{} {} has no setting {}", kind, entry.name, name),
                fmt::format("{} = {}", name, text),
                nearest.empty() ? "Remove it?" : fmt::format("Did you mean {}?", nearest));
  }
  if (entry.check) entry.check(entry.name, texts);
}

}  // namespace

const std::vector<SamplerEntry>& samplers() { return sampler_table(); }
const std::vector<TargetEntry>& targets() { return target_table(); }
const std::vector<SamplerEntry>& spin_samplers() { return spin_sampler_table(); }
const std::vector<TargetEntry>& spin_targets() { return spin_target_table(); }
const SamplerEntry& find_sampler(const std::string& name) {
  return find(sampler_table(), spin_sampler_table(), "sampler", name);
}
const TargetEntry& find_target(const std::string& name) {
  return find(target_table(), spin_target_table(), "target", name);
}
RegisterSampler::RegisterSampler(SamplerEntry entry) {
  insert_sorted(entry.spins ? spin_sampler_table() : sampler_table(), std::move(entry));
}
RegisterTarget::RegisterTarget(TargetEntry entry) {
  insert_sorted(entry.spins ? spin_target_table() : target_table(), std::move(entry));
}
RegisterCudaSampler::RegisterCudaSampler(const std::string& name, CudaSamplerEntry entry) {
  cuda_sampler_table()[name] = std::move(entry);
}
RegisterCudaTarget::RegisterCudaTarget(const std::string& name, CudaTargetEntry entry) {
  cuda_target_table()[name] = std::move(entry);
}

const CudaSamplerEntry* find_cuda_sampler(const std::string& name) {
  const auto it = cuda_sampler_table().find(name);
  return it == cuda_sampler_table().end() ? nullptr : &it->second;
}
const CudaTargetEntry* find_cuda_target(const std::string& name) {
  const auto it = cuda_target_table().find(name);
  return it == cuda_target_table().end() ? nullptr : &it->second;
}

void check_settings(const std::string& sampler, const SettingTexts& sampler_settings, const std::string& target,
                    const SettingTexts& target_settings) {
  const SamplerEntry& s = find_sampler(sampler);
  const TargetEntry& t = find_target(target);
  if (s.spins != t.spins) {
    std::string others;
    for (const SamplerEntry& e : t.spins ? spin_samplers() : samplers())
      others += (others.empty() ? "" : ", ") + e.name;
    throw Error(ExitStatus::usage,
                fmt::format("target {} is a {}, sampler {} is for {}", target, t.spins ? "model of spins" : "density",
                            sampler, s.spins ? "spins" : "densities"),
                fmt::format("--sampler {} --target {}", sampler, target), fmt::format("Choose --sampler {}?", others));
  }
  check_entry(s, "sampler", sampler_settings);
  check_entry(t, "target", target_settings);
}

template <class Real>
std::unique_ptr<Chains<Real>> make_chains(const Context& context, const std::string& name, const SettingTexts& texts,
                                          Index num_chains, Index dim, Scope scope) {
  const SamplerEntry& entry = find_sampler(name);
  if (context.backend == Backend::cpu) return entry.make<Real>()(context, texts, num_chains, dim, scope);
  const CudaSamplerEntry& cuda = need_cuda(find_cuda_sampler(name), "sampler", name);
  if constexpr (sizeof(Real) == 4)
    return cuda.make_float(context, texts, num_chains, dim, scope);
  else
    return cuda.make_double(context, texts, num_chains, dim, scope);
}

template <class Real>
std::unique_ptr<Chains<Real>> make_chains(const Context& context, const std::string& name, const SettingTexts& texts,
                                          Index num_chains, const TargetInfo& target, Scope scope) {
  const SamplerEntry& entry = find_sampler(name);
  if (!entry.spins) return make_chains<Real>(context, name, texts, num_chains, target.dim, scope);
  return std::make_unique<discrete::SpinChains<Real>>(
      context, replicas_of(context, entry)(context, texts, num_chains, *target.spin_model), num_chains,
      target.spin_model, static_cast<int>(entry.stats.size()));
}

template <class Real>
std::unique_ptr<Target<Real>> make_target(const Context& context, const std::string& name, const SettingTexts& texts) {
  const TargetEntry& entry = find_target(name);
  if (context.backend == Backend::cpu || entry.spins) return entry.make<Real>()(context, texts);
  const CudaTargetEntry& cuda = need_cuda(find_cuda_target(name), "target", name);
  if constexpr (sizeof(Real) == 4)
    return cuda.make_float(context, texts);
  else
    return cuda.make_double(context, texts);
}

template std::unique_ptr<Chains<float>> make_chains(const Context&, const std::string&, const SettingTexts&, Index,
                                                    Index, Scope);
template std::unique_ptr<Chains<double>> make_chains(const Context&, const std::string&, const SettingTexts&, Index,
                                                     Index, Scope);
template std::unique_ptr<Chains<float>> make_chains(const Context&, const std::string&, const SettingTexts&, Index,
                                                    const TargetInfo&, Scope);
template std::unique_ptr<Chains<double>> make_chains(const Context&, const std::string&, const SettingTexts&, Index,
                                                     const TargetInfo&, Scope);
void check_offer(const std::string& sampler, const std::string& target, Needs offers) {
  const Needs wants = find_sampler(sampler).needs.most();
  if (wants <= offers) return;
  std::string others;
  for (const auto& e : sampler_table())
    if (e.needs.most() <= offers) others += (others.empty() ? "" : ", ") + e.name;
  const char* const words[] = {"nothing", "the log density", "gradients", "second derivatives"};
  throw Error(ExitStatus::usage,
              fmt::format("sampler {} asks for {}, target {} has only {}", sampler, words[static_cast<int>(wants)],
                          target, words[static_cast<int>(offers)]),
              fmt::format("--sampler {} --target {}", sampler, target),
              fmt::format("Choose --sampler {}, or give the target its derivatives?", others));
}

template std::unique_ptr<Target<float>> make_target(const Context&, const std::string&, const SettingTexts&);
template std::unique_ptr<Target<double>> make_target(const Context&, const std::string&, const SettingTexts&);

ChainBytes bytes_of_chains(const Context& context, const std::string& name, const SettingTexts& texts, Index num_chains,
                           Index dim, Scope scope, Precision precision) {
  if (context.backend == Backend::cuda)
    return need_cuda(find_cuda_sampler(name), "sampler", name).bytes(texts, num_chains, dim, scope, precision);
  return find_sampler(name).bytes(context, texts, num_chains, dim, scope, precision);
}

ChainBytes bytes_of_chains(const Context& context, const std::string& name, const SettingTexts& texts, Index num_chains,
                           const TargetInfo& target, Scope scope, Precision precision) {
  const SamplerEntry& entry = find_sampler(name);
  if (!entry.spins) return bytes_of_chains(context, name, texts, num_chains, target.dim, scope, precision);
  const auto one = replicas_of(context, entry)(context, texts, 1, *target.spin_model);
  const auto chains = static_cast<std::size_t>(num_chains);
  return {one->bytes(num_chains), 0, sizeof(ChainControl) * chains};
}

}  // namespace kilochain
