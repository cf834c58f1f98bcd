#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "diagnostics_series.hpp"
#include "host/statistics/streaming/streaming.hpp"

namespace kilochain {
namespace {

using test::autoregression;
using test::Draws;
using test::each;

/// Draws [chain][draw][dim] go in, `window` draws at a time.
template <class T>
void feed(StreamingSummary& summary, const std::vector<T>& draws, std::int64_t chains, std::int64_t dim,
          std::int64_t window, int threads = 1, std::int64_t from = 0, std::int64_t to = -1) {
  const std::int64_t num_draws = static_cast<std::int64_t>(draws.size()) / chains / dim;
  if (to < 0) to = num_draws;
  for (std::int64_t i = from; i < to; i += window) {
    summary.add(View3<const T>{draws.data() + i * dim, chains, num_draws, dim}, std::min(window, to - i), threads);
  }
}

StreamingOptions keep(std::int64_t values) {
  StreamingOptions options;
  options.first_values = values;
  return options;
}

/// Every figure, bit for bit (NaN equals NaN).
void expect_same(const std::vector<ParameterSummary>& a, const std::vector<ParameterSummary>& b) {
  ASSERT_EQ(a.size(), b.size());
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  for (std::size_t d = 0; d < a.size(); ++d) {
    for (const auto& [name, title, figure, unit] : summary_columns)
      EXPECT_TRUE(same(a[d].*figure, b[d].*figure)) << name << d << ": " << a[d].*figure << " and " << b[d].*figure;
  }
}

/// What is promised against the same draws kept. The seeds are fixed, so nothing here fails by chance.
void expect_close(const ParameterSummary& ours, const ParameterSummary& exact, double rhat = 0.0005) {
  EXPECT_NEAR(ours.mean, exact.mean, 1e-6 * exact.sd);
  EXPECT_NEAR(ours.sd, exact.sd, 1e-6 * exact.sd);
  EXPECT_NEAR(ours.q05, exact.q05, 0.03 * exact.sd);
  EXPECT_NEAR(ours.q50, exact.q50, 0.03 * exact.sd);
  EXPECT_NEAR(ours.q95, exact.q95, 0.03 * exact.sd);
  EXPECT_NEAR(ours.ess_bulk, exact.ess_bulk, 0.15 * exact.ess_bulk);
  EXPECT_NEAR(ours.ess_tail, exact.ess_tail, 0.15 * exact.ess_tail);
  EXPECT_NEAR(ours.rhat, exact.rhat, rhat);
}

struct Case {
  const char* name;
  double tau;  ///< integrated autocorrelation time of the normal series under it
  std::int64_t chains, draws, expected;
  std::function<double(double)> map;
  bool mcse;  ///< whether the mean's error has a meaning
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class StreamingAccuracy : public testing::TestWithParam<Case> {};

TEST_P(StreamingAccuracy, IsCloseToAllDrawsKept) {
  const Case& c = GetParam();
  const Draws<double> x = each<double>(autoregression((c.tau - 1) / (c.tau + 1), c.chains, c.draws, 7), c.map);
  const ParameterSummary exact = summarise("x", x.series());
  StreamingSummary summary(c.chains, 1, c.expected, keep(4096));
  feed(summary, x.values, c.chains, 1, 100);
  EXPECT_FALSE(summary.exact());
  const ParameterSummary ours = summary.results({"x"}, 1)[0];
  expect_close(ours, exact);
  if (c.mcse) {
    EXPECT_NEAR(ours.mcse_mean, exact.mcse_mean, 0.1 * exact.mcse_mean);
  }
}

double same(double x) { return x; }
double lognormal(double x) { return std::exp(x); }
double cauchy(double x) { return std::tan(M_PI * (0.5 * std::erfc(-x / std::sqrt(2.0)) - 0.5)); }
double rounded(double x) { return std::floor(2 * x); }
double far_off(double x) { return 1e4 + 1e-2 * x; }

INSTANTIATE_TEST_SUITE_P(Series, StreamingAccuracy,
                         testing::Values(Case{"independent", 1, 64, 3000, 3000, same, true},
                                         Case{"tau5", 5, 64, 4000, 4000, same, true},
                                         Case{"tau5_unknown_length", 5, 64, 3333, 0, same, true},
                                         Case{"tau5_more_than_expected", 5, 64, 3333, 2000, same, true},
                                         Case{"tau5_less_than_expected", 5, 64, 3333, 20000, same, true},
                                         Case{"tau50", 50, 64, 10000, 10000, same, true},
                                         Case{"tau50_unknown_length", 50, 64, 9000, 0, same, true},
                                         Case{"tau500", 500, 64, 30000, 30000, same, true},
                                         Case{"antithetic", 0.2, 64, 4000, 4000, same, true},
                                         Case{"lognormal", 10, 64, 6000, 6000, lognormal, true},
                                         Case{"cauchy", 10, 64, 6000, 6000, cauchy, false},
                                         Case{"discrete", 10, 64, 6000, 6000, rounded, true},
                                         Case{"far_off", 10, 64, 6000, 6000, far_off, true},
                                         Case{"many_chains", 5, 1000, 400, 400, same, true}),
                         [](const auto& info) { return info.param.name; });

constexpr std::int64_t kChains = 37, kDraws = 1500, kDim = 21;  // more than a tile, not a multiple of one

std::vector<double> several_parameters() {
  std::vector<double> draws(kChains * kDraws * kDim);
  const Draws<double> x = autoregression(0.8, kChains * kDim, kDraws, 3);
  for (std::int64_t c = 0; c < kChains; ++c) {
    for (std::int64_t i = 0; i < kDraws; ++i) {
      for (std::int64_t d = 0; d < kDim; ++d) {
        draws[(c * kDraws + i) * kDim + d] = (1 + d) * x.values[(c * kDim + d) * kDraws + i] + d;
      }
    }
  }
  return draws;
}

std::vector<std::string> names(std::int64_t dim) { return std::vector<std::string>(dim, "x"); }

TEST(Streaming, WindowsAndThreadsChangeNothing) {
  const std::vector<double> draws = several_parameters();
  std::vector<ParameterSummary> first;
  for (const auto& [window, threads] : {std::pair{1, 1}, {7, 1}, {100, 1}, {1500, 1}, {100, 3}, {1500, 4}}) {
    SCOPED_TRACE(std::to_string(window) + " draws, " + std::to_string(threads) + " threads");
    StreamingSummary summary(kChains, kDim, 0, keep(1000));
    feed(summary, draws, kChains, kDim, window, threads);
    const auto results = summary.results(names(kDim), threads);
    if (first.empty()) first = results;
    expect_same(results, first);
  }
}

TEST(Streaming, EveryParameterOfManyIsClose) {
  const std::vector<double> draws = several_parameters();
  const auto exact = summarise_draws(names(kDim), draws.data(), kChains, kDraws);
  StreamingSummary summary(kChains, kDim, kDraws, keep(4000));
  feed(summary, draws, kChains, kDim, 64);
  const auto ours = summary.results(names(kDim), 2);
  // Of the few first draws one map is learnt again, and its R-hat speaks of later draws.
  for (std::int64_t d = 0; d < kDim; ++d) expect_close(ours[d], exact[d], d == 14 ? 0.002 : 0.0005);
}

TEST(Streaming, FloatDrawsGiveNearlyTheSame) {
  const Draws<double> x = autoregression(0.8, 16, 3000, 5);
  const Draws<float> y = each<float>(x, [](double v) { return v; });
  StreamingSummary summary(16, 1, 3000, keep(4096));
  feed(summary, y.values, 16, 1, 50);
  expect_close(summary.results({"x"}, 1)[0], summarise("x", each<double>(y, [](float v) { return v; }).series()));
}

TEST(Streaming, FewDrawsAreExact) {
  const std::vector<double> draws = several_parameters();
  StreamingSummary summary(kChains, kDim, 0);
  feed(summary, draws, kChains, kDim, 33, 1, 0, 501);
  EXPECT_TRUE(summary.exact());
  std::vector<double> part;
  for (std::int64_t c = 0; c < kChains; ++c) {
    part.insert(part.end(), draws.begin() + c * kDraws * kDim, draws.begin() + (c * kDraws + 501) * kDim);
  }
  expect_same(summary.results(names(kDim), 1), summarise_draws(names(kDim), part.data(), kChains, 501));
}

/// One chain turns non-finite; without it the others look as they do alone.
TEST(Streaming, ExcludedChainLeaves) {
  constexpr std::int64_t kN = 4000;
  const Draws<double> drawn = autoregression(0.6, 21, kN, 9);
  Draws<double> x = drawn;
  const Draws<double> others = [&] {
    Draws<double> result(20, kN);
    std::copy(x.values.begin() + kN, x.values.end(), result.values.begin());
    return result;
  }();
  for (const std::int64_t when : {0, 100, 700}) {  // before the map is learnt, in the same window, later
    for (std::int64_t i = 0; i < kN; ++i) x.at(0, i) = i < when ? drawn.values[i] : std::nan("");
    StreamingSummary summary(21, 1, kN, keep(4200));
    feed(summary, x.values, 21, 1, 100, 1, 0, when);
    summary.exclude(0);
    feed(summary, x.values, 21, 1, 100, 1, when);
    expect_close(summary.results({"x"}, 1)[0], summarise("x", others.series()));
  }
}

TEST(Streaming, NonFiniteDrawsAreNotHidden) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    for (const std::int64_t when : {10, 1200}) {
      std::vector<double> draws = several_parameters();
      draws[(5 * kDraws + when) * kDim + 3] = bad;
      StreamingSummary summary(kChains, kDim, kDraws, keep(4000));
      feed(summary, draws, kChains, kDim, 100);
      auto results = summary.results(names(kDim), 1);
      EXPECT_TRUE(std::isnan(results[3].mean) && std::isnan(results[3].rhat) && std::isnan(results[3].ess_bulk));
      EXPECT_TRUE(std::isfinite(results[2].mean) && std::isfinite(results[4].ess_tail));
      summary.exclude(5);
      results = summary.results(names(kDim), 1);
      for (const auto& figures : results) {
        EXPECT_TRUE(std::isfinite(figures.mean) && figures.rhat < 1.05 && figures.ess_tail > 0);
      }
    }
  }
}

TEST(Streaming, ConstantDraws) {
  const std::vector<double> draws(20 * 1000, 0.1);
  StreamingSummary summary(20, 1, 0, keep(1000));
  feed(summary, draws, 20, 1, 100);
  const auto figures = summary.results({"x"}, 1)[0];
  EXPECT_NEAR(figures.mean, 0.1, 1e-9);
  EXPECT_EQ(figures.sd, 0);
  EXPECT_EQ(figures.q05, figures.mean);
  EXPECT_TRUE(std::isnan(figures.ess_bulk) && std::isnan(figures.rhat));
}

/// Chains that start far away, so that what was learnt from the first draws is of no use later.
TEST(Streaming, LearnsAgainWhenTheDrawsMove) {
  constexpr std::int64_t kN = 20000;
  Draws<double> x = autoregression(0.9, 8, kN, 11);
  for (std::int64_t c = 0; c < 8; ++c) {
    for (std::int64_t i = 0; i < 300; ++i) x.at(c, i) += 200 - 2 * static_cast<double>(i) / 3;
  }
  const ParameterSummary exact = summarise("x", x.series());
  StreamingSummary summary(8, 1, kN, keep(2048));
  feed(summary, x.values, 8, 1, 100);
  const ParameterSummary ours = summary.results({"x"}, 1)[0];
  EXPECT_NEAR(ours.mean, exact.mean, 1e-6 * exact.sd);
  EXPECT_NEAR(ours.q05, exact.q05, 0.03 * exact.sd);
  EXPECT_NEAR(ours.q50, exact.q50, 0.03 * exact.sd);
  EXPECT_NEAR(ours.q95, exact.q95, 0.03 * exact.sd);
  EXPECT_NEAR(ours.ess_bulk, 8 * kN / 19.0, 0.15 * 8 * kN / 19.0);  // of the stationary part
}

/// A chain that is stuck elsewhere shows, whether or not its lags are followed.
TEST(Streaming, StuckChainShowsInRhat) {
  Draws<double> x = autoregression(0.5, 40, 2000, 13);
  for (std::int64_t i = 0; i < 2000; ++i) x.at(17, i) += 4;
  StreamingOptions options = keep(16384);
  options.max_tracked_chains = 8;
  StreamingSummary summary(40, 1, 2000, options);
  feed(summary, x.values, 40, 1, 100);
  const double exact = summarise("x", x.series()).rhat;
  EXPECT_GT(exact, 1.05);
  EXPECT_NEAR(summary.results({"x"}, 1)[0].rhat, exact, 0.005);
}

TEST(Streaming, FollowingSomeChainsIsEnough) {
  const Draws<double> x = autoregression(0.9, 200, 2000, 15);
  StreamingOptions options = keep(4096);
  options.max_tracked_chains = 50;
  StreamingSummary summary(200, 1, 2000, options);
  feed(summary, x.values, 200, 1, 100);
  expect_close(summary.results({"x"}, 1)[0], summarise("x", x.series()));
}

TEST(Streaming, MemoryIsBounded) {
  EXPECT_LT(StreamingSummary::bytes(4096, 785, 20000, 8), std::size_t(1) << 30);
  EXPECT_EQ(StreamingSummary::bytes(4096, 785, 1 << 20, 8), StreamingSummary::bytes(4096, 785, 1 << 24, 8));
}

}  // namespace
}  // namespace kilochain
