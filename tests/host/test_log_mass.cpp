// How much of a density is about a place: exact of a normal, within its error of a law that is no normal, and nothing
// is said where draws and the fitted normal hardly overlap.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "host/learn/log_mass.hpp"

namespace kilochain {
namespace {

constexpr double log_2pi = 1.8378770664093453;

/// Of v ~ N(0, 1) and others x_i ~ N(0, e^{2 s v}), unnormalised: the log of its integral is n/2 log 2 pi. s 0: normal.
struct Funnel {
  std::int64_t n;
  double s;
  double lp(const double* x) const {
    double sum = x[0] * x[0];
    for (std::int64_t i = 1; i < n; ++i) sum += x[i] * x[i] * std::exp(-2 * s * x[0]);
    return -0.5 * sum - s * x[0] * static_cast<double>(n - 1);
  }
  LogMass mass(std::int64_t draws, std::uint64_t seed) const {
    std::mt19937_64 bits(seed);
    std::normal_distribution<double> normal;
    std::vector<double> x, lps;
    for (std::int64_t k = 0; k < draws; ++k) {
      const double v = normal(bits);
      x.push_back(v);
      for (std::int64_t i = 1; i < n; ++i) x.push_back(normal(bits) * std::exp(s * v));
      lps.push_back(lp(x.data() + k * n));
    }
    return log_mass<double>(x, lps, [&](const std::vector<double>& points, std::vector<double>* out) {
      out->clear();
      for (std::size_t k = 0; k < points.size(); k += static_cast<std::size_t>(n))
        out->push_back(lp(points.data() + k));
      return std::vector<double>(points.size());
    });
  }
  double truth() const { return 0.5 * static_cast<double>(n) * log_2pi; }
};

TEST(LogMass, OfAGaussianIsWithinItsError) {
  for (const std::int64_t n : {1, 2, 5, 31}) {
    const Funnel normal{n, 0};
    const LogMass m = normal.mass(1000, 7);
    EXPECT_LT(m.error, n < 31 ? 0.05 : 0.5) << n;
    EXPECT_LT(std::abs(m.value - normal.truth()), 4 * m.error + 1e-9) << n;  // z < 4: once in 16 000
  }
}

// 400 runs of each law: (value - truth) / error is about N(0, 1), and its mean square is below 1 + 4 sqrt(2 / 400).
TEST(LogMass, ErrorsAreWhatTheySay) {
  for (const auto& [n, s] : {std::pair<std::int64_t, double>{3, 0.0}, {3, 0.3}, {6, 0.5}}) {
    double square = 0;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
      const Funnel law{n, s};
      const LogMass m = law.mass(400, seed);
      square += std::pow((m.value - law.truth()) / m.error, 2) / 400;
    }
    EXPECT_LT(square, 1.5) << n << ", " << s;
    EXPECT_GT(square, 0.4) << n << ", " << s;
  }
}

TEST(LogMass, SaysNothingOfFewDrawsNorOfADensityThatNoNormalFits) {
  EXPECT_EQ(Funnel(5, 0).mass(38, 1).error, INFINITY);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) EXPECT_EQ(Funnel(31, 2).mass(320, seed).error, INFINITY) << seed;
}

}  // namespace
}  // namespace kilochain
