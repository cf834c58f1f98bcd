// What makes the chains of the sampler that CMake names, on either backend: CpuChains or CudaChains.
#pragma once
#define KILOCHAIN_SAMPLER
#include "host/registry/instantiate/entry.hpp"
#include "host/registry/registry.hpp"

namespace kilochain {
namespace {

template <template <class, class> class ChainsOf>
struct MakersOf {
  template <class Sampler>
  static typename Sampler::Settings settings(const SettingTexts& texts, const TargetInfo& target, Scope scope) {
    auto out = parse_settings<Sampler>(name, texts, scope);
    if constexpr (requires(typename Sampler::Adaptation a) { a.law; }) out.bends = bending_room(target);
    return out;
  }
  template <class Real>
  static std::unique_ptr<Chains<Real>> make(const Context& context, const SettingTexts& texts, Index num_chains,
                                            const TargetInfo& target, Scope scope) {
    using Sampler = KILOCHAIN_TYPE<Real>;
    return std::make_unique<ChainsOf<Sampler, Real>>(context, num_chains, target.dim, scope,
                                                     settings<Sampler>(texts, target, scope));
  }
  static ChainBytes bytes(const SettingTexts& texts, Index num_chains, const TargetInfo& target, Scope scope,
                          Precision precision) {
    return in_precision(precision, [&](auto zero) {
      using Sampler = KILOCHAIN_TYPE<decltype(zero)>;
      return ChainsOf<Sampler, decltype(zero)>::bytes(num_chains, target.dim, scope,
                                                      settings<Sampler>(texts, target, scope));
    });
  }
  static SamplerMakers all() { return {{make<float>, make<double>}, bytes}; }
};

}  // namespace
}  // namespace kilochain
