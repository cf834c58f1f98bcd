// Uniforms and normals: moments, Kolmogorov-Smirnov distance, tails, independence of neighbours, padding. Fixed seeds;
// each test states its false-alarm rate over seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/device/team.hpp"
#include "kernels/random/draw.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/device_path_team.hpp"
#include "tests/support/tolerance.hpp"

namespace kilochain::testing_support {
namespace {

/// sqrt(m) D of sorted values against a distribution function. P(sqrt(m) D > 2.5) = 7.5e-6 (Kolmogorov's law).
template <class F>
double kolmogorov(std::vector<double> values, F&& cdf) {
  std::sort(values.begin(), values.end());
  const double m = static_cast<double>(values.size());
  double distance = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double p = cdf(values[k]), rank = static_cast<double>(k);
    distance = std::max({distance, p - rank / m, (rank + 1) / m - p});
  }
  return std::sqrt(m) * distance;
}
double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

template <class Real>
class Normals : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Normals, Reals);

template <class Real, class Team = HostTeam>
std::vector<double> many(Index n, int rows, std::uint64_t seed) {
  std::vector<double> out;
  std::vector<Real> z(static_cast<std::size_t>(n) + 64);
  for (int r = 0; r < rows; ++r) {
    normals(Team{}, Rng{seed, static_cast<std::uint32_t>(r), r % 7}, Purpose::proposal, Row(z.data(), z.size()), n);
    out.insert(out.end(), z.begin(), z.begin() + n);
  }
  return out;
}

TYPED_TEST(Normals, Moments) {
  // 6 comparisons at z = 5: 3.4e-6. Variance of z^k z^k: E z^2k - (E z^k)^2 = 1, 2, 15, 96, 945, 10170.
  const std::vector<double> z = many<TypeParam>(100, 10000, 11);
  const double want[] = {0, 1, 0, 3, 0, 15}, variance[] = {1, 2, 15, 96, 945, 10170};
  for (int k = 1; k <= 6; ++k) {
    double mean = 0;
    for (const double v : z) mean += std::pow(v, k);
    mean /= static_cast<double>(z.size());
    EXPECT_TRUE(statistical(mean, want[k - 1], std::sqrt(variance[k - 1] / static_cast<double>(z.size())), 5))
        << "moment " << k;
  }
}

TYPED_TEST(Normals, Distribution) {
  EXPECT_LT(kolmogorov(many<TypeParam>(100, 10000, 12), normal_cdf), 2.5);  // 7.5e-6
}

TYPED_TEST(Normals, Tails) {
  // Counts beyond 3, 4 and 4.5 are binomial; 6 comparisons at z = 5 (the rarest expects 14, skewed: below 1e-4 in all).
  const std::vector<double> z = many<TypeParam>(100, 40000, 13);
  for (const double edge : {3.0, 4.0, 4.5})
    for (const double side : {-1.0, 1.0}) {
      const double p = normal_cdf(-edge), expected = p * static_cast<double>(z.size());
      const auto beyond =
          static_cast<double>(std::count_if(z.begin(), z.end(), [&](double v) { return v * side > edge; }));
      EXPECT_TRUE(statistical(beyond, expected, std::sqrt(expected), 5)) << edge * side;
    }
}

TYPED_TEST(Normals, NeighboursAreIndependent) {
  // Correlations of values and of squares at lags 1, 2, and across the two halves of a block: 8 comparisons at z = 5,
  // 5e-6.
  const Index n = 128;
  const int rows = 4000;
  const std::vector<double> z = many<TypeParam>(n, rows, 14);
  for (const Index lag : {1, 2, 32, 64}) {
    double values = 0, squares = 0, count = 0;
    for (int r = 0; r < rows; ++r)
      for (Index i = 0; i + lag < n; ++i) {
        const double a = z[static_cast<std::size_t>(r * n + i)], b = z[static_cast<std::size_t>(r * n + i + lag)];
        values += a * b;
        squares += (a * a - 1) * (b * b - 1);
        count += 1;
      }
    EXPECT_TRUE(statistical(values / count, 0, 1 / std::sqrt(count), 5)) << "lag " << lag;
    EXPECT_TRUE(statistical(squares / count, 0, 2 / std::sqrt(count), 5)) << "squares, lag " << lag;
  }
}

TYPED_TEST(Normals, PaddingIsZeroAndBothPathsAgree) {
  for (const Index n : factor_sizes) {
    const std::size_t row = (static_cast<std::size_t>(n) + 31) / 32 * 32;
    std::vector<TypeParam> host(row, TypeParam(9)), device(row, TypeParam(9));
    const Rng rng{5, 6, 7};
    normals(HostTeam{}, rng, Purpose::momentum, Row(host.data(), host.size()), n);
    normals(DevicePathTeam{}, rng, Purpose::momentum, Row(device.data(), device.size()), n);
    for (Index i = 0; i < n; ++i)  // compilers may fuse differently in a vector loop: a few ulp of the largest normal
      EXPECT_TRUE(rounding<TypeParam>(host[static_cast<std::size_t>(i)], device[static_cast<std::size_t>(i)], 8, 1, 4))
          << n << " " << i;
    const std::size_t written = (static_cast<std::size_t>(n) + 3) / 4 * 4;  // a block is at most four numbers
    for (std::size_t i = static_cast<std::size_t>(n); i < written; ++i)
      EXPECT_TRUE(host[i] == 0 || host[i] == 9) << n << " " << i;
    for (std::size_t i = written; i < row; ++i) EXPECT_EQ(host[i], TypeParam(9)) << "wrote past its blocks, n = " << n;
  }
}

TEST(Uniform, DistributionAndRange) {
  std::vector<double> u;
  for (std::uint32_t k = 0; k < 1000000; ++k) u.push_back(uniform(Rng{21, k, 3}, Purpose::accept));
  EXPECT_GT(*std::min_element(u.begin(), u.end()), 0);
  EXPECT_LT(*std::max_element(u.begin(), u.end()), 1);
  EXPECT_LT(kolmogorov(u, [](double p) { return p; }), 2.5);  // 7.5e-6
}

TEST(Uniform, IndexIsUniform) {
  // Chi-square with 6 and 999 degrees of freedom, z of its normal approximation below 5: below 1e-4.
  for (const std::uint32_t count : {7u, 1000u}) {
    std::vector<double> seen(count);
    const double asked = 700000;
    for (std::uint32_t k = 0; k < 700000; ++k) {
      const std::uint32_t i = uniform_index(Rng{22, 1, k}, Purpose::trajectory, k % 3, count);
      ASSERT_LT(i, count);
      seen[i] += 1;
    }
    double chi = 0;
    for (const double s : seen) chi += (s - asked / count) * (s - asked / count) / (asked / count);
    EXPECT_TRUE(statistical(chi, count - 1, std::sqrt(2.0 * (count - 1)), 5)) << count;
  }
}

}  // namespace
}  // namespace kilochain::testing_support
