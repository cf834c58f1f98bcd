// The Gaussian process against arithmetic by hand and by dense inverses, and its likeliest hyperparameters.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <numbers>

#include "host/tune/gaussian_process.hpp"
#include "kernels/random/draw.hpp"

namespace kilochain {
namespace {

double noise(std::uint32_t k, std::uint32_t j) {
  double z[2];
  normal_block(Rng{7, k, 0}.words(Purpose::proposal, j), z);
  return z[0];
}
std::vector<Point> points(std::size_t count, std::size_t dim) {
  std::vector<Point> out(count, Point(dim));
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < dim; ++j)
      out[i][j] = uniform(Rng{11, static_cast<std::uint32_t>(i), 0}, Purpose::start, static_cast<std::uint32_t>(j));
  return out;
}

/// One observation: mean m + k/(s^2 + n^2) (y - m), variance s^2 - k^2/(s^2 + n^2).
TEST(GaussianProcess, OneObservationByHand) {
  const Hyperparameters h{{0.5}, 2, 0.5, 1};
  for (const Covariance c : {Covariance::squared_exponential, Covariance::matern52}) {
    const GaussianProcess f(c, h, {{0.25}}, {3});
    const double r = 0.5 / 0.5, s5 = std::sqrt(5) * r;
    const double k =
        c == Covariance::squared_exponential ? 4 * std::exp(-0.5 * r * r) : 4 * (1 + s5 + s5 * s5 / 3) * std::exp(-s5);
    const auto p = f({0.75});
    const double eps = 1e-9;  // the ridge of 1e-10 signal^2, and 64 roundings
    EXPECT_NEAR(p.mean, 1 + k / 4.25 * 2, eps);
    EXPECT_NEAR(p.sd, std::sqrt(4 - k * k / 4.25), eps);
    EXPECT_NEAR(f.log_likelihood(), -0.5 * 4 / 4.25 - 0.5 * std::log(2 * std::numbers::pi * 4.25), eps);
  }
}

/// The textbook formulas with an inverse and a determinant in place of the factor.
TEST(GaussianProcess, ManyObservationsAgainstDenseInverses) {
  const std::size_t n = 33;
  const std::vector<Point> x = points(n, 2);
  std::vector<double> y;
  for (std::size_t i = 0; i < n; ++i)
    y.push_back(std::sin(5 * x[i][0]) + x[i][1] + 0.1 * noise(1, static_cast<std::uint32_t>(i)));
  const Hyperparameters h{{0.3, 0.7}, 1.5, 0.2, 0.4};
  const auto k = [&](const Point& a, const Point& b) {
    const double u = (a[0] - b[0]) / 0.3, v = (a[1] - b[1]) / 0.7;
    return 2.25 * std::exp(-0.5 * (u * u + v * v));
  };
  Eigen::MatrixXd m(n, n);
  Eigen::VectorXd residual(n);
  for (std::size_t i = 0; i < n; ++i) {
    residual[static_cast<Eigen::Index>(i)] = y[i] - 0.4;
    for (std::size_t j = 0; j < n; ++j)
      m(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = k(x[i], x[j]) + (i == j) * 0.04;
  }
  const Eigen::MatrixXd inverse = m.inverse();
  const GaussianProcess f(Covariance::squared_exponential, h, x, y);
  for (const Point& at : points(5, 2)) {
    Eigen::VectorXd kx(n);
    for (std::size_t i = 0; i < n; ++i) kx[static_cast<Eigen::Index>(i)] = k(at, x[i]);
    const auto p = f(at);
    // Condition about 33 * 2.25 / 0.04 = 2000; the ridge adds 1e-10 of it.
    EXPECT_NEAR(p.mean, 0.4 + kx.dot(inverse * residual), 1e-6);
    EXPECT_NEAR(p.sd * p.sd, 2.25 - kx.dot(inverse * kx), 1e-6);
  }
  EXPECT_NEAR(
      f.log_likelihood(),
      -0.5 * residual.dot(inverse * residual) - 0.5 * std::log(m.determinant()) - 16.5 * std::log(2 * std::numbers::pi),
      1e-6);
}

TEST(GaussianProcess, WithoutObservationsIsItsPrior) {
  const GaussianProcess f(Covariance::squared_exponential, {{1.0}, 2, 1, 0.5}, {}, {});
  EXPECT_EQ(f({0.3}).mean, 0.5);
  EXPECT_EQ(f({0.3}).sd, 2);
}

TEST(GaussianProcess, EqualPointsWithoutNoiseAreOne) {
  const GaussianProcess f(Covariance::squared_exponential, {{0.3}, 1, 0, 0}, {{0.5}, {0.5}}, {2, 2});
  EXPECT_NEAR(f({0.5}).mean, 2, 1e-4);
  EXPECT_NEAR(f({0.5}).sd, 0, 1e-4);
}

/// Data with one idle dimension and known noise: its length is long, the other's short, the noise about right (of 80
/// observations it has a standard error near 10 %: within a factor of 1.5 is beyond 4 of them).
TEST(Likeliest, FindsWhatMattersAndTheNoise) {
  const std::vector<Point> x = points(80, 2);
  std::vector<double> y;
  for (std::size_t i = 0; i < x.size(); ++i)
    y.push_back(100 + 10 * (std::sin(8 * x[i][0]) + 0.2 * noise(2, static_cast<std::uint32_t>(i))));
  for (const Covariance c : {Covariance::squared_exponential, Covariance::matern52}) {
    const Hyperparameters h = likeliest(c, x, y);
    EXPECT_GT(h.lengths[1], 2 * h.lengths[0]);
    EXPECT_GT(h.noise, 2 / 1.5);
    EXPECT_LT(h.noise, 2 * 1.5);
    const GaussianProcess best(c, h, x, y);
    for (const double factor : {0.5, 2.0}) {
      Hyperparameters other = h;
      other.lengths[0] *= factor;
      EXPECT_LT(GaussianProcess(c, other, x, y).log_likelihood(), best.log_likelihood());
    }
  }
}

TEST(Likeliest, BearsEqualScores) {
  const Hyperparameters h = likeliest(Covariance::squared_exponential, points(5, 3), {1, 1, 1, 1, 1});
  for (const double l : h.lengths) EXPECT_TRUE(std::isfinite(l));
  EXPECT_EQ(h.mean, 1);
}

}  // namespace
}  // namespace kilochain
