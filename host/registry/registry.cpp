#include "host/registry/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/nearest_name.hpp"
#include "host/registry/own_target.hpp"
#include "targets/data/dataset.hpp"

namespace kilochain {
namespace {

/// All that is registered: rows by name, and what makes them on CUDA.
template <class Entry>
struct Registered {
  std::vector<Entry> entries;
  std::map<std::string, typename Entry::OnOneBackend> on_cuda;
};
/// Inside a function: static objects of other files register before main, in no order.
template <class Entry>
Registered<Entry>& registered() {
  static Registered<Entry> all;
  return all;
}

template <class Entry>
std::vector<Entry> of_family(Family family) {
  std::vector<Entry> out;
  for (const Entry& e : registered<Entry>().entries)
    if (e.family == family) out.push_back(e);
  return out;
}

template <class Entry>
const Entry& find(const std::string& name) {
  std::vector<std::string> known;
  for (const Entry& e : registered<Entry>().entries) {
    if (e.name == name) return e;
    known.push_back(e.name);
  }
  const std::string near = near_name(name, known);
  throw Error(
      ExitStatus::usage, fmt::format("unknown {} \"{}\"", Entry::kind, name),
      fmt::format("{} {}s are registered", known.size(), Entry::kind),
      fmt::format("{}`kilochain {}s` lists all.", near.empty() ? "" : "Did you mean " + near + "? ", Entry::kind));
}

template <class Entry>
const typename Entry::OnOneBackend& on_backend_of(const Context& context, const Entry& entry) {
  if (context.backend == Backend::cpu) return entry;
  if constexpr (requires { entry.anywhere; })
    if (entry.anywhere) return entry;
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
    throw Error(ExitStatus::usage, fmt::format("{} {} has no setting {}", Entry::kind, entry.name, name),
                fmt::format("{} = {}", name, text), did_you_mean(name, known, "Remove it?"));
  }
  if (entry.check) entry.check(entry.name, texts);
}

std::string names_of(const std::vector<SamplerEntry>& entries) {
  std::string out;
  for (const SamplerEntry& e : entries) out += (out.empty() ? "" : ", ") + e.name;
  return out;
}

}  // namespace

const std::vector<SamplerEntry>& samplers() { return registered<SamplerEntry>().entries; }
const std::vector<TargetEntry>& targets() { return registered<TargetEntry>().entries; }
std::vector<SamplerEntry> samplers_of(Family family) { return of_family<SamplerEntry>(family); }
std::vector<TargetEntry> targets_of(Family family) { return of_family<TargetEntry>(family); }
const SamplerEntry& find_sampler(const std::string& name) { return find<SamplerEntry>(name); }
const TargetEntry& find_target(const std::string& name) {
  const TargetEntry* const own = find_own_target(name);
  return own ? *own : find<TargetEntry>(name);
}

template <class Entry>
Registering<Entry>::Registering(Entry entry) {
  std::vector<Entry>& table = registered<Entry>().entries;
  const auto at = std::lower_bound(table.begin(), table.end(), entry, [](const Entry& a, const Entry& b) {
    return std::tie(a.family, a.name) < std::tie(b.family, b.name);
  });
  table.insert(at, std::move(entry));
}
template <class Entry>
Registering<Entry>::Registering(const std::string& name, typename Entry::OnOneBackend on_cuda) {
  registered<Entry>().on_cuda[name] = std::move(on_cuda);
}
template struct Registering<SamplerEntry>;
template struct Registering<TargetEntry>;

void check_settings(const std::string& sampler, const SettingTexts& sampler_settings, const std::string& target,
                    const SettingTexts& target_settings) {
  const SamplerEntry& s = find_sampler(sampler);
  const TargetEntry& t = find_target(target);
  if (s.family != t.family)
    throw Error(ExitStatus::usage,
                fmt::format("target {} is a {}, sampler {} is for {}", target,
                            t.family == Family::spins ? "model of spins" : "density", sampler,
                            s.family == Family::spins ? "spins" : "densities"),
                fmt::format("--sampler {} --target {}", sampler, target),
                fmt::format("Choose --sampler {}?", names_of(samplers_of(t.family))));
  check_entry(s, sampler_settings);
  check_entry(t, target_settings);
}

template <class Real>
std::unique_ptr<Chains<Real>> make_chains(const Context& context, const std::string& name, const SettingTexts& texts,
                                          Index num_chains, const TargetInfo& target, Scope scope) {
  return on_backend_of(context, find_sampler(name)).make<Real>()(context, texts, num_chains, target, scope);
}

template <class Real>
std::unique_ptr<Target<Real>> make_target(const Context& context, const std::string& name, const SettingTexts& texts) {
  auto target = on_backend_of(context, find_target(name)).make<Real>()(context, texts);
  require(!context.prior_only || target->info().is_prior, ExitStatus::usage,
          "target " + name + ": its prior alone cannot be sampled", "no term of it is given to log_likelihood",
          "Write lp += p.log_likelihood(i, ...) for each observation of a C++ model, or leave out --prior-only?");
  for (const std::string& recorded : target->info().names)
    require(is_utf8(recorded), ExitStatus::data, "\"" + recorded + "\" is not UTF-8", "a name of target " + name,
            "Write the file of names as UTF-8, as with iconv -f LATIN1 -t UTF-8?");
  return target;
}

#define KILOCHAIN_INSTANTIATE(Real)                                                                                  \
  template std::unique_ptr<Chains<Real>> make_chains(const Context&, const std::string&, const SettingTexts&, Index, \
                                                     const TargetInfo&, Scope);                                      \
  template std::unique_ptr<Target<Real>> make_target(const Context&, const std::string&, const SettingTexts&);
KILOCHAIN_INSTANTIATE(float)
KILOCHAIN_INSTANTIATE(double)
#undef KILOCHAIN_INSTANTIATE

void check_offer(const std::string& sampler, const std::string& target, Needs offers) {
  const Needs wants = find_sampler(sampler).needs.most();
  if (wants <= offers) return;
  std::vector<SamplerEntry> others = samplers_of(Family::density);
  std::erase_if(others, [&](const SamplerEntry& e) { return e.needs.most() > offers; });
  const char* const words[] = {"nothing", "the log density", "gradients", "second derivatives"};
  throw Error(ExitStatus::usage,
              fmt::format("sampler {} asks for {}, target {} has only {}", sampler, words[static_cast<int>(wants)],
                          target, words[static_cast<int>(offers)]),
              fmt::format("--sampler {} --target {}", sampler, target),
              fmt::format("Choose --sampler {}, or give the target its derivatives?", names_of(others)));
}

Index bending_room(const TargetInfo& target) {
  constexpr std::size_t block = 32, most = 256,
                        share = 48;  // of the observations: a step costs a fiftieth of a gradient
  if (!target.logistic) return 0;
  return static_cast<Index>(std::clamp(target.logistic->rows / share / block * block, block, most));
}

ChainBytes bytes_of_chains(const Context& context, const std::string& name, const SettingTexts& texts, Index num_chains,
                           const TargetInfo& target, Scope scope, Precision precision) {
  return on_backend_of(context, find_sampler(name)).bytes(texts, num_chains, target, scope, precision);
}

}  // namespace kilochain
