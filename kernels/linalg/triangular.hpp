// A lower-triangular factor L (n x n) and its products, stored in panels of P rows (P = Team::panel<Real>).
//   y = L v      y = L^T v      sum_i log L_ii
// Panel p holds rows pP..pP+P-1, column by column, columns 0..min(n, (p+1)P)-1: entry (i, j) stands at
//   P P p(p+1)/2 + j P + (i - pP), p = i / P.  Entries above the diagonal and in rows >= n are stored and zero.
// So both products stream L once, in order, a whole vector register (or warp) at a time. Cost: n^2/2 + nP/2 multiply-adds.
// Vectors must be padded with zeros to a multiple of 32. A diagonal factor is its n entries (Shape::diagonal).
#pragma once
#include "kernels/contract.hpp"
#include "kernels/device/pack.hpp"

namespace kilochain {

template <int P>
KC_INLINE std::size_t panel_offset(Index p) {
  return static_cast<std::size_t>(P) * P * (static_cast<std::size_t>(p) * (p + 1) / 2);
}
template <int P>
KC_INLINE Index panel_columns(Index p, Index n) {
  return (p + 1) * P < n ? (p + 1) * P : n;
}
template <int P>
KC_INLINE std::size_t factor_size(Index n, Shape shape) {
  if (shape == Shape::diagonal) return static_cast<std::size_t>(n);
  const Index last = (n + P - 1) / P - 1;
  return panel_offset<P>(last) + static_cast<std::size_t>(n) * P;
}
template <int P>
KC_INLINE std::size_t factor_index(Index i, Index j) {
  const Index p = i / P;
  return panel_offset<P>(p) + static_cast<std::size_t>(j) * P + static_cast<std::size_t>(i - p * P);
}

/// y = L v. y: (n), its padding set to zero.
template <class Team, class Real>
KC_HD void multiply_lower(const Team& team, Shape shape, const Real* L, const Real* v, Real* y, Index n) {
  constexpr int P = Team::template panel<Real>;
  if (shape == Shape::diagonal) {
    team.for_each(n, [&](Index i) { y[i] = L[i] * v[i]; });
  } else if constexpr (Team::on_host) {
    using Vec = Pack<Real>;
    for (Index p = 0; p * P < n; ++p) {
      const Real* panel = L + panel_offset<P>(p);
      const Index columns = panel_columns<P>(p, n);
      typename Vec::Type s0 = {}, s1 = {}, s2 = {}, s3 = {};
      Index j = 0;
      for (; j + 4 <= columns; j += 4) {
        s0 += Vec::load(panel + j * P) * v[j];
        s1 += Vec::load(panel + j * P + P) * v[j + 1];
        s2 += Vec::load(panel + j * P + 2 * P) * v[j + 2];
        s3 += Vec::load(panel + j * P + 3 * P) * v[j + 3];
      }
      for (; j < columns; ++j) s0 += Vec::load(panel + j * P) * v[j];
      Vec::store(y + p * P, (s0 + s1) + (s2 + s3));
    }
  } else {
    for (Index p = 0; p * P < n; ++p) {
      const Real* panel = L + panel_offset<P>(p);
      const Index columns = panel_columns<P>(p, n);
      team.for_each(P, [&](Index l) {
        Real s = 0;
        for (Index j = 0; j < columns; ++j) s += panel[static_cast<std::size_t>(j) * P + l] * v[j];
        y[p * P + l] = s;
      });
    }
  }
  team.sync();
}

/// y = L^T v. y: (n); padding untouched.
template <class Team, class Real>
KC_HD void multiply_transposed(const Team& team, Shape shape, const Real* L, const Real* v, Real* y, Index n) {
  constexpr int P = Team::template panel<Real>;
  if (shape == Shape::diagonal) {
    team.for_each(n, [&](Index i) { y[i] = L[i] * v[i]; });
  } else if constexpr (Team::on_host) {
    using Vec = Pack<Real>;
    const Index panels = (n + P - 1) / P;
    for (Index q = 0; q < panels; ++q) {  // columns of panel q's diagonal block, P at a time
      const Index first = q * P;
      const auto own = Vec::load(v + first);
      const Real* block = L + panel_offset<P>(q) + first * std::size_t(P);
      if (n - first < P) {  // the last block: nothing below it
        for (Index c = 0; first + c < n; ++c) y[first + c] = Vec::sum(Vec::load(block + c * P) * own);
        break;
      }
      typename Vec::Type part[P];
      for (int c = 0; c < P; ++c) part[c] = Vec::load(block + c * P) * own;
      for (Index p = q + 1; p < panels; ++p) {
        const auto below = Vec::load(v + p * P);
        const Real* column = L + panel_offset<P>(p) + first * std::size_t(P);
        for (int c = 0; c < P; ++c) part[c] += Vec::load(column + c * P) * below;
      }
      Vec::store(y + first, Vec::sums(part));
    }
  } else {
    for (Index j = 0; j < n; ++j) {
      const Index first = j / P;
      const Real s = team.template sum<Real>(n - first * P, [&](Index r) {
        const Index i = first * P + r;
        return L[factor_index<P>(i, j)] * v[i];
      });
      team.single([&] { y[j] = s; });
    }
  }
  team.sync();
}

/// Solves L y = v in place of v (v becomes y). A panel waits for those before it: for adaptation rules, not for the inner loop.
template <class Team, class Real>
KC_HD void solve_lower(const Team& team, Shape shape, const Real* L, Real* v, Index n) {
  constexpr int P = Team::template panel<Real>;
  if (shape == Shape::diagonal) {
    team.for_each(n, [&](Index i) { v[i] /= L[i]; });
  } else if constexpr (Team::on_host) {
    using Vec = Pack<Real>;
    for (Index p = 0; p * P < n; ++p) {
      const Real* panel = L + panel_offset<P>(p);
      const Index full = p * P, columns = panel_columns<P>(p, n);
      auto rest = Vec::load(v + full);
      for (Index j = 0; j < full; ++j) rest -= Vec::load(panel + j * P) * v[j];
      for (Index j = full; j < columns; ++j) {  // the column holds zeros above its diagonal
        const Real pivot = rest[j - full] / panel[static_cast<std::size_t>(j) * P + static_cast<std::size_t>(j - full)];
        rest -= Vec::load(panel + j * P) * pivot;
        v[j] = pivot;
      }
    }
  } else {
    for (Index j = 0; j < n; ++j) {  // column oriented: subtract column j from what is below
      const Real pivot = v[j] / L[factor_index<P>(j, j)];
      team.sync();
      team.single([&] { v[j] = pivot; });
      team.for_each(n - j - 1, [&](Index r) { v[j + 1 + r] -= L[factor_index<P>(j + 1 + r, j)] * pivot; });
      team.sync();
    }
  }
  team.sync();
}

/// Solves L^T w = v in place of v. Serial in columns: for rare moments.
template <class Team, class Real>
KC_HD void solve_transposed(const Team& team, Shape shape, const Real* L, Real* v, Index n) {
  constexpr int P = Team::template panel<Real>;
  if (shape == Shape::diagonal) {
    team.for_each(n, [&](Index i) { v[i] /= L[i]; });
  } else {
    for (Index j = n - 1; j >= 0; --j) {  // row j of L is a column of L^T
      const Real pivot = v[j] / L[factor_index<P>(j, j)];
      team.sync();
      team.single([&] { v[j] = pivot; });
      team.for_each(j, [&](Index i) { v[i] -= L[factor_index<P>(j, i)] * pivot; });
      team.sync();
    }
  }
  team.sync();
}

/// Replaces the lower triangle of a positive-definite A (packed panels) by its Cholesky factor. Returns false, A unusable,
/// when a pivot is not positive. n^3/6 multiply-adds, a row at a time: for the rare moment when a matrix has been learnt.
template <class Team, class Real>
KC_HD bool cholesky(const Team& team, Real* A, Index n) {
  constexpr int P = Team::template panel<Real>;
  for (Index j = 0; j < n; ++j) {
    const Real square = A[factor_index<P>(j, j)] - team.template sum<Real>(j, [&](Index k) {
      const Real v = A[factor_index<P>(j, k)];
      return v * v;
    });
    if (!(square > Real(0)) || !math::finite(square)) return false;
    const Real pivot = static_cast<Real>(sqrt(square));
    team.sync();
    team.single([&] { A[factor_index<P>(j, j)] = pivot; });
    team.for_each(n - j - 1, [&](Index r) {
      const Index i = j + 1 + r;
      Real s = A[factor_index<P>(i, j)];
      for (Index k = 0; k < j; ++k) s -= A[factor_index<P>(i, k)] * A[factor_index<P>(j, k)];
      A[factor_index<P>(i, j)] = s / pivot;
    });
    team.sync();
  }
  return true;
}

}  // namespace kilochain
