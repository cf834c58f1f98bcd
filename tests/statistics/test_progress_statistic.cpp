#include <gtest/gtest.h>

#include <cmath>

#include "../support/tolerance.hpp"
#include "diagnostics_series.hpp"
#include "host/statistics/progress_statistic.hpp"
#include "host/statistics/rhat.hpp"

namespace kilochain {
namespace {

using test::autoregression;
using test::Draws;
using testing_support::statistical;

/// Draws of one parameter go in, `window` at a time.
template <class T>
ProgressStatistic fed(const Draws<T>& x, std::int64_t window = 100, int threads = 1) {
  ProgressStatistic statistic(x.chains, 1);
  for (std::int64_t t = 0; t < x.draws; t += window) {
    const View3<const T> rest{x.values.data() + t, x.chains, x.draws, 1};
    statistic.add(rest, std::min(window, x.draws - t), threads);
  }
  return statistic;
}

/// The draws that complete blocks of two halves hold: blocks of the shortest power of two that makes at most 32.
std::int64_t draws_used(std::int64_t draws) {
  std::int64_t block = 1;
  while ((draws + block - 1) / block > 32) block *= 2;
  return draws / block / 2 * 2 * block;
}

Draws<double> first_of(const Draws<double>& x, std::int64_t chains, std::int64_t draws) {
  Draws<double> out(chains, draws);
  for (std::int64_t c = 0; c < chains; ++c)
    for (std::int64_t t = 0; t < draws; ++t) out.at(c, t) = x.values[c * x.draws + t];
  return out;
}

TEST(ProgressStatistic, RhatIsTheExactOneOfCompleteBlocks) {
  for (const std::int64_t chains : {1, 2, 31, 257}) {  // of 257 chains the first 256 are followed
    for (const std::int64_t draws : {4, 5, 31, 32, 33, 65, 257, 1000}) {
      SCOPED_TRACE(testing::Message() << chains << " x " << draws);
      const Draws<double> x = test::mapped(test::sine_walk(0.7, chains, draws), "shift");
      const Draws<double> used = first_of(x, std::min<std::int64_t>(chains, 256), draws_used(draws));
      ASSERT_GE(9 * used.draws, draws < 16 ? 4 * draws : 8 * draws);
      const double exact = rhat_split(used.series());
      EXPECT_NEAR(fed(x).worst().rhat_max, exact, test::rounding(used.series().size(), exact));
    }
  }
}

/// Batch means of a stationary AR(1): B times their mean square over its expectation is chi-square with B - 1 degrees
/// of freedom. z = 5: false alarm below 1e-5 each; 2 % for what batches of finite length leave out.
TEST(ProgressStatistic, EssIsNearTheKnownOne) {
  for (const double a : {-0.5, 0.0, 0.5, 0.9}) {
    for (const std::int64_t chains : {1, 4, 33, 64, 300}) {
      const std::int64_t draws = 1 << 15;
      const double known = static_cast<double>(chains * draws) * (1 - a) / (1 + a);
      const double batches = chains == 1 ? 32 : chains == 4 ? 64 : chains == 33 ? 66 : std::min<double>(256, chains);
      const double ess = fed(autoregression(a, chains, draws, 17)).worst().ess_min;
      EXPECT_TRUE(statistical(known / ess, 1, 0.02 / 5 + std::sqrt(2 / (batches - 1)), 5)) << a << ", " << chains;
    }
  }
}

TEST(ProgressStatistic, TakesTheWorstOfTheParametersItFollows) {
  const Draws<double> x = autoregression(0.2, 8, 512, 3);
  const std::int64_t dim = 24, followed = 21;  // every third of 24
  std::vector<float> draws;
  for (std::int64_t i = 0; i < x.series().size(); ++i) {
    for (std::int64_t d = 0; d < dim; ++d) {
      draws.push_back(static_cast<float>(x.values[i] + (d == followed && i / x.draws == 5 ? 3 : 0)));
    }
  }
  ProgressStatistic statistic(8, dim);
  statistic.add(View3<const float>{draws.data(), 8, 512, dim}, 512, 2);
  EXPECT_GT(statistic.worst().rhat_max, 1.2);
  EXPECT_LT(fed(x).worst().rhat_max, 1.05);
  EXPECT_LT(statistic.worst().ess_min, 0.1 * fed(x).worst().ess_min);
}

TEST(ProgressStatistic, DoesNotDependOnWindowsOrThreads) {
  const Draws<double> x = autoregression(0.5, 65, 2000, 5);
  const auto of = [](const ProgressStatistic& s) { return std::vector<double>{s.worst().rhat_max, s.worst().ess_min}; };
  const std::vector<double> one = of(fed(x, 2000, 1));
  for (const std::int64_t window : {1, 31, 32, 33, 257, 1999}) {
    EXPECT_TRUE(testing_support::exact(of(fed(x, window, 3)), one)) << window;
  }
}

TEST(ProgressStatistic, LeavesOutWhatIsExcluded) {
  const Draws<double> x = autoregression(0.5, 5, 300, 9);
  Draws<double> four(4, 300);
  for (std::int64_t c = 0; c < 4; ++c) std::copy_n(&x.values[(c + (c > 1)) * 300], 300, &four.at(c, 0));
  ProgressStatistic statistic(5, 1);
  const View3<const double> draws{x.values.data(), 5, 300, 1};
  statistic.add(draws, 100, 1);
  statistic.exclude(2);
  statistic.add(View3<const double>{x.values.data() + 100, 5, 300, 1}, 200, 1);
  EXPECT_EQ(statistic.worst().rhat_max, fed(four).worst().rhat_max);
  EXPECT_EQ(statistic.worst().ess_min, fed(four).worst().ess_min);
}

TEST(ProgressStatistic, SaysNothingWhereNothingIsKnown) {
  const auto unknown = [](const Draws<double>& x) {
    const ProgressStatistic::Worst worst = fed(x).worst();
    return std::isnan(worst.rhat_max) && std::isnan(worst.ess_min);
  };
  EXPECT_TRUE(unknown(test::sine_walk(0.3, 2, 0)));
  EXPECT_TRUE(unknown(test::sine_walk(0.3, 2, 3)));
  EXPECT_FALSE(unknown(test::sine_walk(0.3, 2, 4)));
  EXPECT_TRUE(unknown(test::each<double>(test::sine_walk(0.3, 2, 40), [](double) { return 0.1; })));
  Draws<double> broken = test::sine_walk(0.3, 2, 40);
  broken.at(1, 7) = NAN;
  EXPECT_TRUE(unknown(broken));
  // Chains that never move from different points have not met: that is known.
  const Draws<double> stuck =
      test::mapped(test::each<double>(test::sine_walk(0.3, 2, 64), [](double) { return 1; }), "shift");
  EXPECT_GT(fed(stuck).worst().rhat_max, 1e6);
}

}  // namespace
}  // namespace kilochain
