// R-hat between superchains: the formula, what many short chains can show with it, and what it must find.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "host/statistics/streaming/streaming.hpp"
#include "tests/statistics/diagnostics_series.hpp"

namespace kilochain {
namespace {

using test::autoregression;
using test::Draws;

Superchains superchains_of(std::int64_t chains, std::int64_t count) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(chains));
  std::iota(numbers.begin(), numbers.end(), 0);
  return {numbers, count};
}

/// x of chain c moved by size(c mod count).
template <class F>
Draws<double> moved(Draws<double> x, std::int64_t count, const F& size) {
  for (std::int64_t c = 0; c < x.chains; ++c)
    for (std::int64_t t = 0; t < x.draws; ++t) x.at(c, t) += size(c % count, t);
  return x;
}

TEST(Superchains, AreTheVarianceOfTheirMeansOverThatWithinThem) {
  constexpr std::int64_t chains = 12, draws = 9, count = 3;
  const Draws<double> x = autoregression(0.3, chains, draws, 1);
  std::vector<double> means, squares(2 * count), sums(2 * count);
  double square = 0;
  const SplitRows split(x.series());
  for (std::int64_t r = 0; r < split.rows; ++r) {
    double sum = 0;
    for (std::int64_t i = 0; i < split.length; ++i) {
      const double value = split.row(r)[i];
      sum += value, square += value * value;
      sums[static_cast<std::size_t>(2 * (r / 2 % count) + r % 2)] += value;
      squares[static_cast<std::size_t>(2 * (r / 2 % count) + r % 2)] += value * value;
    }
    means.push_back(sum / static_cast<double>(split.length));
  }
  const double of_row = static_cast<double>(split.length * chains / count), rows = 2 * count;
  double within = 0, mean = 0, between = 0;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    within += (squares[k] - sums[k] * sums[k] / of_row) / of_row / rows;
    mean += sums[k] / of_row / rows;
  }
  for (const double sum : sums) between += (sum / of_row - mean) * (sum / of_row - mean) / (rows - 1);
  const double size = static_cast<double>(split.rows * split.length);
  EXPECT_NEAR(rhat_of_superchains(means, square / size, superchains_of(chains, count)), std::sqrt(1 + between / within),
              100 * size * 2.3e-16);
}

TEST(Superchains, ShowThatManyShortChainsAgree) {
  const Draws<double> x = autoregression(0.5, 1024, 20, 2);
  const ParameterSummary alone = summarise("x", x.series()),
                         together = summarise("x", x.series(), superchains_of(1024, 16));
  EXPECT_GT(alone.rhat, 1.05);  // by the noise of each chain
  EXPECT_LT(together.rhat, 1.01);
  EXPECT_EQ(together.ess_bulk, alone.ess_bulk);
}

TEST(Superchains, FindPlacesThatWereNotForgottenWidthsAndDrifts) {
  const Draws<double> x = autoregression(0.5, 1024, 20, 3);
  const Superchains of = superchains_of(1024, 16);
  const auto rhat = [&](const Draws<double>& y) { return summarise("x", y.series(), of).rhat; };
  EXPECT_GT(rhat(moved(x, 16, [](auto k, auto) { return 0.2 * static_cast<double>(k % 4); })), 1.01);
  EXPECT_GT(rhat(moved(x, 16, [](auto, auto t) { return 0.03 * static_cast<double>(t); })), 1.01);
  Draws<double> wide = x;
  for (std::int64_t c = 0; c < wide.chains; c += 16)
    for (std::int64_t t = 0; t < wide.draws; ++t) wide.at(c, t) *= 3;
  EXPECT_GT(rhat(wide), 1.01);
}

TEST(Superchains, LeaveOutChainsByTheirNumbers) {
  constexpr std::int64_t chains = 40, draws = 50, count = 4;
  const Draws<double> x = moved(autoregression(0.5, chains, draws, 4), count, [](auto k, auto) { return k == 0; });
  const std::vector<std::int64_t> excluded = {0, 1, 8};
  std::vector<std::int64_t> kept;
  std::vector<double> values;
  for (std::int64_t c = 0; c < chains; ++c)
    if (c > 1 && c != 8) {
      kept.push_back(c);
      values.insert(values.end(), x.values.begin() + c * draws, x.values.begin() + (c + 1) * draws);
    }
  const double expected = summarise("x", {values.data(), std::ssize(kept), draws}, Superchains(kept, count)).rhat;
  EXPECT_GT(expected, 1.05);
  EXPECT_EQ(summarise_draws({"x"}, x.values.data(), chains, draws, excluded, count)[0].rhat, expected);
  const std::vector<std::int64_t> all_of_one = {0, 4, 8, 12, 16, 20, 24, 28, 32, 36};
  EXPECT_LT(summarise_draws({"x"}, x.values.data(), chains, draws, all_of_one, count)[0].rhat, 1.02);
}

TEST(Superchains, OfDrawsThatAreNotKeptAreNear) {
  constexpr std::int64_t chains = 256, draws = 2000, count = 8;
  const Draws<double> x =
      moved(autoregression(0.5, chains, draws, 5), count, [](auto k, auto) { return 0.2 * (k == 0); });
  for (const std::int64_t first : {std::int64_t(16384), chains * draws}) {
    StreamingOptions options;
    options.first_values = first;
    StreamingSummary summary(chains, 1, draws, options);
    summary.set_superchains(count);
    summary.add(View3<const double>{x.values.data(), chains, draws, 1}, draws, 2);
    const double exact = summarise("x", x.series(), superchains_of(chains, count)).rhat;
    EXPECT_GT(exact, 1.001);
    EXPECT_NEAR(summary.results({"x"}, 1)[0].rhat, exact, summary.exact() ? 0 : 0.0005);  // as streaming.hpp promises
  }
}

}  // namespace
}  // namespace kilochain
