#include <gtest/gtest.h>

#include <cmath>

#include "diagnostics_series.hpp"
#include "host/statistics/ess.hpp"
#include "host/statistics/rhat.hpp"
#include "host/statistics/summary.hpp"

namespace kilochain {
namespace {

using test::Draws;

void expect_near(double ours, double theirs, std::int64_t n) { EXPECT_NEAR(ours, theirs, test::rounding(n, theirs)); }

TEST(Summary, AgreesWithKnownAnswers) {
  for (const auto& answer : test::known_answers("cases")) {
    SCOPED_TRACE(test::name_of_case(answer));
    const Draws<double> x = test::series_of_case(answer);
    const std::int64_t n = x.series().size();
    const ParameterSummary summary = summarise("x", x.series());
    EXPECT_NEAR(summary.mean, answer["mean"], test::rounding(n, answer["sd"]));
    expect_near(summary.sd, answer["sd"], n);
    expect_near(summary.q05, answer["q05"], n);
    EXPECT_NEAR(summary.q50, answer["q50"], test::rounding(n, answer["sd"]));
    expect_near(summary.q95, answer["q95"], n);
    expect_near(summary.mcse_mean, answer["mcse_mean"], n);
    expect_near(summary.ess_bulk, answer["ess_bulk"], n);
    expect_near(summary.ess_tail, answer["ess_tail"], n);
    if (x.chains > 1) expect_near(summary.rhat, answer["rhat"], n);
  }
}

TEST(Summary, ConstantBrokenAndShortSeries) {
  Draws<double> x(2, 10);
  for (double& v : x.values) v = 0.1;
  ParameterSummary summary = summarise("constant", x.series());
  EXPECT_EQ(summary.mean, 0.1);
  EXPECT_EQ(summary.sd, 0);
  EXPECT_EQ(summary.q95, 0.1);
  EXPECT_TRUE(std::isnan(summary.ess_bulk) && std::isnan(summary.ess_tail) && std::isnan(summary.rhat));
  x.at(1, 3) = std::nan("");
  EXPECT_TRUE(std::isnan(summarise("broken", x.series()).mean));
  summary = summarise("short", test::sine_walk(0.5, 2, 3).series());
  EXPECT_TRUE(std::isfinite(summary.mean) && std::isfinite(summary.q50) && std::isnan(summary.rhat));
}

/// [chain, draw, dim] with a quarantined chain left out is the same as each parameter of the other chains alone.
TEST(Summary, ManyParametersAtOnce) {
  constexpr std::int64_t kChains = 4, kDraws = 50, kDim = 3;
  const Draws<double> all = test::sine_walk(0.6, kChains, kDraws * kDim);
  const std::int64_t excluded[] = {1};
  const auto summaries = summarise_draws({"a", "b", "c"}, all.values.data(), kChains, kDraws, excluded);
  ASSERT_EQ(summaries.size(), 3u);
  for (std::int64_t d = 0; d < kDim; ++d) {
    Draws<double> one(kChains - 1, kDraws);
    for (std::int64_t k = 0; k < 3; ++k) {
      const std::int64_t c = k == 0 ? 0 : k + 1;
      for (std::int64_t i = 0; i < kDraws; ++i) one.at(k, i) = all.values[(c * kDraws + i) * kDim + d];
    }
    const ParameterSummary expected = summarise("x", one.series());
    EXPECT_EQ(summaries[d].mean, expected.mean);
    EXPECT_EQ(summaries[d].ess_bulk, expected.ess_bulk);
    EXPECT_EQ(summaries[d].rhat, expected.rhat);
  }
  EXPECT_EQ(summaries[2].name, "c");
}

}  // namespace
}  // namespace kilochain
