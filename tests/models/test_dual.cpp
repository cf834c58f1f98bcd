// Duals against differences and closed forms, to second order.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "model/dual.hpp"

namespace kilochain {
namespace {

/// Every function of the header, as a template, with a point where it is smooth.
struct Each {
  template <class F>
  static void visit(F&& f) {
    f(
        "exp", [](auto x) { return exp(x); }, 0.7);
    f(
        "expm1", [](auto x) { return expm1(x); }, -0.3);
    f(
        "log", [](auto x) { return log(x); }, 1.7);
    f(
        "log1p", [](auto x) { return log1p(x); }, 0.4);
    f(
        "sqrt", [](auto x) { return sqrt(x); }, 2.3);
    f(
        "sin", [](auto x) { return sin(x); }, 0.9);
    f(
        "cos", [](auto x) { return cos(x); }, 0.9);
    f(
        "tan", [](auto x) { return tan(x); }, 0.4);
    f(
        "atan", [](auto x) { return atan(x); }, -1.2);
    f(
        "tanh", [](auto x) { return tanh(x); }, 0.6);
    f(
        "erf", [](auto x) { return erf(x); }, 0.3);
    f(
        "lgamma", [](auto x) { return lgamma(x); }, 3.6);
    f(
        "lgamma at small x", [](auto x) { return lgamma(x); }, 0.4);
    f(
        "lgamma below 0", [](auto x) { return lgamma(x); }, -0.4);
    f(
        "fabs", [](auto x) { return fabs(x); }, -0.8);
    f(
        "pow to a number", [](auto x) { return pow(x, 2.5); }, 1.3);
    f(
        "pow to a dual", [](auto x) { return pow(x, x); }, 1.3);
    f(
        "log1p_exp", [](auto x) { return log1p_exp(x); }, 1.1);
    f(
        "log1p_exp below 0", [](auto x) { return log1p_exp(x); }, -1.1);
    f(
        "inv_logit", [](auto x) { return inv_logit(x); }, 0.8);
    f(
        "inv_logit below 0", [](auto x) { return inv_logit(x); }, -0.8);
    f(
        "log_inv_logit", [](auto x) { return log_inv_logit(x); }, 0.8);
    f(
        "log_sum_exp", [](auto x) { return log_sum_exp(x, decltype(x)(2.0 * x)); }, 0.5);
    f(
        "arithmetic", [](auto x) { return (1.0 - x) / (2.0 + x * x) - x / 3.0 + 2.0 / x - (x - 1.0) * x * 4.0 + (-x); },
        0.6);
  }
};

TEST(Dual, FirstDerivativesAreThoseOfDifferences) {
  Each::visit([](const char* name, auto f, double x) {
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
  Each::visit([](const char* name, auto f, double x) {
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
