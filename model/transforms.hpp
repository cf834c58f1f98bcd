// Constrained parameters as functions of real coordinates u, with log |d constrained / d u| (Stan Reference Manual,
// "Constraint transforms"; simplex: stick breaking). Each adds its log Jacobian to `log_jacobian`.
//   positive exp u; lower a + exp u; upper b - exp u; interval a + (b - a) inv_logit u
//   ordered x_1 = u_1, x_k = x_{k-1} + exp u_k; positive_ordered: the same from 0; simplex of K from K - 1 coordinates
//   cholesky_corr: row i on the unit sphere, x_ij = tanh(u_ij) times the root of what its square and those before leave
// Bounds are numbers or depend on parameters that were read before: the derivative of all is triangular then.
#pragma once
#include "model/var.hpp"

namespace kilochain::transforms {

template <class T, class B>
KC_INLINE T lower(const T& u, const B& bound, T& log_jacobian) {
  log_jacobian += u;
  return bound + exp(u);
}
template <class T, class B>
KC_INLINE T upper(const T& u, const B& bound, T& log_jacobian) {
  log_jacobian += u;
  return bound - exp(u);
}
template <class T, class A, class B>
KC_INLINE T interval(const T& u, const A& low, const B& high, T& log_jacobian) {
  log_jacobian += log_inv_logit(u) + log_inv_logit(T(-u)) + log(high - low);
  return low + (high - low) * inv_logit(u);
}
/// x: K of them, from u(0) .. u(K - 1).
template <class T, class U>
KC_INLINE void ordered(Index K, U&& u, T* x, T& log_jacobian) {
  x[0] = u(0);
  for (Index k = 1; k < K; ++k) {
    const T step = u(k);
    log_jacobian += step;
    x[k] = x[k - 1] + exp(step);
  }
}
template <class T, class U>
KC_INLINE void positive_ordered(Index K, U&& u, T* x, T& log_jacobian) {
  T last = 0.0;
  for (Index k = 0; k < K; ++k) {
    const T step = u(k);
    log_jacobian += step;
    x[k] = last = last + exp(step);
  }
}
/// x: K of them, from u(0) .. u(K - 2); u = 0 is the centre.
template <class T, class U>
KC_INLINE void simplex(Index K, U&& u, T* x, T& log_jacobian) {
  T rest = 1.0;
  for (Index k = 0; k + 1 < K; ++k) {
    const T y = u(k) - ::log(double(K - 1 - k));
    log_jacobian += log(rest) + log_inv_logit(y) + log_inv_logit(T(-y));
    x[k] = rest * inv_logit(y);
    rest = rest * inv_logit(T(-y));
  }
  x[K - 1] = rest;
}
/// x: rows of K from u(0) .. u(K (K - 1) / 2 - 1), 0 above the diagonal; u = 0 is the unit matrix.
template <class T, class U>
KC_INLINE void cholesky_corr(Index K, U&& u, T* x, T& log_jacobian) {
  for (Index i = 0, at = 0; i < K; ++i) {
    T half_log_rest = 0.0;  // of 1 - x_i0^2 - x_i1^2 - ..., which loses no digits so
    for (Index j = 0; j < K; ++j) x[i * K + j] = 0.0;
    for (Index j = 0; j < i; ++j, ++at) {
      const T y = u(at),
              log_sech = 0.69314718055994530942 + 0.5 * (log_inv_logit(T(2.0 * y)) + log_inv_logit(T(-2.0 * y)));
      x[i * K + j] = tanh(y) * exp(half_log_rest);
      log_jacobian += half_log_rest + 2.0 * log_sech;
      half_log_rest += log_sech;
    }
    x[i * K + i] = exp(half_log_rest);
  }
}

}  // namespace kilochain::transforms
