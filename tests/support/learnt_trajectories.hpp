// Trajectories of ensemble_hmc from exact draws, with a metric that a test gives; and one that forgets where it stood.
#pragma once
#include "host/chains/cpu_chains.hpp"
#include "kernels/samplers/ensemble_hmc.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/law.hpp"

namespace kilochain::testing_support {

inline std::vector<double> unit_factor(Index n) {
  std::vector<double> factor(std::size_t(n) * n);
  for (Index i = 0; i < n; ++i) factor[std::size_t(i) * n + i] = 1;
  return factor;
}

struct LawOutcome {
  double deviation, gradients, accepted;  ///< the last two: of an iteration of a chain
};
/// 100 iterations with `metric`, whose factor is I here.
template <class Sampler, class Real>
LawOutcome law_outcome(const std::string& name, const SettingTexts& texts, Metric metric, Index chains) {
  const Context context = cpu_context(1);
  const auto target = make_target<Real>(context, name, texts);
  const Index n = target->info().dim;
  const LawFunctions functions(target->info(), 200000);
  typename Sampler::Settings settings;
  settings.mass = Mass::dense, settings.bends = 96;
  CpuChains<Sampler, Real> chains_of(context, chains, n, Scope::pooled, settings);
  start_at(context, *target, chains_of, chains, exact_points<Real>(target->info(), chains, 3));
  // Behind the start: where steps turn, a z of other places would be a mean that depends on where the chain is.
  metric.factor = unit_factor(n);
  chains_of.set_metric(metric);
  chains_of.reset_counts();
  const std::int64_t iterations = 100;
  Recorded<Real> out(chains, n, iterations);
  run_phase(context, *target, chains_of, chains, Scope::pooled, Phase{0, iterations, 0, false, 4}, &out);
  double gradients = 0, accepted = 0;
  for (const auto& c : chains_of.controls()) gradients += double(c.gradients), accepted += c.acceptance_sum;
  const double all = double(chains * iterations);
  return {law_deviation(out, functions), gradients / all, accepted / all};
}

/// The end's place in the metric's scale is the chain's, even where the chain stays.
struct ForgetsPlace : EnsembleHmc<double> {
  using Base = EnsembleHmc<double>;
  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                           State& st, const Query<double>& query, const Reply<double>& reply, Info& info, Index n) {
    const Step step = Base::update(team, rng, s, at, a, st, query, reply, info, n);
    if (step == Step::done) team.for_each(n, [&](Index i) { st.z[i] = st.turned[i]; });
    return step;
  }
};

}  // namespace kilochain::testing_support
