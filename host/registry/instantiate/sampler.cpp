// Compiled once for each sampler (cmake/Register.cmake): its CPU chains in both precisions, and its row in the registry.
#define KILOCHAIN_SAMPLER
#include "host/chains/cpu_chains.hpp"
#include "host/registry/instantiate/entry.hpp"
#include "host/registry/registry.hpp"

namespace kilochain {
namespace {

template <class Real>
std::unique_ptr<Chains<Real>> make(const Context& context, const SettingTexts& texts, Index num_chains, Index dim,
                                   Scope scope) {
  using Sampler = KILOCHAIN_TYPE<Real>;
  return std::make_unique<CpuChains<Sampler, Real>>(context, num_chains, dim, scope,
                                                    parse_settings<Sampler>(name, texts, scope));
}
template <class Real>
ChainBytes bytes(const SettingTexts& texts, Index num_chains, Index dim, Scope scope) {
  using Sampler = KILOCHAIN_TYPE<Real>;
  return CpuChains<Sampler, Real>::bytes(num_chains, dim, scope, parse_settings<Sampler>(name, texts, scope));
}

SamplerEntry entry() {
  using Sampler = KILOCHAIN_TYPE<double>;
  SamplerEntry e;
  e.name = name;
  e.meaning = Sampler::about.meaning;
  e.settings = describe_settings<Sampler>();
  e.check = [](const std::string& owner, const SettingTexts& texts) { parse_settings<Sampler>(owner, texts); };
  e.stats.assign(Sampler::about.stats.names, Sampler::about.stats.names + Sampler::about.stats.count);
  e.drawn = drawn_by_policy<Sampler>();
  e.adaptive = Sampler::about.adaptive;
  e.needs = Sampler::about.needs;
  e.make_float = make<float>;
  e.make_double = make<double>;
  e.bytes = [](const Context&, const SettingTexts& t, Index c, Index n, Scope s, Precision p) {
    return in_precision(p, [&](auto zero) { return bytes<decltype(zero)>(t, c, n, s); });
  };
  return e;
}

const RegisterSampler registered(entry());

}  // namespace
}  // namespace kilochain
