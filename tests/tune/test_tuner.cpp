// Ask and tell: on a noisy function the tuner ends nearer to the optimum than as many random points, what it asks for
// depends on what it was told alone, and points that are asked for together are apart. The policy follows its weights.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "host/tune/tuner.hpp"
#include "kernels/random/draw.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

const Box branin_box({{"x", -5, 10}, {"y", 0, 15}});
double branin(const Point& p) {
  const double x = p[0], y = p[1], pi = std::numbers::pi;
  return -(std::pow(y - 5.1 / (4 * pi * pi) * x * x + 5 / pi * x - 6, 2) + 10 * (1 - 1 / (8 * pi)) * std::cos(x) + 10);
}
double noise(std::uint64_t seed, std::size_t k) {
  double z[2];
  normal_block(Rng{seed, static_cast<std::uint32_t>(k), 0}.words(Purpose::proposal, 0), z);
  return 2 * z[0];
}

/// The true value at what is recommended after 40 noisy evaluations (noise of deviation 2; Branin spans 0.4 to 308).
double after_tuning(std::uint64_t seed, TunerOptions options = {}) {
  options.seed = seed;
  Tuner tuner(branin_box, options);
  for (std::size_t k = 0; k < 40;)
    for (const Point& p : tuner.ask(4)) tuner.tell(p, branin(p) + noise(seed, k++));
  return branin(tuner.best().values);
}
/// The same of 40 random points, the best by its noisy score.
double after_chance(std::uint64_t seed) {
  double best_score = -1e300, best = 0;
  for (std::size_t k = 0; k < 40; ++k) {
    const Rng rng{seed, static_cast<std::uint32_t>(k), 1};
    const Point p = branin_box.values({uniform(rng, Purpose::start, 0), uniform(rng, Purpose::start, 1)});
    const double score = branin(p) + noise(seed, k);
    if (score > best_score) best_score = score, best = branin(p);
  }
  return best;
}

/// A sign test over 24 seeds: were the two alike, at least 20 wins would have probability 7.7e-4.
TEST(Tuner, IsBetterThanChance) {
  for (const Covariance c : {Covariance::squared_exponential, Covariance::matern52}) {
    int wins = 0;
    std::vector<double> regrets;
    for (std::uint64_t seed = 1; seed <= 24; ++seed) {
      TunerOptions options;
      options.covariance = c;
      const double tuned = after_tuning(seed, options);
      wins += tuned > after_chance(seed);
      regrets.push_back(-0.397887 - tuned);
    }
    std::sort(regrets.begin(), regrets.end());
    EXPECT_GE(wins, 20);
    EXPECT_LT(regrets[12], 2) << "the median is within the noise of one evaluation";
  }
}

TEST(Tuner, AsksTheSameOfTheSameHistory) {
  Tuner one(branin_box, {}), other(branin_box, {});
  for (std::size_t k = 0; k < 20;) {
    const std::vector<Point> asked = one.ask(4);
    EXPECT_EQ(asked, one.ask(4)) << "asking changes nothing";
    EXPECT_EQ(asked, other.ask(4));
    for (const Point& p : asked) one.tell(p, branin(p) + noise(5, k)), other.tell(p, branin(p) + noise(5, k)), ++k;
  }
  TunerOptions elsewhere;
  elsewhere.seed = 2;
  EXPECT_NE(Tuner(branin_box, {}).ask(1), Tuner(branin_box, elsewhere).ask(1));
}

