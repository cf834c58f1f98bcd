// The nearest normal law: of a Gaussian that law, of a skewed density nearly the one that a calculation gives; none of
// modes apart, of a narrow mode, or where there is no density.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "host/learn/normal_law.hpp"
#include "tests/support/density.hpp"

namespace kilochain {
namespace {

using testing_support::Density, testing_support::of_points, testing_support::Vector;
using Points = std::vector<std::vector<double>>;

/// From 16 points about (at, ..., at), and scales as far as these are apart.
NormalLaw<double> law_of(const Density& density, Index n, double at = 0, double apart = 1) {
  const GradientsAt<double> gradients = of_points(density, n);
  std::vector<double> x, factor(static_cast<std::size_t>(n * n));
  for (int k = 0; k < 16 * n; ++k) x.push_back(at + apart * std::sin(1.0 + 1.7 * k));
  for (Index i = 0; i < n; ++i) factor[i * n + i] = apart;
  return normal_law<double>(gradients, x, factor, n, Rng{3, 0, 0}, std::atomic<bool>(false));
}

/// Of all draws of coordinate i.
std::pair<double, double> mean_and_variance(const Points& points, Index n, Index i) {
  double sum = 0, squares = 0, count = 0;
  for (const auto& draws : points)
    for (std::size_t k = i; k < draws.size(); k += n) sum += draws[k], squares += draws[k] * draws[k], ++count;
  return {sum / count, squares / count - sum / count * sum / count};
}

TEST(NormalLaw, OfAGaussianIsThat) {
  for (const Index n : {1, 2, 31, 65}) {
    Eigen::MatrixXd root = Eigen::MatrixXd::Identity(n, n);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < i; ++j) root(i, j) = std::sin(7.0 * i + 3.0 * j) / std::sqrt(n);
    root = Vector::LinSpaced(n, -3, 2).unaryExpr([](double v) { return std::pow(10, v); }).asDiagonal() * root;
    const Eigen::MatrixXd precision = (root * root.transpose()).inverse();
    const Density normal = {[&](const Vector& x) { return -x.dot(precision * x) / 2; },
                            [&](const Vector& x) { return Vector(-precision * x); }};
    const NormalLaw<double> law = law_of(normal, n);
    ASSERT_TRUE(law.start.fits) << n;
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::MatrixXd whitened = root.inverse() * Eigen::Map<const RowMajor>(law.start.factor.data(), n, n);
    EXPECT_LT((whitened * whitened.transpose() - Eigen::MatrixXd::Identity(n, n)).norm(), 0.02 * std::sqrt(n)) << n;
    EXPECT_GT(*std::ranges::min_element(law.agreement), 0.99) << n;
    ASSERT_EQ(law.start.points.size(), 16u);
    // Draws are about the mean exactly, but for how far the metric is from their scale after one round.
    EXPECT_LT(std::abs(mean_and_variance(law.start.points, n, 0).first), 0.2 * root(0, 0)) << n;
  }
}

// log density x - e^x of each coordinate. Over N(m, s^2) the mean gradient is 1 - e^(m + s^2/2); Fisher's divergence
// wants Var(g) s^2 = 1, which is (e^(s^2) - 1) s^2 = 1: s^2 = 0.8066 and m = -s^2/2. At the mode they are 1 and 0.
TEST(NormalLaw, OfASkewedDensityIsTheNearest) {
  const Density skewed = {[](const Vector& x) { return (x.array() - x.array().exp()).sum(); },
                          [](const Vector& x) { return Vector(1 - x.array().exp()); }};
  const double nearest = 0.8066;
  for (const Index n : {3, 33}) {
    const NormalLaw<double> law = law_of(skewed, n, -2);
    ASSERT_TRUE(law.start.fits) << n;
    double mean = 0, square = 0;
    for (Index i = 0; i < n; ++i) {
      mean += mean_and_variance(law.start.points, n, i).first / n;
      square += law.start.factor[i * n + i] * law.start.factor[i * n + i] / n;
    }
    // It ends where a round changes little: half a standard deviation away, or less.
    EXPECT_NEAR(mean, -nearest / 2, 0.5 * std::sqrt(nearest)) << n;
    EXPECT_NEAR(square, nearest, 0.25) << n;
  }
}

/// All but a share of N(0, I); that share in N(at, width^2 I).
Density two(double share, double at, double width) {
  const auto parts = [=](const Vector& x) {
    const double n = static_cast<double>(x.size());
    return std::pair(std::log(1 - share) - x.squaredNorm() / 2,
                     std::log(share) - n * std::log(width) - (x.array() - at).square().sum() / (2 * width * width));
  };
  return {[=](const Vector& x) {
            const auto [a, b] = parts(x);
            return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
          },
          [=](const Vector& x) {
            const auto [a, b] = parts(x);
            const double of_b = 1 / (1 + std::exp(a - b));
            return Vector(-(1 - of_b) * x.array() - of_b * (x.array() - at) / (width * width));
          }};
}

TEST(NormalLaw, FitsNoTwoModes) { EXPECT_FALSE(law_of(two(0.5, 10, 1), 3, 5, 8).start.fits); }

// One point of sixteen stands in a mode with half of the mass. Scales do not know how narrow it is.
TEST(NormalLaw, FitsNoNarrowMode) {
  const Index n = 5;
  for (const double width : {0.1, 0.01, 1e-6}) {
    std::vector<double> x, factor(static_cast<std::size_t>(n * n));
    for (int k = 0; k < 16 * n; ++k) x.push_back(k < n ? 1 : std::sin(1.0 + 1.7 * k));
    for (Index i = 0; i < n; ++i) factor[i * n + i] = 1;
    const NormalLaw<double> law =
        normal_law<double>(of_points(two(0.5, 1, width), n), x, factor, n, Rng{3, 0, 0}, std::atomic<bool>(false));
    EXPECT_FALSE(law.start.fits) << width;
  }
}

// Three of sixteen stand in a mode 500 below.
TEST(NormalLaw, LeavesPointsFarBelowBehind) {
  const auto part = [](const Vector& x, double at) { return -(x.array() - at).square().sum() / 2; };
  const Density modes = {
      [=](const Vector& x) { return std::max(part(x, 0), part(x, 40) - 500); },
      [=](const Vector& x) { return Vector((part(x, 0) > part(x, 40) - 500 ? 0.0 : 40.0) - x.array()); }};
  std::vector<double> x;
  for (int k = 0; k < 48; ++k) x.push_back((k / 3 % 5 == 2 ? 40 : 0) + std::sin(1.0 + 1.7 * k));
  const NormalLaw<double> law = normal_law<double>(of_points(modes, 3), x, {1, 0, 0, 0, 1, 0, 0, 0, 1}, 3, Rng{3, 0, 0},
                                                   std::atomic<bool>(false));
  ASSERT_TRUE(law.start.fits);
  EXPECT_EQ(law.start.left, (std::vector<Index>{2, 7, 12}));
  EXPECT_NEAR(law.start.left_below, 500, 5);
  EXPECT_EQ(law.start.points.size(), 13u);
}

TEST(NormalLaw, FitsNothingWithoutADensity) {
  const Density none = {[](const Vector&) { return NAN; },
                        [](const Vector& x) { return Vector(Vector::Constant(x.size(), NAN)); }};
  EXPECT_FALSE(law_of(none, 3).start.fits);
}

}  // namespace
}  // namespace kilochain
