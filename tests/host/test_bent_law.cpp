// The bent law of a logistic regression: where all observations bend it, it is the posterior, exactly; those that it
// takes are the ones that leave their parabolas farthest; and a run that takes it is right.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "host/learn/bent_law.hpp"
#include "host/registry/registry.hpp"
#include "tests/support/rare_design.hpp"
#include "tests/support/rows.hpp"
#include "tests/support/runs.hpp"

namespace kilochain {
namespace {

using testing_support::rare_design;

std::vector<double> draws_about(std::size_t columns, std::size_t count) {
  std::mt19937_64 bits(6);
  std::normal_distribution<double> normal;
  std::vector<double> x(columns * count);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = 0.3 * normal(bits) - (k % columns == columns - 1 ? 2 : 0);
  return x;
}
double log_sigma(double u) { return std::min(u, 0.0) - std::log1p(std::exp(-std::abs(u))); }

TEST(BentLaw, OfAllObservationsIsThePosterior) {
  for (const std::size_t n : {2, 5, 33}) {
    const Design d = rare_design(300, n);
    const double prior_sd = 1.5;
    const std::vector<double> x = draws_about(n, 500);
    const auto law = bent_law(d, prior_sd, x, 300);
    ASSERT_TRUE(law);
    double least = INFINITY, most = -INFINITY;
    for (std::size_t k = 0; k < 50; ++k) {
      const double* const at = x.data() + k * n;
      double lp = 0, q = 0;
      std::vector<double> z(n);
      for (std::size_t i = 0; i < n; ++i) {
        z[i] = at[i] - law->mean[i];
        for (std::size_t j = 0; j < i; ++j) z[i] -= law->factor[i * n + j] * z[j];
        z[i] /= law->factor[i * n + i];
        lp -= at[i] * at[i] / (2 * prior_sd * prior_sd), q -= z[i] * z[i] / 2;
      }
      for (std::size_t i = 0; i < d.rows; ++i) {
        double logit = 0, t = 0;
        for (std::size_t j = 0; j < n; ++j) logit += d.x[i * n + j] * at[j], t += law->bending.lines[i * n + j] * z[j];
        lp += log_sigma((2 * d.y[i] - 1) * logit);
        q += log_sigma(law->bending.sign[i] * (t + law->bending.logit[i])) - law->bending.offset[i] * t -
             law->bending.slope[i] * t * t / 2;
      }
      least = std::min(least, lp - q), most = std::max(most, lp - q);
    }
    std::printf("%zu coordinates: lp - log q is constant within %.2g\n", n, most - least);
    EXPECT_LT(most - least, 300.0 * double(n) * 100 * 2.3e-16 * 1e3);  // c n eps: sums of 300 rows, c = 1e5
  }
}

TEST(BentLaw, TakesThoseThatLeaveTheirParabolasFarthest) {
  const Design d = rare_design(640, 6);
  const auto law = bent_law(d, 1.0, draws_about(6, 500), 20);
  ASSERT_TRUE(law);
  ASSERT_EQ(law->bending.logit.size(), 20u);
  // A row with an 8 in it has logits some times as wide as others.
  const auto lengths = [](const BentLaw& l) {
    std::vector<double> out;
    for (std::size_t k = 0; k < l.bending.logit.size(); ++k) {
      double square = 0;
      for (std::size_t i = 0; i < 6; ++i) square += l.bending.lines[k * 6 + i] * l.bending.lines[k * 6 + i];
      out.push_back(std::sqrt(square));
    }
    std::ranges::sort(out);
    return out;
  };
  const auto all = lengths(*bent_law(d, 1.0, draws_about(6, 500), 640)), taken = lengths(*law);
  std::printf("lengths: half of all below %.2f, those that are taken from %.2f\n", all[320], taken[0]);
  EXPECT_GT(taken[0], 2 * all[320]);
  EXPECT_FALSE(bent_law(d, 1.0, draws_about(6, 100), 20));  // too few draws
}

}  // namespace
}  // namespace kilochain
