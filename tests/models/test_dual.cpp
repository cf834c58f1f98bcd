// Duals against differences and closed forms, to second order.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/models/functions.hpp"

namespace kilochain {
namespace {

using testing_support::Each;

TEST(Dual, FirstDerivativesAreThoseOfDifferences) {
  Each::visit([](const char* name, double x, auto f) {
    Dual<double, 3> u(x);
    u.d[0] = 1, u.d[2] = -2;
    const auto y = f(u);
    const double h = 1e-5, slope = (f(x + h) - f(x - h)) / (2 * h);
    // Rounding of the difference, 4 eps |f| / h, and its own error, h^2 f'''/6 with |f'''| below 100.
    const double bound = 4 * 2.3e-16 * (1 + std::abs(f(x))) / h + 100 * h * h / 6;
    EXPECT_EQ(y.v, f(x)) << name;
    EXPECT_NEAR(y.d[0], slope, bound) << name;
    EXPECT_EQ(y.d[1], 0) << name;
    EXPECT_NEAR(y.d[2], -2 * y.d[0], 1e-14 * std::abs(y.d[0])) << name;
  });
}

TEST(Dual, SecondDerivativesAreDifferencesOfTheFirst) {
  Each::visit([](const char* name, double x, auto f) {
    using Second = Dual<Dual<double, 1>, 1>;
    const auto slope = [&](double at) {
      Dual<double, 1> u(at);
      u.d[0] = 1;
      return f(u).d[0];
    };
    Second u(x);
    u.v.d[0] = 1;
    u.d[0] = Dual<double, 1>(1.0);
    const Second y = f(u);
    const double h = 1e-5, bound = 4 * 2.3e-16 * (1 + std::abs(slope(x))) / h + 2000 * h * h / 6;
    EXPECT_NEAR(y.d[0].v, slope(x), 1e-13 * (1 + std::abs(slope(x)))) << name;
    EXPECT_NEAR(y.d[0].d[0], (slope(x + h) - slope(x - h)) / (2 * h), bound) << name;
  });
}

TEST(Dual, LargeArgumentsDoNotOverflow) {
  for (const double x : {-800.0, 800.0}) {
    Dual<double, 1> u(x);
    u.d[0] = 1;
    EXPECT_EQ(log1p_exp(u).v, x > 0 ? 800 : 0);
    EXPECT_EQ(log1p_exp(u).d[0], x > 0 ? 1 : 0);
    EXPECT_EQ(inv_logit(u).v, x > 0 ? 1 : 0);
    EXPECT_EQ(log_sum_exp(u, Dual<double, 1>(0.0)).v, x > 0 ? 800 : 0);
  }
}

TEST(Dual, DigammaAndTrigammaAtKnownPoints) {
  const double euler = 0.57721566490153286061, pi = 3.14159265358979323846, c = 20 * 2.3e-16;  // sums of up to 13 terms
  EXPECT_NEAR(digamma(1), -euler, c);
  EXPECT_NEAR(digamma(0.5), -euler - 2 * std::log(2.0), 2 * c);
  EXPECT_NEAR(digamma(10), 2.2517525890667211077, 2 * c);
  EXPECT_NEAR(digamma(-0.5), 2 - euler - 2 * std::log(2.0), 4 * c);
  EXPECT_NEAR(trigamma(1), pi * pi / 6, c);
  EXPECT_NEAR(trigamma(0.5), pi * pi / 2, 2 * c);
  EXPECT_NEAR(trigamma(-0.5), pi * pi / 2 + 4, 8 * c);
}

}  // namespace
}  // namespace kilochain
