// Trajectories that are made again with finer steps leave the law unchanged, also where nearly every one is; one that
// never looks back is rejected by the same test.
#include <gtest/gtest.h>

#include "host/chains/cpu_chains.hpp"
#include "kernels/samplers/ensemble_hmc.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/law.hpp"

namespace kilochain::testing_support {
namespace {

constexpr double limit = 5;
const Context context = cpu_context(1);

/// With this bar most trajectories are made again.
struct Often : LearntLength {
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

struct Outcome {
  double deviation, gradients;  ///< the latter: of an iteration of a chain
};
template <class Length, class Real = double>
Outcome run_with(const std::string& name, const SettingTexts& texts, double step, Index chains = 1024) {
  const auto target = make_target<Real>(context, name, texts);
  const Index n = target->info().dim;
  const LawFunctions functions(target->info(), 200000);
  typename Hmc<Real, Length>::Settings settings;
  settings.mass = Mass::dense;
  CpuChains<Hmc<Real, Length>, Real> chains_of(context, chains, n, Scope::pooled, settings);
  start_at(context, *target, chains_of, chains, exact_points<Real>(target->info(), chains, 1));
  Metric metric;
  metric.factor.assign(std::size_t(n) * n, 0.0);
  for (Index i = 0; i < n; ++i) metric.factor[std::size_t(i) * n + i] = 1;
  metric.step_size = step, metric.num_steps = 3;
  chains_of.set_metric(metric);
  chains_of.reset_counts();
  const std::int64_t iterations = 100;
  const double deviation = law_deviation(context, *target, chains_of, chains, functions, iterations);
  double gradients = 0;
  for (const auto& c : chains_of.controls()) gradients += double(c.gradients);
  return {deviation, gradients / double(chains * iterations)};
}

TEST(FinerSteps, LeaveTheLawUnchanged) {
  const SettingTexts bent = {{"dim", "3"}, {"bend", "0.4"}, {"variance", "1.5"}};
  const Outcome plain = run_with<Never>("banana", bent, 0.9), often = run_with<Often>("banana", bent, 0.9);
  std::printf("gradients an iteration: %.1f, %.1f with finer steps; deviations %.1f, %.1f\n", plain.gradients,
              often.gradients, plain.deviation, often.deviation);
  EXPECT_GT(often.gradients, 3 * plain.gradients);
  EXPECT_LT(plain.deviation, limit);
  EXPECT_LT(often.deviation, limit);
  EXPECT_LT((run_with<Often, float>("banana", bent, 0.9).deviation), limit);
  EXPECT_LT(run_with<LearntLength>("banana", bent, 1.3).deviation, limit);
  EXPECT_LT(run_with<Often>("funnel", {{"dim", "3"}}, 0.6, 512).deviation, limit);
  EXPECT_LT(run_with<Often>("gaussian_mixture", {{"dim", "33"}, {"means", "1"}}, 0.9, 256).deviation, limit);
}
TEST(FinerSteps, ThatNeverLookBackDoNot) {
  const SettingTexts plain = {{"dim", "2"}, {"means", "1"}};
  EXPECT_GT(run_with<NeverLooksBack>("gaussian_mixture", plain, 1.2, 4096).deviation, 2 * limit);
  EXPECT_LT(run_with<Often>("gaussian_mixture", plain, 1.2, 4096).deviation, limit);
}

}  // namespace
}  // namespace kilochain::testing_support
