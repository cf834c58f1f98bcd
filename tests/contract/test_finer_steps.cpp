// Trajectories of ensemble_hmc leave the law unchanged: made again with finer steps, also where nearly every one is; of
// steps in pairs, and that turn; of lengths near one mean. Those that never look back, whose kicks are not the same
// backwards, or that forget where they stood, are rejected by the same test.
#include <gtest/gtest.h>

#include "host/chains/cpu_chains.hpp"
#include "kernels/samplers/ensemble_hmc.hpp"
#include "tests/contract/common.hpp"
#include "tests/support/learnt_trajectories.hpp"

namespace kilochain::testing_support {
namespace {

constexpr double limit = 5;
/// With this bar most trajectories are made again.
struct Often : EnsembleRule {
  static constexpr double error_bar = 0.1;
  static KC_INLINE NextLeg next(double log_r, bool accepted, int levels, double level, double back) {
    return next_leg(log_r, accepted, error_bar, levels, level, back);
  }
};
struct NeverLooksBack : Often {
  static KC_INLINE NextLeg next(double log_r, bool accepted, int levels, double level, double back) {
    const NextLeg next = next_leg(log_r, accepted, error_bar, levels, level, back);
    return next == NextLeg::back ? NextLeg::none : next;
  }
};
struct Never : Often {
  static KC_INLINE NextLeg next(double, bool, int, double, double) { return NextLeg::none; }
};

template <class Rule, class Real = double, class Sampler = EnsembleHmc<Real, Rule>>
LawOutcome run_with(const std::string& name, const SettingTexts& texts, double step, Index chains = 1024,
                    Metric metric = {{}, 1, 3}) {
  metric.step_size = step;
  return law_outcome<Sampler, Real>(name, texts, metric, chains);
}

TEST(FinerSteps, LeaveTheLawUnchanged) {
  const SettingTexts bent = {{"dim", "3"}, {"bend", "0.4"}, {"variance", "1.5"}};
  const LawOutcome plain = run_with<Never>("banana", bent, 0.9), often = run_with<Often>("banana", bent, 0.9);
  std::printf("gradients an iteration: %.1f, %.1f with finer steps; deviations %.1f, %.1f\n", plain.gradients,
              often.gradients, plain.deviation, often.deviation);
  EXPECT_GT(often.gradients, 3 * plain.gradients);
  EXPECT_LT(plain.deviation, limit);
  EXPECT_LT(often.deviation, limit);
  EXPECT_LT((run_with<Often, float>("banana", bent, 0.9).deviation), limit);
  EXPECT_LT(run_with<EnsembleRule>("banana", bent, 1.3).deviation, limit);
  const LawOutcome seldom = run_with<Often>("banana", bent, 0.9, 1024, {{}, 1, 3, 1, 1, false, 7});
  EXPECT_LT(seldom.deviation, limit);
  EXPECT_NEAR(seldom.gradients, (6 * plain.gradients + often.gradients) / 7, 0.05 * often.gradients);
  EXPECT_LT(run_with<Often>("funnel", {{"dim", "3"}}, 0.6, 512).deviation, limit);
  EXPECT_LT(run_with<Often>("gaussian_mixture", {{"dim", "33"}, {"means", "1"}}, 0.9, 256).deviation, limit);
}
TEST(FinerSteps, ThatNeverLookBackDoNot) {
  const SettingTexts plain = {{"dim", "2"}, {"means", "1"}};
  EXPECT_GT(run_with<NeverLooksBack>("gaussian_mixture", plain, 1.2, 4096).deviation, 2 * limit);
  EXPECT_LT(run_with<Often>("gaussian_mixture", plain, 1.2, 4096).deviation, limit);
}

const Metric in_pairs = {{}, 1, 4, 0.25, 2};
/// The kicks of the way back are others.
struct Lopsided : EnsembleRule {
  static KC_INLINE double kick(double, double left) { return left == 3 ? 1.4 : left == 1 ? 0.6 : 1; }
};

TEST(PairsOfSteps, LeaveTheLawUnchanged) {
  const SettingTexts bent = {{"dim", "3"}, {"bend", "0.4"}, {"variance", "1.5"}};
  for (const Metric& lengths :
       {in_pairs, Metric{{}, 1, 2, 0.25, 2}, Metric{{}, 1, 6, 1, 2}, Metric{{}, 1, 2.5, 0.25, 1}}) {
    EXPECT_LT(run_with<EnsembleRule>("banana", bent, 0.7, 1024, lengths).deviation, limit) << lengths.num_steps;
    EXPECT_LT(run_with<Often>("banana", bent, 0.7, 1024, lengths).deviation, limit) << lengths.num_steps;
  }
  EXPECT_LT((run_with<EnsembleRule, float>("gaussian_mixture", {{"dim", "33"}, {"means", "1"}}, 0.7, 256, in_pairs)
                 .deviation),
            limit);
}
TEST(PairsOfSteps, ThatAreOthersBackwardsDoNot) {
  const Metric fixed = {{}, 1, 4, 0.1, 1};
  EXPECT_GT(run_with<Lopsided>("gaussian_mixture", {{"dim", "2"}, {"means", "1"}}, 0.8, 4096, fixed).deviation,
            2 * limit);
}
TEST(PairsOfSteps, HaveTheLengthsThatWereAsked) {
  double shortest = 1e9, longest = 0, mean = 0;
  for (std::int64_t t = 0; t < 256; ++t) {
    const Leaps of = LearntLength::leaps(0.3, 5, 0.25, 2, t);
    const double length = of.size * of.number;
    EXPECT_EQ(of.number % 2, 0);
    EXPECT_LT(std::abs(of.size / 0.3 - 1), 0.3);
    shortest = std::min(shortest, length), longest = std::max(longest, length), mean += length / 256;
  }
  EXPECT_NEAR(mean, 1.5, 0.01);
  EXPECT_GE(shortest, 1.5 * 0.75);
  EXPECT_LE(longest, 1.5 * 1.25);
  EXPECT_EQ(LearntLength::leaps(0.3, 2, 1, 1, 0).number, 2);  // h = 1/2: 1 + floor(3/2)
}
/// On a Gaussian, whitened, a quarter of a period takes one pair, or two leapfrog steps that are often rejected.
TEST(PairsOfSteps, AreMoreAccurate) {
  const SettingTexts wide = {{"dim", "100"}, {"means", "1"}};
  const auto accepted = [&](int stages) {
    return run_with<EnsembleRule>("gaussian_mixture", wide, 0.78, 64, {{}, 1, 2, 0.1, stages}).accepted;
  };
  const double leapfrog = accepted(1), pairs = accepted(2);
  std::printf("acceptance by leapfrog %.3f, in pairs %.3f\n", leapfrog, pairs);
  EXPECT_LT(leapfrog, 0.6);
  EXPECT_GT(pairs, 0.85);
}

/// Steps that turn about a point near the mean.
Metric turning(double num_steps, double spread, Index dim) {
  Metric m = {{}, 1, num_steps, spread, 1, true};
  m.mean.assign(std::size_t(dim), 0.3);
  return m;
}
TEST(StepsThatTurn, LeaveTheLawUnchanged) {
  const SettingTexts bent = {{"dim", "3"}, {"bend", "0.4"}, {"variance", "1.5"}};
  for (const Metric& lengths : {turning(1, 0.25, 3), turning(4, 0.25, 3), turning(3, 1, 3), turning(2.5, 0.25, 3)}) {
    EXPECT_LT(run_with<EnsembleRule>("banana", bent, 0.7, 1024, lengths).deviation, limit) << lengths.num_steps;
    EXPECT_LT(run_with<Often>("banana", bent, 0.7, 1024, lengths).deviation, limit) << lengths.num_steps;
  }
  EXPECT_LT((run_with<EnsembleRule, float>("gaussian_mixture", {{"dim", "33"}, {"means", "1"}}, 0.7, 256,
                                           turning(4, 0.25, 33))
                 .deviation),
            limit);
}
TEST(StepsThatTurn, ThatForgetWhereTheyStoodDoNot) {
  const SettingTexts bent = {{"dim", "3"}, {"bend", "0.4"}, {"variance", "1.5"}};
  Metric lengths = turning(1, 0.25, 3);
  lengths.finer_every = 1000;  // more iterations than these are
  EXPECT_LT(run_with<EnsembleRule>("banana", bent, 1.4, 4096, lengths).deviation, limit);
  EXPECT_GT((run_with<EnsembleRule, double, ForgetsPlace>("banana", bent, 1.4, 4096, lengths).deviation), 2 * limit);
}
/// About the mean of a normal, in its own scale, they are exact, whatever their size.
TEST(StepsThatTurn, AreExactOnANormal) {
  constexpr Index chains = 64, n = 100, iterations = 100;
  const auto target = make_target<double>(context, "gaussian_mixture", {{"dim", "100"}, {"means", "1"}, {"sds", "3"}});
  for (const bool turns : {false, true}) {
    EnsembleHmc<double>::Settings settings;
    CpuChains<EnsembleHmc<double>, double> chains_of(context, chains, n, Scope::pooled, settings);
    start_at(context, *target, chains_of, chains, exact_points<double>(target->info(), chains, 1));
    Metric metric = {std::vector<double>(n * n), 1.5, 1, 0.25, 1, turns, 7, std::vector<double>(n)};
    for (Index i = 0; i < n; ++i) metric.factor[i * n + i] = 3;
    metric.mean[0] = 1;
    chains_of.set_metric(metric);
    chains_of.reset_counts();
    run_phase(context, *target, chains_of, chains, Scope::pooled, Phase{0, iterations, 0, false, 4});
    double accepted = 0;
    for (const auto& c : chains_of.controls()) accepted += c.acceptance_sum / double(chains * iterations);
    std::printf("%s: acceptance 1 - %.2g\n", turns ? "turns" : "leapfrog", 1 - accepted);
    if (turns)
      EXPECT_GT(accepted, 1 - 1e-10);  // 100 iterations of 100 coordinates, each rounded a few times
    else
      EXPECT_LT(accepted, 0.3);
  }
}

}  // namespace
}  // namespace kilochain::testing_support
