// Log densities of the usual distributions, normalised, for numbers and duals in any place; names and parameters are
// Stan's (normal: standard deviation; gamma: shape and rate; inv_gamma: shape and scale). Outside the support:
// -infinity, or NaN where a logarithm has none; both reject. Constants that only data enter are computed too:
// lp is comparable between models.
#pragma once
#include <limits>

#include "model/var.hpp"

namespace kilochain {

inline constexpr double log_2pi = 1.8378770664093454836, log_pi = 1.1447298858494001741, log_2 = 0.69314718055994530942;
inline constexpr double outside = -std::numeric_limits<double>::infinity();

template <class X, class M, class S>
KC_INLINE auto normal_lp(const X& x, const M& mean, const S& sd) {
  return in_one_node(
      [](auto x, auto mean, auto sd) { return -0.5 * square((x - mean) / sd) - log(sd) - 0.5 * log_2pi; }, x, mean, sd);
}
/// x >= 0; a normal of mean 0 folded there.
template <class X, class S>
KC_INLINE auto half_normal_lp(const X& x, const S& sd) {
  return in_one_node([](auto x, auto sd) { return normal_lp(x, 0.0, sd) + (value_of(x) < 0 ? outside : log_2); }, x,
                     sd);
}
template <class X, class M, class S>
KC_INLINE auto cauchy_lp(const X& x, const M& location, const S& scale) {
  return in_one_node(
      [](auto x, auto location, auto scale) { return -log1p(square((x - location) / scale)) - log(scale) - log_pi; }, x,
      location, scale);
}
template <class X, class S>
KC_INLINE auto half_cauchy_lp(const X& x, const S& scale) {
  return in_one_node([](auto x, auto scale) { return cauchy_lp(x, 0.0, scale) + (value_of(x) < 0 ? outside : log_2); },
                     x, scale);
}
template <class X, class N, class M, class S>
KC_INLINE auto student_t_lp(const X& x, const N& freedom, const M& location, const S& scale) {
  return in_one_node(
      [](auto x, auto freedom, auto location, auto scale) {
        return lgamma(0.5 * (freedom + 1.0)) - lgamma(0.5 * freedom) - 0.5 * (log(freedom) + log_pi) - log(scale) -
               0.5 * (freedom + 1.0) * log1p(square((x - location) / scale) / freedom);
      },
      x, freedom, location, scale);
}
template <class X, class M, class S>
KC_INLINE auto lognormal_lp(const X& x, const M& mean_log, const S& sd_log) {
  return in_one_node([](auto x, auto mean_log, auto sd_log) { return normal_lp(log(x), mean_log, sd_log) - log(x); }, x,
                     mean_log, sd_log);
}
template <class X, class R>
KC_INLINE auto exponential_lp(const X& x, const R& rate) {
  return in_one_node([](auto x, auto rate) { return log(rate) - rate * x + (value_of(x) < 0 ? outside : 0.0); }, x,
                     rate);
}
template <class X, class A, class B>
KC_INLINE auto gamma_lp(const X& x, const A& shape, const B& rate) {
  return in_one_node([](auto x, auto shape,
                        auto rate) { return shape * log(rate) - lgamma(shape) + (shape - 1.0) * log(x) - rate * x; },
                     x, shape, rate);
}
template <class X, class A, class B>
KC_INLINE auto inv_gamma_lp(const X& x, const A& shape, const B& scale) {
  return in_one_node([](auto x, auto shape,
                        auto scale) { return shape * log(scale) - lgamma(shape) - (shape + 1.0) * log(x) - scale / x; },
                     x, shape, scale);
}
template <class X, class A, class B>
KC_INLINE auto beta_lp(const X& x, const A& a, const B& b) {
  return in_one_node(
      [](auto x, auto a, auto b) {
        return lgamma(a + b) - lgamma(a) - lgamma(b) + (a - 1.0) * log(x) + (b - 1.0) * log1p(-x);
      },
      x, a, b);
}
template <class X>
KC_INLINE auto uniform_lp(const X& x, double low, double high) {
  return in_one_node(
      [](auto x, auto low, auto high) {
        return 0.0 * x + (value_of(x) < low || value_of(x) > high ? outside : -::log(high - low));
      },
      x, low, high);
}
template <class X, class M, class S>
KC_INLINE auto laplace_lp(const X& x, const M& location, const S& scale) {
  return in_one_node(
      [](auto x, auto location, auto scale) { return -fabs((x - location) / scale) - log(scale) - log_2; }, x, location,
      scale);
}
template <class X, class M, class S>
KC_INLINE auto logistic_lp(const X& x, const M& location, const S& scale) {
  return in_one_node(
      [](auto x, auto location, auto scale) {
        const auto z = fabs((x - location) / scale);
        return -z - 2.0 * log1p(exp(-z)) - log(scale);
      },
      x, location, scale);
}
template <class X, class A, class S>
KC_INLINE auto weibull_lp(const X& x, const A& shape, const S& scale) {
  return in_one_node(
      [](auto x, auto shape, auto scale) {
        const auto z = shape * (log(x) - log(scale));
        return log(shape) + z - log(x) - exp(z);
      },
      x, shape, scale);
}
template <class X, class M, class S, class A>
KC_INLINE auto skew_normal_lp(const X& x, const M& location, const S& scale, const A& shape) {
  return in_one_node(
      [](auto x, auto location, auto scale, auto shape) {
        const auto z = (x - location) / scale;
        return -0.5 * square(z) - log(scale) - 0.5 * log_2pi + log_erfc(-0.70710678118654752440 * (shape * z));
      },
      x, location, scale, shape);
}
/// Angles; concentration >= 0.
template <class X, class M, class K>
KC_INLINE auto von_mises_lp(const X& x, const M& mean, const K& concentration) {
  return in_one_node(
      [](auto x, auto mean, auto concentration) {
        return concentration * cos(x - mean) - log_bessel_i0(concentration) - log_2pi;
      },
      x, mean, concentration);
}
/// p: a point of the simplex, alpha: its concentrations, K of each, by index; K need not be said of a parameter.
template <int K, class P, class A>
KC_INLINE auto dirichlet_lp(const P& p, const A& alpha) {
  auto lp = (alpha[0] - 1.0) * log(p[0]) - lgamma(alpha[0]);
  auto total = alpha[0];
  for (int k = 1; k < K; ++k) {
    lp += (alpha[k] - 1.0) * log(p[k]) - lgamma(alpha[k]);
    total += alpha[k];
  }
  return lp + lgamma(total);
}
template <class P, class A>
requires(P::size() > 0) KC_INLINE auto dirichlet_lp(const P& p, const A& alpha) {
  return dirichlet_lp<P::size()>(p, alpha);
}
/// y successes of n, log odds of one; y: 0 or 1; counts y with logarithm of the rate.
template <class T>
KC_INLINE auto binomial_logit_lp(double y, double n, const T& logit) {
  return in_one_node(
      [](auto y, auto n, auto logit) {
        return ::lgamma(n + 1) - ::lgamma(y + 1) - ::lgamma(n - y + 1) + y * log_inv_logit(logit) +
               (n - y) * log_inv_logit(-logit);
      },
      y, n, logit);
}
template <class T>
KC_INLINE auto bernoulli_logit_lp(double y, const T& logit) {
  return in_one_node([](auto y, auto logit) { return y > 0.5 ? log_inv_logit(logit) : log_inv_logit(-logit); }, y,
                     logit);
}
template <class T>
KC_INLINE auto poisson_log_lp(double y, const T& log_rate) {
  return in_one_node([](auto y, auto log_rate) { return y * log_rate - exp(log_rate) - ::lgamma(y + 1); }, y, log_rate);
}
/// Counts of mean e^log_mean and variance mean + mean^2 / precision.
template <class T, class P>
KC_INLINE auto neg_binomial_2_log_lp(double y, const T& log_mean, const P& precision) {
  return in_one_node(
      [](auto y, auto log_mean, auto precision) {
        const auto z = log_mean - log(precision);
        return lgamma(y + precision) - lgamma(precision) - ::lgamma(y + 1) + y * z - (y + precision) * log1p_exp(z);
      },
      y, log_mean, precision);
}

}  // namespace kilochain
