#include <gtest/gtest.h>

#include "diagnostics_series.hpp"
#include "host/statistics/autocovariance.hpp"
#include "host/statistics/ess.hpp"
#include "host/statistics/ranks.hpp"

namespace kilochain {
namespace {

using test::Draws;
using test::ess_bulk;
using test::ess_tail;
using test::mcse_mean;

void expect_close(double ours, const nlohmann::json& theirs, std::int64_t n, const std::string& what) {
  EXPECT_NEAR(ours, theirs.get<double>(), test::rounding(n, theirs)) << what;
}

TEST(Ess, AgreesWithKnownAnswers) {
  for (const auto& answer : test::known_answers("cases")) {
    SCOPED_TRACE(test::name_of_case(answer));
    const Draws<double> x = test::series_of_case(answer);
    const std::int64_t n = x.series().size();
    expect_close(ess_mean(x.series()), answer["ess_mean"], n, "ess_mean");
    expect_close(ess_bulk(x.series()), answer["ess_bulk"], n, "ess_bulk");
    expect_close(ess_tail(x.series()), answer["ess_tail"], n, "ess_tail");
    expect_close(ess_square(x.series()), answer["ess_square"], n, "ess_square");
    expect_close(ess_below(x.series(), RankedDraws(x.series()).quantile(0.3)), answer["ess_q30"], n, "ess_q30");
    expect_close(mcse_mean(x.series()), answer["mcse_mean"], n, "mcse_mean");
  }
}

/// The estimator of the 2019 paper on p = a p + sin(t^2), as computed by its authors' code.
TEST(Ess, PaperEstimatorHasItsKnownAnswers) {
  struct {
    double a;
    std::int64_t n;
    double ess;
  } const answers[] = {{0.9, 20000, 1129.5417301162}, {0.99, 20000, 138.1489173026}, {0.5, 20000, 6632.1529095078},
                       {0.0, 20000, 20000.0},         {-0.5, 20000, 20000.0},        {0.9, 1001, 75.440051797},
                       {0.999, 20000, 99.4857259602}};
  for (const auto& answer : answers) {
    const Draws<double> x = test::sine_walk(answer.a, 1, answer.n);
    EXPECT_NEAR(ess_paper(x.values.data(), answer.n), answer.ess, test::rounding(answer.n, answer.ess)) << answer.a;
  }
}

/// 64 chains of 2 000 draws, 20 seeds; tau known. The mean of 20 estimates against the truth: their own spread gives
/// the standard error; z = 5 (false alarm about 1e-4 at 19 degrees of freedom) and 3 % for the bias of a finite
/// sequence.
TEST(Ess, AutoregressionHasItsKnownTau) {
  for (const double a : {-0.5, 0.0, 0.5, 0.9}) {
    std::vector<double> mean_ratio, square_ratio;
    for (unsigned seed = 1; seed <= 20; ++seed) {
      const Draws<double> x = test::autoregression(a, 64, 2000, seed);
      const auto size = static_cast<double>(x.series().size());
      mean_ratio.push_back(ess_mean(x.series()) / (size * (1 - a) / (1 + a)));
      square_ratio.push_back(ess_square(x.series()) / (size * (1 - a * a) / (1 + a * a)));
    }
    for (const auto& ratios : {mean_ratio, square_ratio}) {
      double mean = 0, squares = 0;
      for (const double r : ratios) mean += r / 20;
      for (const double r : ratios) squares += (r - mean) * (r - mean) / 19;
      EXPECT_NEAR(mean, 1, 5 * std::sqrt(squares / 20) + 0.03) << a;
    }
  }
}

TEST(Ess, DoesNotChangeUnderAffineMaps) {
  const Draws<double> x = test::autoregression(0.8, 4, 501, 3);
  const Draws<double> y = test::each<double>(x, [](double v) { return 8 - 4 * v; });
  const std::int64_t n = x.series().size();
  const double mean = ess_mean(x.series()), square = ess_square(x.series()), paper = ess_paper(x.values.data(), n);
  EXPECT_NEAR(ess_mean(y.series()), mean, test::rounding(n, mean));
  EXPECT_NEAR(ess_square(y.series()), square, test::rounding(n, square));
  EXPECT_NEAR(ess_paper(y.values.data(), n), paper, test::rounding(n, paper));
}

TEST(Ess, BulkDoesNotChangeUnderMonotoneMaps) {
  const Draws<double> x = test::autoregression(0.8, 4, 500, 4);
  const Draws<double> up = test::each<double>(x, [](double v) { return std::exp(9 * v); });
  EXPECT_EQ(ess_bulk(up.series()), ess_bulk(x.series()));
  EXPECT_NE(ess_mean(up.series()), ess_mean(x.series()));
}

/// Chains that drift all the same way look fine unsplit: the halves must disagree.
TEST(Ess, SplitChainsSeeATrend) {
  Draws<double> x = test::autoregression(0, 4, 1000, 6);
  for (std::int64_t c = 0; c < 4; ++c) {
    for (std::int64_t i = 0; i < 1000; ++i) x.at(c, i) += 3 * static_cast<double>(i) / 1000;
  }
  EXPECT_LT(ess_mean(x.series()), 100);
  EXPECT_LT(ess_bulk(x.series()), 100);
}

TEST(Ess, NothingIsSaidAboutConstantBrokenOrShortSeries) {
  Draws<double> x(2, 100);
  EXPECT_TRUE(std::isnan(ess_mean(x.series())));
  EXPECT_TRUE(std::isnan(ess_bulk(x.series())));
  EXPECT_TRUE(std::isnan(ess_tail(x.series())));
  EXPECT_TRUE(std::isnan(ess_paper(x.values.data(), 200)));
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    Draws<double> y = test::sine_walk(0.5, 2, 100);
    y.at(1, 50) = bad;
    EXPECT_TRUE(std::isnan(ess_mean(y.series())));
    EXPECT_TRUE(std::isnan(ess_bulk(y.series())));
    EXPECT_TRUE(std::isnan(ess_paper(y.values.data(), 200)));
  }
  EXPECT_TRUE(std::isnan(ess_bulk(test::sine_walk(0.5, 2, 3).series())));
}

/// Lags through direct sums, through the transform and by counting bits against the plain double loop.
TEST(Autocovariance, AllWaysGiveThePlainSums) {
  for (const std::int64_t length : {2, 3, 16, 63, 64, 65, 200, 1000, 1203}) {
    const std::int64_t rows = 3;
    const Draws<double> x = test::sine_walk(0.95, rows, length);
    const double threshold = 0.7;
    std::vector<std::uint64_t> bits(rows * BitAutocovariance::words_per_row(length));
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t i = 0; i < length; ++i) {
        const std::uint64_t bit = x.values[r * length + i] <= threshold;
        bits[r * BitAutocovariance::words_per_row(length) + i / 64] |= bit << (i % 64);
      }
    }
    RealAutocovariance real(
        rows, length, [&](std::int64_t r, double* out) { std::copy_n(x.values.data() + r * length, length, out); });
    BitAutocovariance counted(rows, length, bits);
    for (const bool indicator : {false, true}) {
      for (std::int64_t lag = 0; lag < length; ++lag) {
        double plain = 0, scale = 0;
        for (std::int64_t r = 0; r < rows; ++r) {
          const auto value = [&](std::int64_t i) {
            const double v = x.values[r * length + i];
            return indicator ? double(v <= threshold) : v;
          };
          double mean = 0;
          for (std::int64_t i = 0; i < length; ++i) mean += value(i) / static_cast<double>(length);
          for (std::int64_t i = 0; i < length; ++i) {
            if (i + lag < length)
              plain += (value(i) - mean) * (value(i + lag) - mean) / static_cast<double>(length * rows);
            scale += value(i) * value(i) / static_cast<double>(length * rows);
          }
        }
        const double ours = indicator ? counted(lag) : real(lag);
        ASSERT_NEAR(ours, plain, test::rounding(length, scale)) << length << " lag " << lag << " bits " << indicator;
      }
    }
  }
}

}  // namespace
}  // namespace kilochain
