#include "host/registry/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "host/chains/spin_chains.hpp"
#include "targets/data/nearest_name.hpp"

namespace kilochain {
namespace {

/// All that is registered: rows by name, and what makes them on CUDA.
template <class Entry>
struct Registered {
  std::vector<Entry> of_densities, of_spins;
  std::map<std::string, typename Entry::OnOneBackend> on_cuda;
};
/// Inside a function: static objects of other files register before main, in no order.
template <class Entry>
Registered<Entry>& registered() {
  static Registered<Entry> all;
  return all;
}

template <class Entry>
void insert_sorted(Entry entry) {
  std::vector<Entry>& table = entry.spins ? registered<Entry>().of_spins : registered<Entry>().of_densities;
  const auto at = std::lower_bound(table.begin(), table.end(), entry,
                                   [](const Entry& a, const Entry& b) { return a.name < b.name; });
  table.insert(at, std::move(entry));
}

template <class Entry>
const Entry& find(const std::string& name) {
  std::vector<std::string> known;
  for (const auto* entries : {&registered<Entry>().of_densities, &registered<Entry>().of_spins})
    for (const Entry& e : *entries) {
      if (e.name == name) return e;
      known.push_back(e.name);
    }
  throw Error(ExitStatus::usage, fmt::format("unknown {} \"{}\"", Entry::kind, name),
              fmt::format("{} {}s are registered", known.size(), Entry::kind),
              fmt::format("Did you mean {}? `kilochain {}s` lists all.", nearest_name(name, known), Entry::kind));
}

template <class Entry>
const typename Entry::OnOneBackend& on_backend_of(const Context& context, const Entry& entry) {
  if (context.backend == Backend::cpu) return entry;
  const auto& on_cuda = registered<Entry>().on_cuda;
  const auto it = on_cuda.find(entry.name);
  require(it != on_cuda.end(), ExitStatus::usage, fmt::format("{} {} has no CUDA version", Entry::kind, entry.name),
          "--device cuda", "Run with --device cpu?");
  return it->second;
}

template <class Entry>
void check_entry(const Entry& entry, const SettingTexts& texts) {
  std::vector<std::string> known;
  for (const SettingInfo& info : entry.settings) known.push_back(info.name);
  for (const auto& [name, text] : texts) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string nearest = nearest_name(name, known);
    throw Error(ExitStatus::usage, fmt::format("{} {} has no setting {}", Entry::kind, entry.name, name),
                fmt::format("{} = {}", name, text),
                nearest.empty() ? "Remove it?" : fmt::format("Did you mean {}?", nearest));
  }
  if (entry.check) entry.check(entry.name, texts);
}

}  // namespace

const std::vector<SamplerEntry>& samplers() { return registered<SamplerEntry>().of_densities; }
const std::vector<TargetEntry>& targets() { return registered<TargetEntry>().of_densities; }
const std::vector<SamplerEntry>& spin_samplers() { return registered<SamplerEntry>().of_spins; }
const std::vector<TargetEntry>& spin_targets() { return registered<TargetEntry>().of_spins; }
const SamplerEntry& find_sampler(const std::string& name) { return find<SamplerEntry>(name); }
const TargetEntry& find_target(const std::string& name) { return find<TargetEntry>(name); }
RegisterSampler::RegisterSampler(SamplerEntry entry) { insert_sorted(std::move(entry)); }
RegisterTarget::RegisterTarget(TargetEntry entry) { insert_sorted(std::move(entry)); }
RegisterCudaSampler::RegisterCudaSampler(const std::string& name, SamplerMakers makers) {
  registered<SamplerEntry>().on_cuda[name] = std::move(makers);
}
RegisterCudaTarget::RegisterCudaTarget(const std::string& name, TargetMakers makers) {
  registered<TargetEntry>().on_cuda[name] = std::move(makers);
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
  check_entry(s, sampler_settings);
  check_entry(t, target_settings);
}

template <class Real>
std::unique_ptr<Chains<Real>> make_chains(const Context& context, const std::string& name, const SettingTexts& texts,
                                          Index num_chains, Index dim, Scope scope) {
  return on_backend_of(context, find_sampler(name)).make<Real>()(context, texts, num_chains, dim, scope);
}

template <class Real>
std::unique_ptr<Chains<Real>> make_chains(const Context& context, const std::string& name, const SettingTexts& texts,
                                          Index num_chains, const TargetInfo& target, Scope scope) {
  const SamplerEntry& entry = find_sampler(name);
  if (!entry.spins) return make_chains<Real>(context, name, texts, num_chains, target.dim, scope);
  auto replicas = on_backend_of(context, entry).make_replicas(context, texts, num_chains, *target.spin_model);
  return std::make_unique<discrete::SpinChains<Real>>(context, std::move(replicas), num_chains, target.spin_model,
                                                      std::ssize(entry.stats));
}

template <class Real>
std::unique_ptr<Target<Real>> make_target(const Context& context, const std::string& name, const SettingTexts& texts) {
  const TargetEntry& entry = find_target(name);
  const TargetMakers& makers = entry.spins ? entry : on_backend_of(context, entry);
  return makers.make<Real>()(context, texts);
}

#define KILOCHAIN_INSTANTIATE(Real)                                                                                  \
  template std::unique_ptr<Chains<Real>> make_chains(const Context&, const std::string&, const SettingTexts&, Index, \
                                                     Index, Scope);                                                  \
  template std::unique_ptr<Chains<Real>> make_chains(const Context&, const std::string&, const SettingTexts&, Index, \
                                                     const TargetInfo&, Scope);                                      \
  template std::unique_ptr<Target<Real>> make_target(const Context&, const std::string&, const SettingTexts&);
KILOCHAIN_INSTANTIATE(float)
KILOCHAIN_INSTANTIATE(double)
#undef KILOCHAIN_INSTANTIATE

void check_offer(const std::string& sampler, const std::string& target, Needs offers) {
  const Needs wants = find_sampler(sampler).needs.most();
  if (wants <= offers) return;
  std::string others;
  for (const auto& e : samplers())
    if (e.needs.most() <= offers) others += (others.empty() ? "" : ", ") + e.name;
  const char* const words[] = {"nothing", "the log density", "gradients", "second derivatives"};
  throw Error(ExitStatus::usage,
              fmt::format("sampler {} asks for {}, target {} has only {}", sampler, words[static_cast<int>(wants)],
                          target, words[static_cast<int>(offers)]),
              fmt::format("--sampler {} --target {}", sampler, target),
              fmt::format("Choose --sampler {}, or give the target its derivatives?", others));
}

ChainBytes bytes_of_chains(const Context& context, const std::string& name, const SettingTexts& texts, Index num_chains,
                           Index dim, Scope scope, Precision precision) {
  return on_backend_of(context, find_sampler(name)).bytes(texts, num_chains, dim, scope, precision);
}

ChainBytes bytes_of_chains(const Context& context, const std::string& name, const SettingTexts& texts, Index num_chains,
                           const TargetInfo& target, Scope scope, Precision precision) {
  const SamplerEntry& entry = find_sampler(name);
  if (!entry.spins) return bytes_of_chains(context, name, texts, num_chains, target.dim, scope, precision);
  const auto one = on_backend_of(context, entry).make_replicas(context, texts, 1, *target.spin_model);
  return {one->bytes(num_chains), 0, sizeof(ChainControl) * num_chains};
}

}  // namespace kilochain
