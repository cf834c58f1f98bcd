// Constrained parameters as functions of real coordinates u, with log |d constrained / d u| (Stan Reference Manual,
// "Constraint transforms"; simplex: stick breaking). Each adds its log Jacobian to `log_jacobian`.
//   positive exp u; lower a + exp u; upper b - exp u; interval a + (b - a) inv_logit u
//   ordered x_1 = u_1, x_k = x_{k-1} + exp u_k; positive_ordered: the same from 0; simplex of K from K - 1 coordinates
#pragma once
#include "model/var.hpp"

namespace kilochain::transforms {

template <class T>
KC_INLINE T lower(const T& u, double bound, T& log_jacobian) {
  log_jacobian += u;
  return bound + exp(u);
}
template <class T>
KC_INLINE T upper(const T& u, double bound, T& log_jacobian) {
  log_jacobian += u;
  return bound - exp(u);
}
template <class T>
KC_INLINE T interval(const T& u, double low, double high, T& log_jacobian) {
  log_jacobian += log_inv_logit(u) + log_inv_logit(T(-u)) + ::log(high - low);
  return low + (high - low) * inv_logit(u);
}
/// x: K of them, from u(0) .. u(K - 1).
template <int K, class T, class U>
KC_INLINE void ordered(U&& u, T* x, T& log_jacobian) {
  x[0] = u(0);
  for (int k = 1; k < K; ++k) {
    const T step = u(k);
    log_jacobian += step;
    x[k] = x[k - 1] + exp(step);
  }
}
template <int K, class T, class U>
KC_INLINE void positive_ordered(U&& u, T* x, T& log_jacobian) {
  T last = 0.0;
  for (int k = 0; k < K; ++k) {
    const T step = u(k);
    log_jacobian += step;
    x[k] = last = last + exp(step);
  }
}
/// x: K of them, from u(0) .. u(K - 2); u = 0 is the centre.
template <int K, class T, class U>
KC_INLINE void simplex(U&& u, T* x, T& log_jacobian) {
  T rest = 1.0;
  for (int k = 0; k + 1 < K; ++k) {
    const T y = u(k) - ::log(double(K - 1 - k));
    log_jacobian += log(rest) + log_inv_logit(y) + log_inv_logit(T(-y));
    x[k] = rest * inv_logit(y);
    rest = rest * inv_logit(T(-y));
  }
  x[K - 1] = rest;
}

}  // namespace kilochain::transforms
