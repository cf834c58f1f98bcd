// Densities integrate to one; discrete ones sum to one; derivatives in every place come through.
#include <gtest/gtest.h>

#include <cmath>

#include "model/densities.hpp"

namespace kilochain {
namespace {

/// Integral of exp(lp) over (low, high) by tanh-sinh quadrature (Takahasi and Mori 1974), 400 points: error below 1e-10
/// for what is smooth inside, singular ends included.
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
  EXPECT_NEAR(over_line([](double x) { return logistic_lp(x, 0.3, 0.8); }), 1, quadrature);
  EXPECT_NEAR(over_line([](double x) { return skew_normal_lp(x, 0.3, 0.8, -2.5); }), 1, quadrature);
  EXPECT_NEAR(over_half_line([](double x) { return log_sum_exp(laplace_lp(x, 0.0, 0.8), laplace_lp(-x, 0.0, 0.8)); }),
              1, quadrature);
  EXPECT_NEAR(over_half_line([](double x) { return weibull_lp(x, 2.5, 1.7); }), 1, quadrature);
  for (const double kappa : {0.0, 0.3, 5.0, 29.0, 31.0, 400.0})
    EXPECT_NEAR(integral(-3.14159265358979324, 0, [&](double x) { return log_2 + von_mises_lp(x, 0.0, kappa); }), 1,
                quadrature)
        << kappa;
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
  double negative_binomial = 0;
  for (int y = 0; y < 2000; ++y) negative_binomial += std::exp(neg_binomial_2_log_lp(y, std::log(7.5), 1.3));
  EXPECT_NEAR(negative_binomial, 1, 2000 * 2.3e-16 * 10);
  EXPECT_NEAR(poisson, 1, 200 * 2.3e-16 * 10);
  EXPECT_NEAR(binomial, 1, 13 * 2.3e-16 * 10);
  EXPECT_NEAR(std::exp(bernoulli_logit_lp(1, 0.7)) + std::exp(bernoulli_logit_lp(0, 0.7)), 1, 4 * 2.3e-16);
}

/// scipy.stats 1.17.1: nbinom, vonmises, weibull_min, skewnorm, laplace, logistic; scipy.special: i0e, i1e, log_ndtr.
TEST(Densities, AreThoseOfScipy) {
  const auto near = [](double ours, double scipy) { EXPECT_NEAR(ours, scipy, 100 * 2.3e-16 * (1 + std::abs(scipy))); };
  near(neg_binomial_2_log_lp(3, 0.7, 2.5), -2.0171104562984494);
  near(neg_binomial_2_log_lp(0, -3.0, 0.8), -0.048299266105280965);
  near(von_mises_lp(0.4, 0.1, 1.5), -0.9036597004365525);
  near(von_mises_lp(0.4, 0.1, 50.0), -1.1986281120008493);
  EXPECT_NEAR(von_mises_lp(0.2, 0.1, 800.0), -1.5734567947337519, 800 * 2.3e-16 * 2);  // of 800 cos - log I0
  near(log_bessel_i0(30.0), 27.384701433171937);
  near(log_bessel_i0(31.0), 28.368167462366415);
  near(bessel_i1_over_i0(29.9), 0.9831328332658058);
  near(bessel_i1_over_i0(30.1), 0.983245897153711);
  near(weibull_lp(1.3, 2.2, 0.9), -0.9105612755436094);
  near(skew_normal_lp(0.3, 0.1, 2.0, 1.5), -1.5044399537940425);
  near(log_erfc(40 / std::sqrt(2.0)), -803.915294833194);
  near(log_erfc(28.4 / std::sqrt(2.0)), -406.8534165115107);
  near(laplace_lp(0.3, 1.1, 0.7), -1.4793293794783557);
  near(logistic_lp(0.3, 1.1, 0.7), -1.3397882542187998);
  near(logistic_lp(1.9, 1.1, 0.7), -1.3397882542187998);
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
  check("logistic x", 0.2, [](auto x) { return logistic_lp(x, 0.3, 0.8); });
  check("laplace scale", 0.8, [](auto s) { return laplace_lp(0.2, 0.3, s); });
  check("weibull x", 0.8, [](auto x) { return weibull_lp(x, 2.5, 1.7); });
  check("weibull shape", 1.8, [](auto a) { return weibull_lp(0.9, a, 1.7); });
  check("skew normal x", 0.8, [](auto x) { return skew_normal_lp(x, 0.1, 0.8, -2.5); });
  check("skew normal shape", -1.5, [](auto a) { return skew_normal_lp(0.3, 0.1, 0.8, a); });
  check("von Mises concentration", 1.5, [](auto k) { return von_mises_lp(0.3, 0.1, k); });
  check("von Mises large concentration", 35.0, [](auto k) { return von_mises_lp(0.3, 0.1, k); });
  check("negative binomial mean", 1.5, [](auto m) { return neg_binomial_2_log_lp(4, m, 2.5); });
  check("negative binomial precision", 2.5, [](auto k) { return neg_binomial_2_log_lp(4, 0.3, k); });
  check("binomial", 0.2, [](auto l) { return binomial_logit_lp(3, 7, l); });
}

}  // namespace
}  // namespace kilochain
