// A lower-triangular matrix in a team's panels and as plain rows, for comparing products with naive loops.
#pragma once
#include <vector>

#include "kernels/linalg/triangular.hpp"
#include "kernels/random/draw.hpp"
#include "tests/support/rows.hpp"

namespace kilochain::testing_support {

inline constexpr FactorShape factor_shapes[] = {FactorShape::dense, FactorShape::diagonal};

/// Numbers in (-1, 1), the same for the same place.
inline double scatter(std::uint32_t stream, std::uint32_t index) {
  return 2 * uniform(Rng{99, stream, 0}, Purpose::start, index) - 1;
}

template <class Real>
std::vector<Real> padded_row(Index n, std::uint32_t stream) {
  std::vector<Real> v((static_cast<std::size_t>(n) + 31) / 32 * 32, Real(0));
  for (Index i = 0; i < n; ++i)
    v[static_cast<std::size_t>(i)] = static_cast<Real>(scatter(stream, static_cast<std::uint32_t>(i)));
  return v;
}

template <class Team, class Real>
struct PackedFactor {
  static constexpr int P = Team::template panel<Real>;
  Index n;
  FactorShape shape;
  std::vector<Real> packed;

  PackedFactor(Index n_, FactorShape shape_, std::uint32_t stream)
      : n(n_), shape(shape_), packed(factor_size<P>(n_, shape_) + 64, Real(0)) {
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j <= i; ++j) {
        if (shape == FactorShape::diagonal && i != j) continue;
        const double v = scatter(stream, static_cast<std::uint32_t>(i * n + j));
        at(i, j) = static_cast<Real>(i == j ? 1.5 + 0.5 * v : v / std::sqrt(static_cast<double>(n)));
      }
  }
  std::size_t index(Index i, Index j) const {
    return shape == FactorShape::diagonal ? static_cast<std::size_t>(i) : factor_index<P>(i, j);
  }
  Factor<Real> factor() { return {packed.data(), packed.size(), shape}; }
  Real& at(Index i, Index j) { return packed[index(i, j)]; }
  /// Entry (i, j) of the matrix, zeros included.
  double dense(Index i, Index j) const {
    return j > i || (shape == FactorShape::diagonal && i != j) ? 0.0 : static_cast<double>(packed[index(i, j)]);
  }
  /// Whether everything stored that is not an entry is zero.
  bool rest_is_zero() const {
    std::vector<bool> entry(packed.size(), false);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j <= i; ++j)
        if (shape == FactorShape::dense || i == j) entry[index(i, j)] = true;
    for (std::size_t k = 0; k < packed.size(); ++k)
      if (!entry[k] && packed[k] != Real(0)) return false;
    return true;
  }
};

}  // namespace kilochain::testing_support
