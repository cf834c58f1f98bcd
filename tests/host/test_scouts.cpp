// How scouts come to the posterior: climbing from far out, no nearer than where the mass begins, and a metric from
// gradients about a few places, where there may be no density about them.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "host/learn/climb.hpp"
#include "host/learn/probes.hpp"
#include "tests/support/density.hpp"
#include "tests/support/stopped_target.hpp"

namespace kilochain {
namespace {

using testing_support::Density, testing_support::of_points, testing_support::Vector;

struct Top {
  Vector at;
  std::int64_t gradients;
};
Top top_of(const Density& density, const Vector& from) {
  std::vector<double> x(from.begin(), from.end());
  const std::atomic<bool> stop{false};
  const auto n = static_cast<Index>(x.size());
  const std::int64_t gradients = climb<double>(of_points(density, n), x, n, stop).gradients;
  return {Eigen::Map<const Vector>(x.data(), from.size()), gradients};
}

// 1000 standard deviations away in every coordinate; scales differ by up to 100.
TEST(Climb, ReachesAGaussiansMass) {
  for (const double widest : {1e-3, 1.0})
    for (const int n : {1, 2, 31, 65}) {
      Vector sd(n);
      for (int i = 0; i < n; ++i) sd[i] = widest * std::pow(0.01, n > 1 ? double(i) / (n - 1) : 0);
      const Density gaussian = {[&](const Vector& x) { return -x.cwiseQuotient(sd).squaredNorm() / 2; },
                                [&](const Vector& x) { return Vector(-x.cwiseQuotient(sd.cwiseAbs2())); }};
      const Top c = top_of(gaussian, 1000 * sd);
      EXPECT_LT(c.at.cwiseQuotient(sd).squaredNorm(), 1e3 * n) << n << " " << widest;  // 1e6 n at the start
    }
}

// A Poisson regression whose means begin near e^60: gradients fall by 26 orders of magnitude on the way.
TEST(Climb, ComesDownFromExponentials) {
  const int n = 4;
  const auto lp = [&](const Vector& x) {
    double sum = -0.005 * x.squaredNorm();
    for (int k = 0; k < 20; ++k) {
      const double eta = x.dot(Vector::LinSpaced(n, 1, std::pow(k / 19.0, 3)));
      sum += 5 * eta - std::exp(eta);
    }
    return sum;
  };
  const auto gradient = [&](const Vector& x) {
    Vector g = -0.01 * x;
    for (int k = 0; k < 20; ++k) {
      const Vector row = Vector::LinSpaced(n, 1, std::pow(k / 19.0, 3));
      g += (5 - std::exp(x.dot(row))) * row;
    }
    return g;
  };
  const Top c = top_of({lp, gradient}, Vector::Constant(n, 15));
  const double best = 20 * (5 * std::log(5) - 5);  // of any means
  EXPECT_GT(lp(c.at), best - 40);
}

// v ~ N(0, 3^2), x_i | v ~ N(0, e^v): the density has no bound as v falls and x_i are 0, where next to no mass is.
TEST(Climb, StaysOutOfAFunnelsNeck) {
  const int n = 20;
  const auto gradient = [&](const Vector& x) {
    Vector g(n);
    const double square = x.tail(n - 1).squaredNorm();
    g.tail(n - 1) = -x.tail(n - 1) * std::exp(-x[0]);
    g[0] = -x[0] / 9 + square * std::exp(-x[0]) / 2 - (n - 1) / 2.0;
    return g;
  };
  const auto lp = [&](const Vector& x) {
    return -x[0] * x[0] / 18 - x.tail(n - 1).squaredNorm() * std::exp(-x[0]) / 2 - (n - 1) * x[0] / 2;
  };
  const Top c = top_of({lp, gradient}, Vector::Ones(n));
  EXPECT_GT(c.at[0], -3);  // a standard deviation; the density rises by 9.5 for each unit further
}

TEST(Climb, StaysWhereThereIsNoGradient) {
  const Density none = {[](const Vector&) { return NAN; },
                        [](const Vector& x) { return Vector(Vector::Constant(x.size(), NAN)); }};
  const Top c = top_of(none, Vector::Ones(3));
  EXPECT_EQ(c.at, Vector::Ones(3));
  EXPECT_EQ(c.gradients, 1);
}

// A narrow mode in a wide one's slope, as high as it: gradients alone would lead out of it.
TEST(Climb, StaysInANarrowMode) {
  constexpr double sd = 1e-4;
  const auto parts = [](const Vector& x) {
    const double wide = -x.squaredNorm() / 2, narrow = 10 - (x - Vector::Ones(3)).squaredNorm() / (2 * sd * sd);
    return std::pair(std::exp(wide), std::exp(narrow));
  };
  const Density density = {[&](const Vector& x) { return std::log(parts(x).first + parts(x).second); },
                           [&](const Vector& x) {
                             const auto [wide, narrow] = parts(x);
                             return Vector((-wide * x - narrow * (x - Vector::Ones(3)) / (sd * sd)) / (wide + narrow));
                           }};
  for (const double away : {0.0, 0.5, 1.0}) {
    const Top c = top_of(density, Vector::Constant(3, 1 + away * sd));
    EXPECT_LT((c.at - Vector::Ones(3)).norm(), 4 * sd * std::sqrt(3)) << away;
  }
}

/// A covariance with strong correlations, and probes about the mean.
TEST(Probes, TellTheMetricOfAGaussian) {
  for (const Index n : {1, 2, 33, 65}) {
    Eigen::MatrixXd root = Eigen::MatrixXd::Identity(n, n);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < i; ++j) root(i, j) = std::sin(7.0 * i + 3.0 * j) / std::sqrt(n);
    root = Vector::LinSpaced(n, 0.01, 3).asDiagonal() * root;
    const Eigen::MatrixXd covariance = root * root.transpose(), precision = covariance.inverse();
    const auto gradients = of_points({{}, [&](const Vector& x) { return Vector(-precision * x); }}, n);
    std::vector<double> identity(n * n), place(n, 0.5);
    for (Index i = 0; i < n; ++i) identity[i * n + i] = 1;
    const std::vector<double> slope = gradients(place, nullptr);
    MetricLearner learner(n);
    add_probes<double>(gradients, identity, place, slope, 3 * n + 2, Rng{1, 2, 3}, learner);
    const std::vector<double> factor = learner.factor();
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::MatrixXd F = Eigen::Map<const RowMajor>(factor.data(), n, n),
                          whitened = root.inverse() * F * F.transpose() * root.inverse().transpose();
    // Differences over 1e-3 of a gradient's rounding; off-diagonals are shrunk by e^-27.
    EXPECT_LT((whitened - Eigen::MatrixXd::Identity(n, n)).norm(), 1e-5 * n) << n;
  }
}

/// Nearly uniform in a ball: a draw of any normal law about a place in it lies outside, where there is no density.
struct Ball {
  Eigen::Index dim() const { return 33; }
  double lp(const Eigen::VectorXd& x, Eigen::VectorXd& g) const {
    g = -0.02 * x;
    return x.norm() < 1 ? -0.01 * x.squaredNorm() : -INFINITY;
  }
};

TEST(Scouts, GoWhereNoDrawOfTheirMetricHasADensity) {
  const testing_support::StoppedTarget<Ball> target{};
  Options o = testing_support::options_of_mine(16);
  o.init = "normal:0.05", o.num_warmup = 100, o.num_samples = 20;
  EXPECT_EQ(testing_support::run_quietly(o).summary.quarantined, 0);
}

}  // namespace
}  // namespace kilochain
