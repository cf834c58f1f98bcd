// Products, solves and decompositions with a lower-triangular factor L (n x n) in panels (kernels/device/panels.hpp).
//   y = L v      y = L^T v      L y = v      L^T w = v      L (I + B)      A = L L^T
// The products stream L once, in order, a vector register (or warp) at a time: n^2/2 + nP/2 multiply-adds. A diagonal
// factor costs n. Rows are padded with zeros to a multiple of 32, as fields are. L v and L^T v do nothing on a team for
// which they were made before (kernels/factor_products.hpp).
#pragma once
#include <type_traits>

#include "kernels/device/math.hpp"
#include "kernels/device/runs.hpp"
#include "kernels/factor_products.hpp"

namespace kilochain {

/// y = L v. y: (n), its padding set to zero.
template <class Team, class Real>
KC_HD void multiply_lower(const Team& team, Factor<Real> L, Row<Real> v, Row<Real> y, Index n) {
  if constexpr (products_made<Team>) {  // y is there
  } else if (L.shape == FactorShape::diagonal) {
    team.for_each(n, [&](Index i) { y[i] = L[i] * v[i]; });
  } else {
    constexpr int P = Team::template panel<Real>;
    each_panel<Real>(team, 0, (n + P - 1) / P, [&](Index p, auto rows) {
      const Real *panel = L.data + panel_offset<P>(p), *own = v.data;
      const Index columns = panel_columns<P>(p, n);
      auto s0 = rows.all(0), s1 = s0, s2 = s0, s3 = s0;
      Index j = 0;
      for (; j + 4 <= columns; j += 4) {
        s0 += rows.load(panel + j * P) * own[j];
        s1 += rows.load(panel + j * P + P) * own[j + 1];
        s2 += rows.load(panel + j * P + 2 * P) * own[j + 2];
        s3 += rows.load(panel + j * P + 3 * P) * own[j + 3];
      }
      for (; j < columns; ++j) s0 += rows.load(panel + j * P) * own[j];
      rows.store(y.data + p * P, (s0 + s1) + (s2 + s3));
    });
  }
  team.sync();
}

/// Entries j to j + W - 1 of L^T v, whose columns lie in one panel.
template <int W, class Team, class Real>
KC_INLINE void multiply_columns(const Team& team, Factor<Real> L, Row<Real> v, Row<Real> y, Index j, Index n) {
  constexpr int P = Team::template panel<Real>;
  const auto row = [=](Index p, auto rows) {
    const Real* const column = L.data + panel_offset<P>(p) + j * std::size_t(P);
    return [rows, column, own = rows.load(v.data + p * P)](Index c) {
      return rows.load(column + c * Team::template panel<Real>) * own;
    };
  };
  column_sums<W, Real>(team, j / P, (n + P - 1) / P, row, y.data + j);
}

/// y = L^T v. y: (n); padding untouched.
template <class Team, class Real>
KC_HD void multiply_transposed(const Team& team, Factor<Real> L, Row<Real> v, Row<Real> y, Index n) {
  if constexpr (products_made<Team>) {  // y is there
  } else if (L.shape == FactorShape::diagonal) {
    team.for_each(n, [&](Index i) { y[i] = L[i] * v[i]; });
  } else {
    constexpr int most = 64 / static_cast<int>(sizeof(Real));  // columns at a time: as many as registers hold
    Index j = 0;
    for (; j + most <= n; j += most) multiply_columns<most>(team, L, v, y, j, n);
    if constexpr (most > 8)
      if (j + 8 <= n) multiply_columns<8>(team, L, v, y, j, n), j += 8;
    if (j + 4 <= n) multiply_columns<4>(team, L, v, y, j, n), j += 4;
    if (j + 2 <= n) multiply_columns<2>(team, L, v, y, j, n), j += 2;
    if (j < n) multiply_columns<1>(team, L, v, y, j, n);
  }
  team.sync();
}

/// Solves L y = v in place of v. A panel waits for those before it: for adaptation rules, not for the inner loop.
template <class Team, class Real>
KC_HD void solve_lower(const Team& team, Factor<Real> L, Row<Real> v, Index n) {
  constexpr int P = Team::template panel<Real>;
  if (L.shape == FactorShape::diagonal) {
    team.for_each(n, [&](Index i) { v[i] /= L[i]; });
    team.sync();
    return;
  }
  for (Index p = 0; p * P < n; ++p) {
    const Real* const panel = L.data + panel_offset<P>(p);
    const auto above = [&](auto rows) {
      auto rest = rows.load(v.data + p * P);
      for (Index j = 0; j < p * P; ++j) rest -= rows.load(panel + j * P) * v[j];
      return rest;
    };
    solve_tile<Real>(team, panel + std::size_t(p) * P * P, above, v.data + p * P, panel_columns<P>(p, n) - p * P);
  }
}

/// Solves L^T w = v in place of v. Serial in columns: for rare moments.
template <class Team, class Real>
KC_HD void solve_transposed(const Team& team, Factor<Real> L, Row<Real> v, Index n) {
  constexpr int P = Team::template panel<Real>;
  if (L.shape == FactorShape::diagonal) {
    team.for_each(n, [&](Index i) { v[i] /= L[i]; });
    team.sync();
  } else {
    for (Index j = n - 1; j >= 0; --j) {  // row j of L is a column of L^T
      const Real pivot = v[j] / L[factor_index<P>(j, j)];
      team.sync();
      team.single([&] { v[j] = pivot; });
      team.for_each(j, [&](Index i) { v[i] -= L[factor_index<P>(j, i)] * pivot; });
      team.sync();
    }
  }
}

/// L <- L (I + B) for dense lower-triangular B. Row i of L changes by itself, columns left to right, so L is its own
/// output; a team that is spread makes each entry alone, into its scratch. Cost: n^3/6 multiply-adds.
template <class Team, class Real>
KC_HD void multiply_right(const Team& team, Factor<Real> L, Factor<Real> B, Index n) {
  constexpr int P = Team::template panel<Real>;
  const auto changed = [&](auto rows, const Real* panel, Index j, Index columns) {
    auto s0 = rows.load(panel + j * std::size_t(P)), s1 = rows.all(0);
    for (Index q = j / P; q * P < columns; ++q) {  // rows k of B's column j, panel by panel
      const Real* b = B.data + panel_offset<P>(q) + j * std::size_t(P);
      const Index first = q * P, to = (q + 1) * P < columns ? (q + 1) * P : columns;
      Index k = j > first ? j : first;
      for (; k + 2 <= to; k += 2) {
        s0 += rows.load(panel + k * std::size_t(P)) * b[k - first];
        s1 += rows.load(panel + (k + 1) * std::size_t(P)) * b[k + 1 - first];
      }
      if (k < to) s0 += rows.load(panel + k * std::size_t(P)) * b[k - first];
    }
    return s0 + s1;
  };
  if constexpr (is_spread<Team>) {
    Real* const product = static_cast<Real*>(team.scratch);
    each_entry<Real>(team, L.shape, n, [&](Index i, Index j, std::size_t k) {
      product[k] = changed(Lane<Real>{i % P}, L.data + panel_offset<P>(i / P), j, i + 1);
    });
    each_entry<Real>(team, L.shape, n, [&](Index, Index, std::size_t k) { L[k] = product[k]; });
  } else {
    each_panel<Real>(team, 0, (n + P - 1) / P, [&](Index p, auto rows) {
      Real* const panel = L.data + panel_offset<P>(p);
      const Index columns = panel_columns<P>(p, n);
      for (Index j = 0; j < columns; ++j) rows.store(panel + j * std::size_t(P), changed(rows, panel, j, columns));
    });
    team.sync();
  }
}

/// The Cholesky factor of the P x P tile (b, b) alone, in place; NaN where a pivot is not positive. Row r of its first
/// column is lane r's own; it ends out of step.
template <class Team, class Real>
KC_HD void decompose_tile(const Team& team, Factor<Real> A, Index b, Index n) {
  constexpr int P = Team::template panel<Real>;
  const Index first = b * P, size = panel_columns<P>(b, n) - first;
  const auto at = [&](Index i, Index j) -> Real& { return A[factor_index<P>(first + i, first + j)]; };
  for (Index j = 0; j < size; ++j) {
    team.for_each(size - j, [&](Index r) {
      Real s = at(j + r, j);
      for (Index k = 0; k < j; ++k) s -= at(j + r, k) * at(j, k);
      at(j + r, j) = s;
    });
    team.sync();
    const Real pivot = sqrt(at(j, j));
    team.for_each(size - j - 1, [&](Index r) { at(j + 1 + r, j) /= pivot; });
    team.sync();
  }
  team.for_each(size, [&](Index j) { at(j, j) = sqrt(at(j, j)); });
}

/// Replaces a dense positive-definite A (its lower triangle) by its Cholesky factor L, and v by L^-1 v. Returns false,
/// both unusable and A zero, when a pivot is not positive. Panel after panel from the left: the tile on the diagonal,
/// what is below it, what that takes from the rest of A; v is like one more row of A. n^3/6 multiply-adds, and a team
/// meets twice for each panel.
template <class Team, class Real>
KC_HD bool cholesky(const Team& team, Factor<Real> A, Index n, Row<Real> v = {}) {
  constexpr int P = Team::template panel<Real>;
  const Index panels = (n + P - 1) / P;
  apart(team, [&](const auto& part) { decompose_tile(part, A, 0, n); });
  team.sync();
  for (Index b = 0; b < panels; ++b) {
    const Index first = b * P, size = panel_columns<P>(b, n) - first;
    const auto solve = [&](auto rows, Real* at, Index step) {  // at: P columns, `step` apart; rows <- rows L_bb^-T
      for (Index j = 0; j < size; ++j) {
        auto s = rows.load(at + j * step);
        for (Index k = 0; k < j; ++k) s -= rows.load(at + k * step) * A[factor_index<P>(first + j, first + k)];
        rows.store(at + j * step, s / A[factor_index<P>(first + j, first + j)]);
      }
    };
    const auto take = [&](Index p, auto rows, Index begin,
                          Index step) {  // what columns of b take from panel p and from v
      Real* const panel = A.data + panel_offset<P>(p);
      const auto left = rows.template columns<P>(panel + first * std::size_t(P));
      for (Index j = first + P + begin; j < panel_columns<P>(p, n); j += step) {
        const Real* const right = &A[factor_index<P>(j, first)];
        auto change = left[0] * right[0];
        KC_UNROLL
        for (Index k = 1; k < P; ++k) change += left[k] * right[k * P];
        if (j >= p * P) change = rows.keep_from(change, j - p * P);
        rows.store(panel + j * std::size_t(P), rows.load(panel + j * std::size_t(P)) - change);
      }
      if (v.data && begin == 0) {
        auto s = rows.load(v.data + p * P);
        for (Index k = 0; k < P; ++k) s -= left[k] * v[first + k];
        rows.store(v.data + p * P, s);
      }
    };
    each_panel<Real>(team, b + 1, panels,
                     [&](Index p, auto rows) { solve(rows, A.data + panel_offset<P>(p) + first * std::size_t(P), P); });
    if (v.data) team.single([&] { solve(Lane<Real>{}, v.data + first, 1); });
    team.sync();
    if (b + 1 == panels) break;
    apart(team, [&](const auto& part) {
      each_part<Real>(part, b + 1, b + 2, take);
      decompose_tile(part, A, b + 1, n);
    });
    each_part<Real>(team, b + 2, panels, take);
    team.sync();
  }
  const double bad = team.template sum<double>(n, [&](Index i) {
    const Real pivot = A[factor_index<P>(i, i)];
    return pivot > Real(0) && math::finite(pivot) ? 0.0 : 1.0;
  });
  if (bad != 0) {  // the sum is over: all have seen the pivots. The zeros around the entries must be zeros again
    team.for_each(static_cast<Index>(factor_size<P>(n, FactorShape::dense)), [&](Index k) { A.data[k] = Real(0); });
    if (v.data) team.for_each(panels * P - n, [&](Index i) { v.data[n + i] = Real(0); });
  }
  return bad == 0;
}

}  // namespace kilochain
