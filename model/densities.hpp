// Log densities of the usual distributions, normalised, for numbers and duals in any place; names and parameters are
// Stan's (normal: standard deviation; gamma: shape and rate; inv_gamma: shape and scale). Outside the support:
// -infinity. Constants that only data enter are computed too: lp is comparable between models.
#pragma once
#include <limits>

#include "model/var.hpp"

namespace kilochain {

inline constexpr double log_2pi = 1.8378770664093454836, log_pi = 1.1447298858494001741, log_2 = 0.69314718055994530942;
inline constexpr double outside = -std::numeric_limits<double>::infinity();

template <class X, class M, class S>
KC_INLINE auto normal_lp(const X& x, const M& mean, const S& sd) {
  if constexpr (is_var<X> || is_var<M> || is_var<S>)
    return one_node([](const auto& x, const auto& mean, const auto& sd) { return normal_lp(x, mean, sd); }, x, mean,
                    sd);
  else
    return -0.5 * square((x - mean) / sd) - log(sd) - 0.5 * log_2pi;
}
/// x >= 0; a normal of mean 0 folded there.
template <class X, class S>
KC_INLINE auto half_normal_lp(const X& x, const S& sd) {
  if constexpr (is_var<X> || is_var<S>)
    return one_node([](const auto& x, const auto& sd) { return half_normal_lp(x, sd); }, x, sd);
  else
    return normal_lp(x, 0.0, sd) + (value_of(x) < 0 ? outside : log_2);
}
template <class X, class M, class S>
KC_INLINE auto cauchy_lp(const X& x, const M& location, const S& scale) {
  if constexpr (is_var<X> || is_var<M> || is_var<S>)
    return one_node(
        [](const auto& x, const auto& location, const auto& scale) { return cauchy_lp(x, location, scale); }, x,
        location, scale);
  else
    return -log1p(square((x - location) / scale)) - log(scale) - log_pi;
}
template <class X, class S>
KC_INLINE auto half_cauchy_lp(const X& x, const S& scale) {
  if constexpr (is_var<X> || is_var<S>)
    return one_node([](const auto& x, const auto& scale) { return half_cauchy_lp(x, scale); }, x, scale);
  else
    return cauchy_lp(x, 0.0, scale) + (value_of(x) < 0 ? outside : log_2);
}
template <class X, class N, class M, class S>
KC_INLINE auto student_t_lp(const X& x, const N& freedom, const M& location, const S& scale) {
  if constexpr (is_var<X> || is_var<N> || is_var<M> || is_var<S>)
    return one_node([](const auto& x, const auto& freedom, const auto& location,
                       const auto& scale) { return student_t_lp(x, freedom, location, scale); },
                    x, freedom, location, scale);
  else
    return lgamma(0.5 * (freedom + 1.0)) - lgamma(0.5 * freedom) - 0.5 * (log(freedom) + log_pi) - log(scale) -
           0.5 * (freedom + 1.0) * log1p(square((x - location) / scale) / freedom);
}
template <class X, class M, class S>
KC_INLINE auto lognormal_lp(const X& x, const M& mean_log, const S& sd_log) {
  if constexpr (is_var<X> || is_var<M> || is_var<S>)
    return one_node(
        [](const auto& x, const auto& mean_log, const auto& sd_log) { return lognormal_lp(x, mean_log, sd_log); }, x,
        mean_log, sd_log);
  else
    return normal_lp(log(x), mean_log, sd_log) - log(x);
}
template <class X, class R>
KC_INLINE auto exponential_lp(const X& x, const R& rate) {
  if constexpr (is_var<X> || is_var<R>)
    return one_node([](const auto& x, const auto& rate) { return exponential_lp(x, rate); }, x, rate);
  else
    return log(rate) - rate * x + (value_of(x) < 0 ? outside : 0.0);
}
template <class X, class A, class B>
KC_INLINE auto gamma_lp(const X& x, const A& shape, const B& rate) {
  if constexpr (is_var<X> || is_var<A> || is_var<B>)
    return one_node([](const auto& x, const auto& shape, const auto& rate) { return gamma_lp(x, shape, rate); }, x,
                    shape, rate);
  else
    return shape * log(rate) - lgamma(shape) + (shape - 1.0) * log(x) - rate * x;
}
template <class X, class A, class B>
KC_INLINE auto inv_gamma_lp(const X& x, const A& shape, const B& scale) {
  if constexpr (is_var<X> || is_var<A> || is_var<B>)
    return one_node([](const auto& x, const auto& shape, const auto& scale) { return inv_gamma_lp(x, shape, scale); },
                    x, shape, scale);
  else
    return shape * log(scale) - lgamma(shape) - (shape + 1.0) * log(x) - scale / x;
}
template <class X, class A, class B>
KC_INLINE auto beta_lp(const X& x, const A& a, const B& b) {
  if constexpr (is_var<X> || is_var<A> || is_var<B>)
    return one_node([](const auto& x, const auto& a, const auto& b) { return beta_lp(x, a, b); }, x, a, b);
  else
    return lgamma(a + b) - lgamma(a) - lgamma(b) + (a - 1.0) * log(x) + (b - 1.0) * log1p(-x);
}
template <class X>
KC_INLINE auto uniform_lp(const X& x, double low, double high) {
  if constexpr (is_var<X>)
    return one_node([](const auto& x, const auto& low, const auto& high) { return uniform_lp(x, low, high); }, x, low,
                    high);
  else
    return 0.0 * x + (value_of(x) < low || value_of(x) > high ? outside : -::log(high - low));
}
/// p: a point of the simplex, alpha: its concentrations, K of each, by index.
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
/// y successes of n, log odds of one; y: 0 or 1; counts y with logarithm of the rate.
template <class T>
KC_INLINE auto binomial_logit_lp(double y, double n, const T& logit) {
  if constexpr (is_var<T>)
    return one_node([](const auto& y, const auto& n, const auto& logit) { return binomial_logit_lp(y, n, logit); }, y,
                    n, logit);
  else
    return ::lgamma(n + 1) - ::lgamma(y + 1) - ::lgamma(n - y + 1) + y * log_inv_logit(logit) +
           (n - y) * log_inv_logit(T(-logit));
}
template <class T>
KC_INLINE auto bernoulli_logit_lp(double y, const T& logit) {
  if constexpr (is_var<T>)
    return one_node([](const auto& y, const auto& logit) { return bernoulli_logit_lp(y, logit); }, y, logit);
  else
    return y > 0.5 ? log_inv_logit(logit) : log_inv_logit(T(-logit));
}
template <class T>
KC_INLINE auto poisson_log_lp(double y, const T& log_rate) {
  if constexpr (is_var<T>)
    return one_node([](const auto& y, const auto& log_rate) { return poisson_log_lp(y, log_rate); }, y, log_rate);
  else
    return y * log_rate - exp(log_rate) - ::lgamma(y + 1);
}

}  // namespace kilochain
