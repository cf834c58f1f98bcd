// Samplers of spin models: how they are bound to a model, and their rows in the registry.
#pragma once
#include "host/chains/spin_chains.hpp"
#include "host/registry/registry.hpp"
#include "kernels/discrete/dmala.hpp"
#include "kernels/discrete/gibbs_with_gradients.hpp"
#include "kernels/discrete/intracluster.hpp"
#include "kernels/discrete/sweeps.hpp"

namespace kilochain::discrete {

/// Replicas on whichever board suits the model (host/registry/spin_boards.hpp); compiled once for each sampler. Throws
/// Error (usage) for settings that do not fit the model, and where the sampler cannot run on its set.
template <template <class> class Sampler, class Settings>
std::unique_ptr<Replicas> bind(const std::string& name, const Context& context, Index num_chains,
                               const SpinModel& model, const Settings& settings, const Rungs& rungs);

/// Replicas of a sampler from the texts of its settings.
using MakeReplicas = std::unique_ptr<Replicas> (*)(const Context& context, const SettingTexts& texts, Index num_chains,
                                                   const SpinModel& model);

template <class Sampler, MakeReplicas replicas>
SamplerEntry spin_entry(const std::string& name) {
  auto e = described<SamplerEntry, Sampler>(name, Sampler::meaning);
  e.family = Family::spins;
  if (Sampler::num_stats > 0) e.stats.assign(Sampler::stat_names, Sampler::stat_names + Sampler::num_stats);
  e.needs = {Needs::nothing, Needs::nothing, Needs::nothing};
  const auto make = [](auto zero) {
    using Real = decltype(zero);
    return [](const Context& context, const SettingTexts& texts, Index num_chains, const TargetInfo& target,
              Scope) -> std::unique_ptr<Chains<Real>> {
      return std::make_unique<SpinChains<Real>>(replicas(context, texts, num_chains, *target.spin_model), num_chains,
                                                target.spin_model, Sampler::num_stats);
    };
  };
  e.make_float = make(0.0f), e.make_double = make(0.0);
  e.bytes = [](const SettingTexts& texts, Index num_chains, const TargetInfo& target, Scope, Precision) -> ChainBytes {
    const auto one = replicas(cpu_context(1), texts, 1, *target.spin_model);
    const std::size_t state = one->bytes(num_chains), control = sizeof(ChainControl) * std::size_t(num_chains);
    return {state, 0, control, state + control};
  };
  return e;
}

}  // namespace kilochain::discrete
