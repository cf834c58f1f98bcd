// Trials: the paper's score of a chain by hand, and runs that depend on settings and seed alone, whichever worker ran
// them.
#include <gtest/gtest.h>

#include <cmath>

#include "host/run/trials.hpp"
#include "kernels/random/draw.hpp"

namespace kilochain {
namespace {

constexpr double rounding = 1e-12;

TEST(AutocorrelationScore, ShortChainsByHand) {
  // Mean 0, variance 1; lags 1, 2, 3: -3/3, 2/2, -1/1 of it.
  EXPECT_NEAR(autocorrelation_score({1, -1, 1, -1}, 4), 0, rounding);
  // Mean 1/2, deviations -1/2 -1/2 1/2 1/2, variance 1/4; lag 1: (1 - 1 + 1)/3, lag 2: -2/2, lag 3: -1.
  EXPECT_NEAR(autocorrelation_score({0, 0, 1, 1}, 4), 1 - (1.0 / 3 + 1 + 1) / 3, rounding);
  // The tails of 3 and of 4: 0 1 1 has mean 2/3, variance 2/9; lag 1: (-2/9 + 1/9)/2 / (2/9) = -1/4, lag 2: -1.
  EXPECT_NEAR(autocorrelation_score({0, 0, 1, 1}, 3), (1 - (1.0 / 3 + 1 + 1) / 3 + 1 - (0.25 + 1) / 2) / 2, rounding);
  EXPECT_EQ(autocorrelation_score(std::vector<double>(100, 3.0)), 0) << "a chain that stands still";
}

/// White noise has |rho| about sqrt(2/(pi (n - l))) at lag l, so it scores much more than a walk.
TEST(AutocorrelationScore, TellsNoiseFromAWalk) {
  std::vector<double> white, walk;
  double at = 0;
  for (std::uint32_t t = 0; t < 100; ++t) {
    double z[2];
    normal_block(Rng{3, 0, t}.words(Purpose::proposal, 0), z);
    white.push_back(z[0]);
    walk.push_back(at += z[0]);
  }
  EXPECT_GT(autocorrelation_score(white), 0.7);
  EXPECT_LT(autocorrelation_score(walk), 0.6);
}

Options gaussian_options() {
  Options o;
  o.target = "gaussian_mixture";
  o.target_settings = {{"dim", "3"}, {"means", "0"}};
  o.sampler = "hmc";
  o.num_chains = 8;
  o.num_warmup = 100;
  o.device = "cpu";
  o.threads = 2;
  return o;
}

TEST(Trials, DependOnSettingsAndSeedAlone) {
  TrialLength length;
  length.gradients = 2000;
  Trials trials(gaussian_options(), length);
  ASSERT_EQ(trials.workers(), 2);
  const std::atomic<bool> never{false};
  std::vector<std::string> notes;
  ASSERT_TRUE(trials.warm_up(nullptr, never, notes));
  const SettingTexts good = {{"step_size", "0.8"}, {"step_rule", "fixed"}, {"num_steps", "3"}},
                     bad = {{"step_size", "0.01"}, {"step_rule", "fixed"}, {"num_steps", "1"}};
  const Trial a = trials(0, good, 9, never), b = trials(1, bad, 9, never), again = trials(1, good, 9, never),
              other = trials(0, good, 10, never);
  EXPECT_EQ(a.ess_mean, again.ess_mean);
  EXPECT_EQ(a.ess_square, again.ess_square);
  EXPECT_EQ(a.autocorrelation, again.autocorrelation);
  EXPECT_EQ(a.gradients, again.gradients);
  EXPECT_NE(a.autocorrelation, other.autocorrelation);  // the effective size of a good one is at its cap for any seed
  EXPECT_GE(a.gradients, 2000);
  EXPECT_LT(a.gradients, 2000 + 20 * 8 * 5) << "ends within a window";
  EXPECT_GT(a.ess_per_gradient(), 3 * b.ess_per_gradient());
  EXPECT_GT(b.acceptance_rate, 0.999);
}

TEST(Trials, HaveWarmUpsOfTheirOwnWhenAsked) {
  TrialLength length;
  length.num_warmup = 150;
  length.gradients = 8000;
  Options o = gaussian_options();
  o.sampler = "mala";
  Trials trials(o, length);
  const std::atomic<bool> never{false};
  std::vector<std::string> notes;
  ASSERT_TRUE(trials.warm_up(nullptr, never, notes));
  EXPECT_NEAR(trials(0, {{"target_accept", "0.3"}}, 4, never).acceptance_rate, 0.3, 0.1);
  EXPECT_NEAR(trials(0, {{"target_accept", "0.8"}}, 4, never).acceptance_rate, 0.8, 0.1);
}

TEST(Trials, ThatMoveNothingScoreOneDraw) {
  Trials trials(gaussian_options(), {});
  const std::atomic<bool> never{false};
  std::vector<std::string> notes;
  ASSERT_TRUE(trials.warm_up(nullptr, never, notes));
  const Trial t = trials(0, {{"step_size", "1e6"}, {"step_rule", "fixed"}}, 1, never);
  EXPECT_EQ(t.acceptance_rate, 0);
  EXPECT_EQ(t.autocorrelation, 0);
  EXPECT_GE(t.ess(), 1);
  EXPECT_LT(t.ess(), 100);
}

}  // namespace
}  // namespace kilochain
