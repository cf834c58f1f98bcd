// The inverse mass that a window of warm-up leaves: the variance of its draws, shrunk by how many those were.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/adapt/mass.hpp"

namespace kilochain {
namespace {

/// sqrt of the inverse mass in one dimension after a warm-up of 150 iterations (one window of 25), in each of which
/// `chains` draws have mean 0 and mean square `variance`.
double learnt_sd(double variance, double chains) {
  constexpr std::int64_t num_warmup = 150;
  double F[1] = {}, square[1] = {}, centre[1] = {}, sum[1] = {}, count = 0, vector = 0;
  MassAdaptation<double> a;
  a.F = {F, 1, FactorShape::diagonal}, a.square = {square, 1, FactorShape::diagonal};
  a.centre = {centre, 1}, a.sum = {sum, 1}, a.count = {&count};
  start_mass(HostTeam{}, Mass::diagonal, a, 1);
  int windows = 0;
  for (std::int64_t t = 0; t < num_warmup; ++t)
    windows += adapt_mass(HostTeam{}, Mass::diagonal, Schedule{t, num_warmup, 1, true},
                          PooledSource<double>{&variance, &vector, 0.8, chains}, a, 1);
  EXPECT_EQ(windows, 1);
  return F[0];
}

TEST(Mass, IsShrunkByTheDrawsOfAllChains) {
  for (const double sd : {1e-3, 1.0, 30.0})
    for (const double chains : {1.0, 64.0, 1024.0}) {
      const double k = 25 * chains, shrunk = (k * sd * sd + 5 * 1e-3) / (k + 5);
      EXPECT_NEAR(learnt_sd(sd * sd, chains), std::sqrt(shrunk), 1e-12 * sd) << sd << ", " << chains << " chains";
    }
}

TEST(Mass, ASmallScaleOfManyChainsIsFound) {  // a predictor that nobody has scaled
  EXPECT_NEAR(learnt_sd(1e-6, 1024) / 1e-3, 1, 0.1);
}

}  // namespace
}  // namespace kilochain
