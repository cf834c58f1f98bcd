// Where a normal law fits, chains begin at its draws: of Gaussians of any scales, and of a law that is nearly one; not
// in a funnel, between modes, where some climbs ended far from the others, or where there is no density.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "host/learn/normal_start.hpp"
#include "tests/support/density.hpp"

namespace kilochain {
namespace {

using testing_support::Density, testing_support::of_points, testing_support::Vector;

/// From 16 points about (at, ..., at).
NormalStart<double> start_of(const Density& density, Index n, double at = 0) {
  const GradientsAt<double> gradients = of_points(density, n);
  std::vector<double> x;
  for (int k = 0; k < 16 * n; ++k) x.push_back(at + std::sin(1.0 + 1.7 * k));
  const std::atomic<bool> stop{false};
  const Climbed<double> way = climb<double>(gradients, x, n, stop);
  return normal_start<double>(gradients, x, way, n, Rng{3, 0, 0}, stop);
}

/// N(mean, root root^T).
Density normal(const Vector& mean, const Eigen::MatrixXd& root) {
  const Eigen::MatrixXd precision = (root * root.transpose()).inverse();
  return {[=](const Vector& x) { return -(x - mean).dot(precision * (x - mean)) / 2; },
          [=](const Vector& x) { return Vector(-precision * (x - mean)); }};
}

TEST(NormalStart, FitsAGaussian) {
  for (const Index n : {1, 2, 31, 65}) {
    Eigen::MatrixXd root = Eigen::MatrixXd::Identity(n, n);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < i; ++j) root(i, j) = std::sin(7.0 * i + 3.0 * j) / std::sqrt(n);
    const Vector scales = Vector::LinSpaced(n, -3, 2).unaryExpr([](double v) { return std::pow(10, v); });
    root = scales.asDiagonal() * root;
    const Vector mean = 5 * scales;
    const NormalStart<double> start = start_of(normal(mean, root), n);
    ASSERT_TRUE(start.fits) << n;
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::Map<const RowMajor> F(start.factor.data(), n, n);
    const Eigen::MatrixXd whitened = root.inverse() * F;
    EXPECT_LT((whitened * whitened.transpose() - Eigen::MatrixXd::Identity(n, n)).norm(), 0.02 * std::sqrt(n)) << n;
    ASSERT_EQ(start.points.size(), 16u);
    Vector sum = Vector::Zero(n), squares = sum;
    double count = 0;
    for (const auto& points : start.points)
      for (std::size_t k = 0; k < points.size(); k += static_cast<std::size_t>(n), ++count) {
        const Vector z = root.inverse() * (Eigen::Map<const Vector>(points.data() + k, n) - mean);
        sum += z, squares += z.cwiseAbs2();
      }
    EXPECT_LT((sum / count).squaredNorm(), 0.1 * n) << n;  // the last step to the modes is not looked at
    // Of 99 values none is beyond 4.5 standard errors: false alarm 0.0007.
    EXPECT_LT((squares / count - Vector::Ones(n)).cwiseAbs().maxCoeff(), 4.5 * std::sqrt(2 / count)) << n;
  }
}

// A logistic regression of few data: its law is skewed a little.
TEST(NormalStart, FitsWhatIsNearlyNormal) {
  const Index n = 5;
  const auto row = [&](int k) {
    return Vector(Vector::NullaryExpr(n, [=](Index i) { return std::sin(1.3 * k * (i + 1)); }));
  };
  const Density logistic = {[=](const Vector& x) {
                              double lp = -x.squaredNorm() / 20;
                              for (int k = 0; k < 100; ++k)
                                lp += (k % 2) * x.dot(row(k)) - std::log1p(std::exp(x.dot(row(k))));
                              return lp;
                            },
                            [=](const Vector& x) {
                              Vector g = -x / 10;
                              for (int k = 0; k < 100; ++k)
                                g += ((k % 2) - 1 / (1 + std::exp(-x.dot(row(k))))) * row(k);
                              return g;
                            }};
  EXPECT_TRUE(start_of(logistic, n).fits);
  EXPECT_TRUE(start_of(logistic, n, 30).fits);  // the density is all but linear there
}

TEST(NormalStart, FitsNoFunnel) {
  const Index n = 10;
  const Density funnel = {[=](const Vector& x) {
                            return -x[0] * x[0] / 18 - x.tail(n - 1).squaredNorm() * std::exp(-x[0]) / 2 -
                                   (n - 1) * x[0] / 2;
                          },
                          [=](const Vector& x) {
                            Vector g(n);
                            g.tail(n - 1) = -x.tail(n - 1) * std::exp(-x[0]);
                            g[0] = -x[0] / 9 + x.tail(n - 1).squaredNorm() * std::exp(-x[0]) / 2 - (n - 1) / 2.0;
                            return g;
                          }};
  for (const double at : {-2.0, 0.0, 2.0}) EXPECT_FALSE(start_of(funnel, n, at).fits) << at;
}

TEST(NormalStart, FitsNoTwoModes) {
  for (const double apart : {3.0, 10.0}) {
    const auto parts = [=](const Vector& x) {
      Vector to = x;
      to[0] -= apart / 2;
      const double one = std::exp(-to.squaredNorm() / 2);
      to[0] += apart;
      return std::pair(one, std::exp(-to.squaredNorm() / 2));
    };
    const Density modes = {[=](const Vector& x) { return std::log(parts(x).first + parts(x).second); },
                           [=](const Vector& x) {
                             const auto [one, other] = parts(x);
                             Vector g = -x;
                             g[0] += apart / 2 * (one - other) / (one + other);
                             return g;
                           }};
    EXPECT_FALSE(start_of(modes, 3).fits) << apart;
  }
}

// Three of sixteen climbs end in a mode 500 below; in one 10 below scouts have to look.
TEST(NormalStart, LeavesClimbsFarBelowBehind) {
  for (const double below : {500.0, 10.0}) {
    const auto part = [](const Vector& x, double at) { return -(x.array() - at).square().sum() / 2; };
    const Density modes = {
        [=](const Vector& x) { return std::max(part(x, 0), part(x, 40) - below); },
        [=](const Vector& x) { return Vector((part(x, 0) > part(x, 40) - below ? 0.0 : 40.0) - x.array()); }};
    const GradientsAt<double> gradients = of_points(modes, 3);
    std::vector<double> x;
    for (int k = 0; k < 48; ++k) x.push_back((k / 3 % 5 == 2 ? 40 : 0) + std::sin(1.0 + 1.7 * k));
    const std::atomic<bool> stop{false};
    const Climbed<double> way = climb<double>(gradients, x, 3, stop);
    const NormalStart<double> start = normal_start<double>(gradients, x, way, 3, Rng{3, 0, 0}, stop);
    EXPECT_EQ(start.fits, below > 100);
    if (!start.fits) continue;
    EXPECT_EQ(start.left, (std::vector<Index>{2, 7, 12}));
    EXPECT_NEAR(start.left_below, below, 1e-6);
    EXPECT_EQ(start.points.size(), 13u);
  }
}

TEST(NormalStart, FitsNothingWithoutADensity) {
  const Density none = {[](const Vector&) { return NAN; },
                        [](const Vector& x) { return Vector(Vector::Constant(x.size(), NAN)); }};
  EXPECT_FALSE(start_of(none, 3).fits);
}

}  // namespace
}  // namespace kilochain