TEST(Tuner, PointsAskedForTogetherAreApart) {
  Tuner tuner(branin_box, {});
  for (int k = 0; k < 12; ++k) {
    const Point p = tuner.ask(1)[0];
    tuner.tell(p, branin(p));
  }
  const std::vector<Point> asked = tuner.ask(8);
  for (std::size_t i = 0; i < asked.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(asked[i], asked[j]);
}

TEST(Tuner, WholeDimensionsAreAskedForAsSuch) {
  Tuner tuner(Box({{"n", 1, 64, false, true}}), {});
  for (int k = 0; k < 20; ++k) {
    const Point p = tuner.ask(1)[0];
    EXPECT_EQ(p[0], std::round(p[0]));
    tuner.tell(p, -std::abs(p[0] - 23));
  }
  EXPECT_NEAR(tuner.best().values[0], 23, 1);
}

/// The paper's fit: the first point is DIRECT's, the middle, whatever the seed; hyperparameters are given.
TEST(Tuner, ThePapersFit) {
  TunerOptions options;
  options.fit = Fit::paper;
  Tuner tuner(branin_box, options);
  EXPECT_EQ(tuner.ask(1)[0], (Point{2.5, 7.5}));
  tuner.tell({2.5, 7.5}, 0.7);
  const Hyperparameters h = tuner.posterior().hyperparameters();
  EXPECT_EQ(h.lengths, (std::vector<double>{0.1, 0.1}));
  EXPECT_EQ(h.signal, 1);
  EXPECT_EQ(h.mean, 0);
  EXPECT_NEAR(h.noise * h.noise, 0.1, 1e-16);
  EXPECT_NEAR(tuner.posterior()({0.5, 0.5}).mean, 0.7 / 1.1, 1e-9);
}

TEST(Tuner, WorseThanBadIsBad) {
  TunerOptions options;
  options.worst_below_best = 3;
  Tuner tuner(Box({{"a", 0, 1}}), options), plain(Box({{"a", 0, 1}}), options);
  for (const double a : {0.1, 0.3, 0.5, 0.7})
    tuner.tell({a}, a < 0.2 ? -1e6 : -a), plain.tell({a}, a < 0.2 ? -3.3 : -a);
  EXPECT_EQ(tuner.ask(3), plain.ask(3));
}

TEST(Tuner, RefusesWhatIsNoScore) {
  Tuner tuner(Box({{"a", 0, 1}}), {});
  testing_support::expect_error([&] { tuner.tell({0.5}, NAN); }, ExitStatus::usage, "",
                                "a score is not a number (nan). Tell something very low for what failed?");
  testing_support::expect_error(
      [&] {
        tuner.tell({0.5, 1}, 1);
      },
      ExitStatus::usage, "",
      "a point of another dimension was given (2 values, the box has 1). Tell a point of this box?");
}

/// Counts of 60 000 draws over 5 weights: chi-square of 4 degrees of freedom below 23.5 (false alarms 1e-4).
TEST(Policy, FollowsItsWeights) {
  const std::vector<double> weight = {0.1, 0.4, 0, 0.3, 0.2};
  std::vector<double> log_weight, count(5);
  for (const double w : weight) log_weight.push_back(std::log(w) + 700);
  const std::size_t n = 60000;
  for (const std::size_t i : resample(log_weight, n, 3)) ++count[i];
  EXPECT_EQ(count[2], 0);
  double chi_square = 0;
  for (const std::size_t i : {0u, 1u, 3u, 4u}) {
    const double expected = weight[i] * static_cast<double>(n);
    chi_square += (count[i] - expected) * (count[i] - expected) / expected;
  }
  EXPECT_LT(chi_square, 23.5);
}

/// A score with a ridge: the policy's points lie about it, on the grid.
TEST(Policy, LiesWhereTheModelExpectsMuch) {
  Tuner tuner(Box({{"a", 0, 1}}), {});
  for (int k = 0; k <= 20; ++k) tuner.tell({k / 20.0}, -50 * std::pow(k / 20.0 - 0.3, 2));
  const std::vector<Point> points = policy_of(tuner, 100, 64, 1);
  EXPECT_EQ(points.size(), 64u);
  const std::vector<double> axis = tuner.box().axis(0, 100);
  for (const Point& p : points) {
    EXPECT_NEAR(p[0], 0.3, 0.5) << "5 deviations of 0.1";
    EXPECT_TRUE(std::find(axis.begin(), axis.end(), p[0]) != axis.end());
  }
}

}  // namespace
}  // namespace kilochain
