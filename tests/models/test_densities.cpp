// Densities integrate to one; discrete ones sum to one; derivatives in every place come through.
#include <gtest/gtest.h>

#include <cmath>

#include "model/densities.hpp"

namespace kilochain {
namespace {

/// Integral of exp(lp) over (low, high) by tanh-sinh quadrature (Takahasi and Mori 1974), 400 points: error below 1e-10 for
/// what is smooth inside, singular ends included.
template <class F>
double integral(double low, double high, F&& lp) {
  double sum = 0;
  const double step = 0.02;
  for (int k = -200; k <= 200; ++k) {
    const double t = step * k, s = 1.57079632679489662 * std::sinh(t),
                 weight = 1.57079632679489662 * std::cosh(t) / (std::cosh(s) * std::cosh(s));
    const double from_end = (high - low) / (1 + std::exp(2 * std::abs(s)));
    const double x = s < 0 ? low + from_end : high - from_end;
    if (x > low && x < high && weight > 0) sum += step * weight * (high - low) / 2 * std::exp(lp(x));
  }
  return sum;
}
/// Over the whole line, through x = tan v.
template <class F>
double over_line(F&& lp) {
  return integral(-1.57079632679489662, 1.57079632679489662,
                  [&](double v) { return lp(std::tan(v)) - 2 * std::log(std::cos(v)); });
}
/// Over x > 0, through x = v / (1 - v).
template <class F>
double over_half_line(F&& lp) {
  return integral(0, 1, [&](double v) { return lp(v / (1 - v)) - 2 * std::log1p(-v); });
}

constexpr double quadrature = 1e-9;

TEST(Densities, IntegrateToOne) {
  EXPECT_NEAR(over_line([](double x) { return normal_lp(x, 0.5, 1.5); }), 1, quadrature);
  EXPECT_NEAR(over_line([](double x) { return cauchy_lp(x, -0.5, 2.0); }), 1, quadrature);
  EXPECT_NEAR(over_line([](double x) { return student_t_lp(x, 3.5, 0.3, 0.8); }), 1, quadrature);
  EXPECT_NEAR(over_half_line([](double x) { return half_normal_lp(x, 1.5); }), 1, quadrature);
  EXPECT_NEAR(over_half_line([](double x) { return half_cauchy_lp(x, 2.5); }), 1, quadrature);
  EXPECT_NEAR(over_half_line([](double x) { return lognormal_lp(x, 0.2, 0.7); }), 1, quadrature);
  EXPECT_NEAR(over_half_line([](double x) { return exponential_lp(x, 1.3); }), 1, quadrature);
  EXPECT_NEAR(over_half_line([](double x) { return gamma_lp(x, 2.5, 1.7); }), 1, quadrature);
  EXPECT_NEAR(over_half_line([](double x) { return inv_gamma_lp(x, 2.5, 1.7); }), 1, quadrature);
  EXPECT_NEAR(integral(0, 1, [](double x) { return beta_lp(x, 2.5, 1.5); }), 1, quadrature);
  EXPECT_NEAR(integral(2, 5, [](double x) { return uniform_lp(x, 2, 5); }), 1, quadrature);
  EXPECT_NEAR(integral(0, 1,
                       [](double a) {
                         return std::log(integral(0, 1 - a, [&](double b) {
                           const double p[] = {a, b, 1 - a - b}, alpha[] = {2.0, 1.5, 3.0};
                           return dirichlet_lp<3>(p, alpha);
                         }));
                       }),
              1, 10 * quadrature);
}

TEST(Densities, SumToOne) {
  double poisson = 0, binomial = 0;
  for (int y = 0; y < 200; ++y) poisson += std::exp(poisson_log_lp(y, std::log(7.5)));
  for (int y = 0; y <= 12; ++y) binomial += std::exp(binomial_logit_lp(y, 12, -0.4));
  EXPECT_NEAR(poisson, 1, 200 * 2.3e-16 * 10);
  EXPECT_NEAR(binomial, 1, 13 * 2.3e-16 * 10);
  EXPECT_NEAR(std::exp(bernoulli_logit_lp(1, 0.7)) + std::exp(bernoulli_logit_lp(0, 0.7)), 1, 4 * 2.3e-16);
}

TEST(Densities, OutsideTheSupport) {
  EXPECT_EQ(half_normal_lp(-0.1, 1.0), -INFINITY);
  EXPECT_EQ(half_cauchy_lp(-0.1, 1.0), -INFINITY);
  EXPECT_EQ(exponential_lp(-0.1, 1.0), -INFINITY);
  EXPECT_EQ(uniform_lp(1.1, 0.0, 1.0), -INFINITY);
}

TEST(Densities, DerivativesInEveryPlace) {
  using D = Dual<double, 1>;
  const auto seeded = [](double v) {
    D out(v);
    out.d[0] = 1;
    return out;
  };
  const double h = 1e-5, bound = 1e-8;  // rounding 4 eps |f| / h = 1e-10 |f|, and h^2 f'''/6 with |f'''| below 600
  const auto check = [&](const char* name, double x, auto f) {
    EXPECT_NEAR(f(seeded(x)).d[0], (value_of(f(D(x + h))) - value_of(f(D(x - h)))) / (2 * h), bound) << name;
  };
  check("normal sd", 1.2, [](auto s) { return normal_lp(0.4, 0.1, s); });
  check("normal mean", 1.2, [](auto m) { return normal_lp(0.4, m, 2.0); });
  check("cauchy scale", 1.2, [](auto s) { return cauchy_lp(0.4, 0.1, s); });
  check("student freedom", 4.2, [](auto n) { return student_t_lp(0.4, n, 0.1, 2.0); });
  check("gamma shape", 2.2, [](auto a) { return gamma_lp(0.4, a, 2.0); });
  check("inverse gamma scale", 2.2, [](auto b) { return inv_gamma_lp(0.4, 1.5, b); });
  check("beta a", 2.2, [](auto a) { return beta_lp(0.4, a, 2.0); });
  check("lognormal x", 2.2, [](auto x) { return lognormal_lp(x, 0.3, 2.0); });
  check("poisson", 0.2, [](auto l) { return poisson_log_lp(3, l); });
  check("binomial", 0.2, [](auto l) { return binomial_logit_lp(3, 7, l); });
}

}  // namespace
}  // namespace kilochain
