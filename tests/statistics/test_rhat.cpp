#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "diagnostics_series.hpp"
#include "host/statistics/normal_quantile.hpp"
#include "host/statistics/ranks.hpp"
#include "host/statistics/rhat.hpp"

namespace kilochain {
namespace {

using test::Draws;
using test::rhat;

TEST(Rhat, AgreesWithKnownAnswers) {
  for (const auto& answer : test::known_answers("cases")) {
    SCOPED_TRACE(test::name_of_case(answer));
    const Draws<double> x = test::series_of_case(answer);
    if (x.chains == 1) continue;  // no answer there
    const double rank = answer["rhat"], split = answer["rhat_split"];
    EXPECT_NEAR(rhat(x.series()), rank, test::rounding(x.series().size(), rank));
    EXPECT_NEAR(rhat_split(x.series()), split, test::rounding(x.series().size(), split));
  }
}

/// A single chain is its two halves: the same as two chains that are those halves, compared unsplit by hand.
TEST(Rhat, OneChainIsComparedWithItself) {
  const Draws<double> x = test::sine_walk(0.9, 1, 33);
  double means[2] = {0, 0}, variances[2] = {0, 0};
  for (int half = 0; half < 2; ++half) {
    const double* row = x.values.data() + 17 * half;
    for (int i = 0; i < 16; ++i) means[half] += row[i] / 16;
    for (int i = 0; i < 16; ++i) variances[half] += (row[i] - means[half]) * (row[i] - means[half]) / 15;
  }
  const double between = 16 * (means[0] - means[1]) * (means[0] - means[1]) / 2;
  const double expected = std::sqrt((2 * between / (variances[0] + variances[1]) + 15) / 16);
  EXPECT_NEAR(rhat_split(x.series()), expected, test::rounding(33, expected));
  EXPECT_TRUE(std::isfinite(rhat(x.series())));
}

TEST(Rhat, AwkwardSizes) {
  for (const std::int64_t draws : {4, 5, 31, 33}) {
    for (const std::int64_t chains : {1, 2}) {
      const Draws<double> x = test::sine_walk(0.3, chains, draws);
      EXPECT_TRUE(std::isfinite(rhat(x.series()))) << chains << " x " << draws;
      EXPECT_TRUE(std::isfinite(rhat_split(x.series()))) << chains << " x " << draws;
    }
  }
  EXPECT_TRUE(std::isnan(rhat(test::sine_walk(0.3, 2, 3).series())));
}

TEST(Rhat, DoesNotChangeUnderMaps) {
  const Draws<double> x = test::mapped(test::sine_walk(0.8, 4, 301), "shift");
  const Draws<double> affine = test::each<double>(x, [](double v) { return 3 - 2 * v; });
  const Draws<double> monotone = test::each<double>(x, [](double v) { return v * v * v; });
  EXPECT_NEAR(rhat_split(affine.series()), rhat_split(x.series()), test::rounding(1204, rhat_split(x.series())));
  // The folded part depends on distances; this series is bad in the bulk, where only ranks count.
  EXPECT_EQ(rhat(monotone.series()), rhat(x.series()));
  EXPECT_NE(rhat_split(monotone.series()), rhat_split(x.series()));
}

/// Independent chains: below 1.01 with 4 x 4 000 draws (the bar is some 30 standard errors away).
TEST(Rhat, IsOneForIndependentDraws) {
  const Draws<double> x = test::autoregression(0, 4, 4000, 8);
  EXPECT_LT(rhat(x.series()), 1.01);
  EXPECT_LT(rhat_split(x.series()), 1.01);
}

/// What each version is for; `unsplit` is the mutant that compares whole chains.
TEST(Rhat, SeesTrendsScalesAndStuckChains) {
  Draws<double> trend = test::autoregression(0, 4, 1000, 9), scale = trend, stuck(3, 100);
  for (std::int64_t i = 0; i < 1000; ++i) {
    for (std::int64_t c = 0; c < 4; ++c) trend.at(c, i) += 3 * static_cast<double>(i) / 1000;
    scale.at(3, i) *= 4;  // same centre, four times as wide
  }
  EXPECT_GT(rhat(trend.series()), 1.1);
  EXPECT_GT(rhat_split(trend.series()), 1.1);
  std::vector<double> means;
  double square = 0;
  for (std::int64_t c = 0; c < 4; ++c) means.push_back(moments_of(Series{&trend.at(c, 0), 1, 1000}).mean);
  for (const double v : trend.values) square += v * v / 4000;
  const double unsplit = rhat_of(row_variances(means, 1000, square));
  EXPECT_LT(unsplit, 1.01);
  EXPECT_GT(rhat(scale.series()), 1.1);
  EXPECT_LT(rhat_split(scale.series()), 1.01);
  for (std::int64_t i = 0; i < 300; ++i) stuck.values[i] = static_cast<double>(i / 100);
  EXPECT_GT(rhat(stuck.series()), 1e3);  // infinite but for rounding
  EXPECT_GT(rhat_split(stuck.series()), 1e3);
  EXPECT_TRUE(std::isnan(rhat(Draws<double>(3, 100).series())));
}

TEST(NormalQuantile, AgreesWithKnownAnswers) {
  for (const auto& pair : test::known_answers("normal_quantile")) {
    const double p = pair[0], z = pair[1];
    EXPECT_NEAR(normal_quantile(p), z, 16 * 2.3e-16 * std::abs(z)) << p;  // 15 operations
  }
  EXPECT_TRUE(std::isinf(normal_quantile(0)));
  EXPECT_TRUE(std::isinf(normal_quantile(1)));
  EXPECT_TRUE(std::isnan(normal_quantile(-0.1)));
}

/// Radix and plain sort, sizes on both sides of the change, and values that a key cannot tell apart.
TEST(Argsort, IsExact) {
  for (const std::int64_t n : {1, 2, 7, 511, 512, 8192, 50001}) {
    for (const int kind : {0, 1, 2, 3}) {
      Draws<double> x = test::autoregression(0.5, 1, n, 10);
      for (double& v : x.values) {
        if (kind == 1) v = std::floor(v);
        if (kind == 2) v = std::exp(40 * v);
        if (kind == 3) v = 1 + 1e-13 * v * (v > 0) - 1e300 * (v < -3);
      }
      const Sorted sorted = argsort(x.values.data(), n);
      std::vector<double> expected = x.values;
      std::sort(expected.begin(), expected.end());
      std::vector<int> seen(n);
      for (std::int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(sorted.values[i], expected[i]) << n << " kind " << kind << " at " << i;
        ASSERT_EQ(x.values[sorted.index[i]], expected[i]);
        ++seen[sorted.index[i]];
      }
      EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), n);
    }
  }
}

