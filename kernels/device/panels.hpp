// How a lower-triangular factor L (n x n) is stored: in panels of P rows (P = Team::panel<Real>), so that both products
// stream it once, in order, a whole vector register (or warp) at a time.
// Panel p holds rows pP..pP+P-1, column by column, columns 0..min(n, (p+1)P)-1: entry (i, j) stands at
//   P P p(p+1)/2 + j P + (i - pP),  p = i / P.     Entries above the diagonal and in rows >= n are stored and zero.
// A diagonal factor is its n entries.
#pragma once
#include "kernels/device/platform.hpp"

namespace kilochain {

enum class FactorShape : std::int32_t { dense, diagonal };

template <int P>
KC_INLINE std::size_t panel_offset(Index p) {
  return std::size_t(P) * P * (std::size_t(p) * (p + 1) / 2);
}
template <int P>
KC_INLINE Index panel_columns(Index p, Index n) {
  return (p + 1) * P < n ? (p + 1) * P : n;
}
template <int P>
KC_INLINE std::size_t factor_size(Index n, FactorShape shape) {
  if (shape == FactorShape::diagonal) return std::size_t(n);
  const Index last = (n + P - 1) / P - 1;
  return panel_offset<P>(last) + std::size_t(n) * P;
}
template <int P>
KC_INLINE std::size_t factor_index(Index i, Index j) {
  const Index p = i / P;
  return panel_offset<P>(p) + std::size_t(j) * P + std::size_t(i - p * P);
}
/// Where the diagonal entry of row i stands, in either shape.
template <int P>
KC_INLINE std::size_t diagonal_index(FactorShape shape, Index i) {
  return shape == FactorShape::diagonal ? std::size_t(i) : factor_index<P>(i, i);
}

}  // namespace kilochain
