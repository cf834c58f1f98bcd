// Compiled once for each sampler (cmake/Register.cmake): its CPU chains in both precisions, and its row in the registry.
#define KILOCHAIN_STRING2(x) #x
#define KILOCHAIN_STRING(x) KILOCHAIN_STRING2(x)
// clang-format off
#ifdef KILOCHAIN_HEADER  // of another project
#include KILOCHAIN_HEADER
#else
#include KILOCHAIN_STRING(kernels/samplers/KILOCHAIN_NAME.hpp)
#endif
// clang-format on

#include "host/chains/cpu_chains.hpp"
#include "host/registry/registry.hpp"

namespace kilochain {
namespace {

const char* const name = KILOCHAIN_STRING(KILOCHAIN_NAME);

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
  return chain_bytes<Sampler, Real, HostTeam::panel<Real>>(num_chains, dim, scope,
                                                           parse_settings<Sampler>(name, texts, scope));
}

SamplerEntry entry() {
  using Sampler = KILOCHAIN_TYPE<double>;
  SamplerEntry e;
  e.name = name;
  e.meaning = Sampler::about.meaning;
  e.settings = describe_settings<Sampler>();
  e.stats.assign(Sampler::about.stats.names, Sampler::about.stats.names + Sampler::about.stats.count);
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
