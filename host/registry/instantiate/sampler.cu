// Compiled once for each sampler where CUDA is (cmake/Register.cmake): its chains on CUDA, in both precisions.
#define KILOCHAIN_SAMPLER
#include "host/chains/cuda_chains.cuh"
#include "host/registry/instantiate/entry.hpp"
#include "host/registry/registry.hpp"

namespace kilochain {
namespace {

template <class Real>
std::unique_ptr<Chains<Real>> make(const Context& context, const SettingTexts& texts, Index num_chains, Index dim,
                                   Scope scope) {
  using Sampler = KILOCHAIN_TYPE<Real>;
  return std::make_unique<CudaChains<Sampler, Real>>(context, num_chains, dim, scope,
                                                     parse_settings<Sampler>(name, texts, scope));
}
template <class Real>
ChainBytes bytes(const SettingTexts& texts, Index num_chains, Index dim, Scope scope) {
  using Sampler = KILOCHAIN_TYPE<Real>;
  return CudaChains<Sampler, Real>::bytes(num_chains, dim, scope, parse_settings<Sampler>(name, texts, scope));
}

CudaSamplerEntry entry() {
  CudaSamplerEntry e;
  e.make_float = make<float>;
  e.make_double = make<double>;
  e.bytes = [](const SettingTexts& t, Index c, Index n, Scope s, Precision p) {
    return in_precision(p, [&](auto zero) { return bytes<decltype(zero)>(t, c, n, s); });
  };
  return e;
}

const RegisterCudaSampler registered(name, entry());

}  // namespace
}  // namespace kilochain
