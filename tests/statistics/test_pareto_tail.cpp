// The shape of weights' tails: of Pareto laws theirs, of normals none to speak of; bad weights.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "host/statistics/pareto_tail.hpp"

namespace kilochain {
namespace {

/// Logs of u^-k, u uniform: a Pareto law of shape k.
std::vector<double> pareto(double k, int size) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform;
  std::vector<double> out;
  for (int i = 0; i < size; ++i) out.push_back(-k * std::log(1 - uniform(random)));
  return out;
}

// Of a tail of m the shape's standard error is (1 + k) / sqrt(m); within 5 of them, one false alarm in 1.7 million. The
// prior pulls by 10 / m at most.
TEST(ParetoTail, HasTheShapeOfAParetoLaw) {
  for (const double k : {0.2, 0.5, 0.7, 1.0, 2.0})
    for (const int size : {2000, 20000}) {
      const double m = 3 * std::sqrt(size);
      EXPECT_NEAR(pareto_tail(pareto(k, size)), k, 5 * (1 + k) / std::sqrt(m) + 10 * std::abs(k - 0.5) / m)
          << k << " " << size;
    }
}

TEST(ParetoTail, DoesNotChangeWithTheirScale) {
  std::vector<double> weights = pareto(0.6, 3000);
  const double before = pareto_tail(weights);
  for (double& w : weights) w += 900;
  EXPECT_NEAR(pareto_tail(weights), before, 1e-9);
}

TEST(ParetoTail, OfBoundedWeightsIsBelowAHalf) {
  std::mt19937_64 random(6);
  std::normal_distribution<double> normal;
  std::vector<double> weights;
  for (int i = 0; i < 4000; ++i) weights.push_back(-std::pow(normal(random), 2));
  EXPECT_LT(pareto_tail(weights), 0.2);
}

TEST(ParetoTail, OfBadWeightsIsInfinite) {
  EXPECT_EQ(pareto_tail({}), INFINITY);
  EXPECT_EQ(pareto_tail(std::vector<double>(24, 0.0)), INFINITY);
  EXPECT_EQ(pareto_tail(std::vector<double>(100, -INFINITY)), INFINITY);
  std::vector<double> weights = pareto(0.5, 100);
  weights[3] = NAN;
  EXPECT_EQ(pareto_tail(weights), INFINITY);
  EXPECT_LT(pareto_tail(std::vector<double>(100, 2.0)), 0);  // all alike: no tail
}

}  // namespace
}  // namespace kilochain
