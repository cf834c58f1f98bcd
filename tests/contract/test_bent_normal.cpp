// Trajectories of a bent normal leave the law unchanged, whatever observations bend it; those that forget their
// momentum, or where they stood, are rejected by the same test. Where the bent law is the target's, they are accepted.
#include <gtest/gtest.h>

#include "host/chains/cpu_chains.hpp"
#include "kernels/samplers/ensemble_hmc.hpp"
#include "targets/data/dataset.hpp"
#include "tests/contract/common.hpp"
#include "tests/gpu/logistic_table.hpp"
#include "tests/support/learnt_trajectories.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain::testing_support {
namespace {

constexpr double limit = 5;
/// A normal about a point near the mean, bent by `count` observations of no table.
Metric bent_by(Index count, Index dim, double step, double num_steps) {
  Metric m{unit_factor(dim), step, num_steps, 0.25, 1, true};
  m.mean.assign(std::size_t(dim), 0.2);
  m.bent = Bending{};
  for (Index k = 0; k < count; ++k) {
    for (Index i = 0; i < dim; ++i) m.bent->lines.push_back(2 * std::sin(1.0 + k * 1.3 + i * 0.7) / std::sqrt(count));
    m.bent->logit.push_back(std::cos(2.0 * k)), m.bent->sign.push_back(k % 3 ? 1 : -1);
    m.bent->offset.push_back(0.2 * std::sin(3.0 * k)), m.bent->slope.push_back(-0.1);
  }
  return m;
}

template <class Real, class Sampler = EnsembleHmc<Real>>
LawOutcome outcome(const std::string& name, const SettingTexts& texts, const Metric& metric, Index chains = 1024) {
  return law_outcome<Sampler, Real>(name, texts, metric, chains);
}
const SettingTexts banana = {{"dim", "3"}, {"bend", "0.4"}, {"variance", "1.5"}};

TEST(BentNormal, LeavesTheLawUnchanged) {
  for (const Index count : {0, 1, 31, 32, 33, 96}) {
    const LawOutcome o = outcome<double>("banana", banana, bent_by(count, 3, 0.4, 3));
    std::printf("%d observations: deviation %.1f, acceptance %.2f\n", count, o.deviation, o.accepted);
    EXPECT_LT(o.deviation, limit) << count;
    EXPECT_GT(o.accepted, 0.2) << count;
    EXPECT_EQ(o.gradients, count > 0 ? 2 : 1) << count;
  }
  for (const char* dim : {"1", "2", "65"}) {
    const Metric m = bent_by(33, std::stoi(dim), 0.3, 4);
    EXPECT_LT(outcome<float>("gaussian_mixture", {{"dim", dim}, {"means", "0.3"}}, m, 256).deviation, limit) << dim;
  }
}

/// Accepts by the density alone, where observations do not bend the normal; else begins each part at rest.
struct ForgetsMomentum : EnsembleHmc<double> {
  using Base = EnsembleHmc<double>;
  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                           State& st, const Query<double>& query, const Reply<double>& reply, Info& info, Index n) {
    *st.finer.energy = *st.energy + *st.lp;
    team.for_each(n, [&](Index i) { st.finer.r[i] = 0; });
    return Base::update(team, rng, s, at, a, st, query, reply, info, n);
  }
};
TEST(BentNormal, ThatForgetsDoesNot) {
  for (const Index count : {0, 8}) {
    const Metric m = bent_by(count, 3, 0.5, 3);
    EXPECT_LT(outcome<double>("banana", banana, m, 4096).deviation, limit) << count;
    EXPECT_GT((outcome<double, ForgetsMomentum>("banana", banana, m, 4096).deviation), 2 * limit) << count;
  }
  // With kicks any place is a mean, and that it depends on where the chain was tells too little.
  EXPECT_GT((outcome<double, ForgetsPlace>("banana", banana, bent_by(0, 3, 0.5, 3), 4096).deviation), 2 * limit);
}

/// All observations of a table bend its prior: that is the posterior. Steps of 0.02 are all but exact.
TEST(BentNormal, OfAllObservationsIsThePosterior) {
  const ScratchFiles files;
  const SettingTexts texts = {{"data", write_logistic_table(files.path("t.csv"), 70, 5, false)}};
  const auto target = make_target<double>(context, "logistic_regression", texts);
  const Design& design = *target->info().logistic;
  const auto n = static_cast<Index>(design.columns);
  Metric m = bent_by(0, n, 0.02, 20);
  m.mean.assign(design.columns, 0.0);
  m.bent->lines = design.x;  // prior_sd is 1
  for (const double y : design.y)
    m.bent->logit.push_back(0), m.bent->sign.push_back(2 * y - 1), m.bent->offset.push_back(0),
        m.bent->slope.push_back(0);
  EnsembleHmc<double>::Settings settings;
  settings.bends = 96;
  constexpr Index chains = 32;
  CpuChains<EnsembleHmc<double>, double> chains_of(context, chains, n, Scope::pooled, settings);
  start_at(context, *target, chains_of, chains, std::vector<double>(std::size_t(chains) * n, 0.1));
  chains_of.set_metric(m);
  chains_of.reset_counts();
  run_phase(context, *target, chains_of, chains, Scope::pooled, Phase{0, 100, 0, false, 4});
  double accepted = 0;
  for (const auto& c : chains_of.controls()) accepted += c.acceptance_sum / (100.0 * chains);
  std::printf("acceptance 1 - %.2g\n", 1 - accepted);
  EXPECT_GT(accepted, 0.99);
}

}  // namespace
}  // namespace kilochain::testing_support
