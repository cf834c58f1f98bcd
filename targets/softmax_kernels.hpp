// The middle step of the softmax regression on the CPU: the logits of one chain and many observations, t[ld k + i] of
// class k and observation i, become residuals or their derivative in place. O(K) exponentials for each, a register of
// observations at a time.
#pragma once
#include "kernels/device/math.hpp"
#include "kernels/device/platform.hpp"

namespace kilochain::softmax {

constexpr Index most_rows = 512;  ///< whose logits are there at once

/// t -> e^(t - most); sum: of that over the classes, most: the largest logit, both of each observation.
template <class Real>
KC_INLINE void exponentials(Real* t, std::size_t ld, Index rows, Index classes, Real* most, Real* sum) {
  for (Index i = 0; i < rows; ++i) most[i] = t[i], sum[i] = 0;
  for (Index k = 1; k < classes; ++k) {
    const Real* const at = t + ld * k;
    for (Index i = 0; i < rows; ++i) most[i] = at[i] > most[i] ? at[i] : most[i];
  }
  for (Index k = 0; k < classes; ++k) {
    Real* const at = t + ld * k;
    for (Index i = 0; i < rows; ++i) sum[i] += at[i] = math::exp(at[i] - most[i]);
  }
}

/// t -> 1[y = k] - p. Returns sum_i log p_{i, y_i}.
template <class Real>
double residuals(Real* t, std::size_t ld, const Real* y, Index rows, Index classes) {
  alignas(64) Real most[most_rows], sum[most_rows], own[most_rows];
  for (Index i = 0; i < rows; ++i) own[i] = t[i];
  for (Index k = 1; k < classes; ++k)
    for (Index i = 0; i < rows; ++i) own[i] = y[i] == Real(k) ? t[ld * k + i] : own[i];
  exponentials(t, ld, rows, classes, most, sum);
  double likelihood = 0;
  for (Index i = 0; i < rows; ++i) likelihood += double(own[i] - most[i]) - double(math::log(sum[i]));
  for (Index i = 0; i < rows; ++i) sum[i] = Real(1) / sum[i];
  for (Index k = 0; k < classes; ++k) {
    Real* const at = t + ld * k;
    for (Index i = 0; i < rows; ++i) at[i] = (y[i] == Real(k) ? Real(1) : Real(0)) - at[i] * sum[i];
  }
  return likelihood;
}

/// t -> -p (a - sum_k p a), where a = slope[ld k + i].
template <class Real>
void curvatures(Real* t, const Real* slope, std::size_t ld, Index rows, Index classes) {
  alignas(64) Real most[most_rows], sum[most_rows], mean[most_rows];
  exponentials(t, ld, rows, classes, most, sum);
  for (Index i = 0; i < rows; ++i) sum[i] = Real(1) / sum[i], mean[i] = 0;
  for (Index k = 0; k < classes; ++k) {
    Real* const at = t + ld * k;
    for (Index i = 0; i < rows; ++i) mean[i] += (at[i] *= sum[i]) * slope[ld * k + i];
  }
  for (Index k = 0; k < classes; ++k)
    for (Index i = 0; i < rows; ++i) t[ld * k + i] *= mean[i] - slope[ld * k + i];
}

}  // namespace kilochain::softmax
