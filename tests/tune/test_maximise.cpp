// Expected improvement against quadrature and far into its tail; DIRECT on functions whose maxima are known.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "host/tune/gaussian_process.hpp"
#include "host/tune/maximise.hpp"

namespace kilochain {
namespace {

/// Of (f - best) over f > best: the midpoint rule, whose error at this step is below 1e-7 of the result.
double by_quadrature(double mean, double sd, double best) {
  const double top = std::max(best, mean) + 12 * sd, step = (top - best) / 400000;
  double sum = 0;
  for (int k = 0; k < 400000; ++k) {
    const double f = best + (k + 0.5) * step, z = (f - mean) / sd;
    sum += (f - best) * std::exp(-0.5 * z * z);
  }
  return sum * step / (sd * std::sqrt(2 * std::numbers::pi));
}

TEST(ExpectedImprovement, EqualsItsIntegral) {
  for (const double z : {-8.0, -3.0, -1.01, -0.99, -0.3, 0.0, 0.7, 4.0, 20.0})
    for (const double sd : {0.01, 1.0, 300.0}) {
      const double ei = std::exp(log_expected_improvement(5 + z * sd, sd, 5)),
                   integral = by_quadrature(5 + z * sd, sd, 5);
      EXPECT_NEAR(ei / integral, 1, 1e-6) << "z = " << z << ", sd = " << sd;
    }
}

/// phi(z)/z^2 (1 - 3/z^2 + 15/z^4 - ...): the first term left out bounds the error.
TEST(ExpectedImprovement, KeepsItsSlopeFarFromEveryPromise) {
  for (const double t : {20.0, 60.0, 1000.0}) {
    const double log_phi = -0.5 * t * t - 0.5 * std::log(2 * std::numbers::pi), t2 = t * t;
    EXPECT_NEAR(log_expected_improvement(-t, 1, 0), log_phi - std::log(t2) + std::log1p(-3 / t2 + 15 / (t2 * t2)),
                105 / (t2 * t2 * t2) + 4e-16 * t2);
  }
  EXPECT_LT(log_expected_improvement(-1001, 1, 0), log_expected_improvement(-1000, 1, 0));
}

TEST(ExpectedImprovement, WithoutUncertaintyIsThePositivePart) {
  EXPECT_EQ(std::exp(log_expected_improvement(3, 0, 1)), 2);
  EXPECT_EQ(std::exp(log_expected_improvement(1, 0, 3)), 0);
}

/// DIRECT trisects: after a few hundred evaluations a side near the maximum is about 3^-5.
TEST(Direct, FindsKnownMaxima) {
  const auto sphere = [](const Point& x) {
    double sum = 0;
    for (std::size_t j = 0; j < x.size(); ++j) sum -= std::pow(x[j] - 0.2 - 0.1 * static_cast<double>(j), 2);
    return sum;
  };
  for (const std::size_t dim : {1u, 2u, 3u}) {
    const Maximum m = maximise_direct(sphere, dim, 500 * static_cast<int>(dim));
    for (std::size_t j = 0; j < dim; ++j) EXPECT_NEAR(m.x[j], 0.2 + 0.1 * static_cast<double>(j), 0.01) << dim;
    EXPECT_EQ(m.value, sphere(m.x));
  }
  // The higher of two hills, and far the narrower one: a climber from the middle goes to the other.
  const auto hills = [](const Point& x) {
    const auto hill = [&](double a, double b, double width) {
      return std::exp(-(std::pow(x[0] - a, 2) + std::pow(x[1] - b, 2)) / (2 * width * width));
    };
    return hill(0.6, 0.55, 0.3) + 1.5 * hill(0.12, 0.87, 0.05);
  };
  const Maximum m = maximise_direct(hills, 2, 1000);
  EXPECT_NEAR(m.x[0], 0.12, 0.01);
  EXPECT_NEAR(m.x[1], 0.87, 0.01);
}

/// Branin's function has three minima of 0.397887.
TEST(Direct, FindsBranin) {
  const auto branin = [](const Point& u) {
    const double x = -5 + 15 * u[0], y = 15 * u[1], pi = std::numbers::pi;
    return -(std::pow(y - 5.1 / (4 * pi * pi) * x * x + 5 / pi * x - 6, 2) + 10 * (1 - 1 / (8 * pi)) * std::cos(x) +
             10);
  };
  EXPECT_NEAR(maximise_direct(branin, 2, 1000).value, -0.397887, 0.01);
}

TEST(Direct, BearsWhatIsNoNumber) {
  const auto f = [](const Point& x) { return x[0] < 0.5 ? std::nan("") : -std::abs(x[0] - 0.8); };
  EXPECT_NEAR(maximise_direct(f, 1, 200).x[0], 0.8, 0.01);
}

}  // namespace
}  // namespace kilochain