/// Average ranks from 1 of the values, by comparing all with all of a sorted copy.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<double> sorted = values, out;
  std::sort(sorted.begin(), sorted.end());
  for (const double v : values) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), v);
    out.push_back(0.5 * static_cast<double>((first - sorted.begin()) + 1 + (last - sorted.begin())));
  }
  return out;
}

/// One part and many, parts that are too large for a short sort, odd chains, ties in all, some or none, and values that
/// a key cannot tell apart.
TEST(Ranks, AreThoseOfTheDefinition) {
  for (const auto& [chains, draws] : {std::pair{1, 4}, {2, 5}, {3, 33}, {4, 257}, {3, 1001}, {2, 100001}})
    for (const int kind : {0, 1, 2, 3, 4}) {
      Draws<double> x = test::autoregression(0.5, chains, draws, 10);
      for (double& v : x.values) {
        if (kind == 1) v = std::floor(2 * v);
        if (kind == 2) v = std::exp(40 * v);
        if (kind == 3) v = 1 + 1e-13 * v * (v > 0) - 1e300 * (v < -3);
        if (kind == 4) v = std::floor(1e4 * v);
      }
      const Series series{x.values.data(), chains, draws};
      const SplitRows split(series);
      std::vector<double> halves;
      for (std::int64_t r = 0; r < split.rows; ++r)
        halves.insert(halves.end(), split.row(r), split.row(r) + split.length);
      const auto n = static_cast<double>(halves.size());
      const RankedDraws ranked(series);
      std::vector<double> z(halves.size());
      ranked.normal_scores(z.data());
      const std::vector<double> ranks = ranks_of(halves);
      const double eps = std::numeric_limits<double>::epsilon();
      for (std::size_t i = 0; i < z.size(); ++i)
        ASSERT_NEAR(z[i], normal_quantile((ranks[i] - 0.375) / (n + 0.25)), 4 * eps * std::max(1.0, std::abs(z[i])))
            << chains << " chains of " << draws << ", kind " << kind << ", draw " << i;
      std::vector<double> all = x.values, middle = halves;
      std::sort(all.begin(), all.end()), std::sort(middle.begin(), middle.end());
      for (const double p : {0.0, 0.05, 0.5, 0.95, 1.0})
        EXPECT_EQ(ranked.quantile(p), quantile_of_sorted(all.data(), std::ssize(all), p)) << p;
      const double median = (middle[middle.size() / 2 - 1] + middle[middle.size() / 2]) / 2;
      std::vector<double> folded;
      for (const double v : halves) folded.push_back(std::abs(v - median));
      const std::vector<double> folded_ranks = ranks_of(folded);
      const RowVariances found = ranked.folded_variances();
      double within = 0, square = 0;
      std::vector<double> means;
      for (std::int64_t r = 0; r < split.rows; ++r) {
        double sum = 0, sum2 = 0;
        for (std::int64_t i = 0; i < split.length; ++i) {
          const double score = normal_quantile((folded_ranks[r * split.length + i] - 0.375) / (n + 0.25));
          sum += score, sum2 += score * score;
        }
        const auto length = static_cast<double>(split.length);
        within += (sum2 - sum * sum / length) / (length - 1) / static_cast<double>(split.rows);
        means.push_back(sum / length), square += sum2 / n;
      }
      double mean_square = 0;
      const std::vector<double> found_means = ranked.folded_means(mean_square);
      const double bound = 4 * n * eps;  // sums of n scores of size 1, in another order
      EXPECT_NEAR(found.within, within, bound);
      EXPECT_NEAR(mean_square, square, bound);
      for (std::size_t r = 0; r < means.size(); ++r) EXPECT_NEAR(found_means[r], means[r], bound);
    }
}

TEST(Ranks, TiesShareTheirAverageRank) {
  const double x[] = {1, 2, 2, 3, 9, 2, 2, 5};
  double z[8];
  RankedDraws(Series{x, 2, 4}).normal_scores(z);
  const double ranks[] = {1, 3.5, 3.5, 6, 8, 3.5, 3.5, 7};
  for (int i = 0; i < 8; ++i)  // rounding: the same formula, compiled twice
    EXPECT_NEAR(z[i], normal_quantile((ranks[i] - 0.375) / 8.25), 4 * std::numeric_limits<double>::epsilon()) << i;
}

}  // namespace
}  // namespace kilochain
