// Products and solves of a lower-triangular factor L (n x n) in panels (kernels/device/panels.hpp), its decomposition.
//   y = L v      y = L^T v      L y = v      L^T w = v      L (I + B)      A = L L^T
// The products stream L once, in order, a vector register (or warp) at a time: n^2/2 + nP/2 multiply-adds. A diagonal
// factor costs n. Rows are padded with zeros to a multiple of 32, as fields are. L v and L^T v do nothing on a team for
// which they were made before (kernels/factor_products.hpp).
#pragma once
#include <algorithm>
#include <type_traits>

#include "kernels/device/math.hpp"
#include "kernels/device/pack.hpp"
#include "kernels/device/storage.hpp"
#include "kernels/device/team.hpp"
#include "kernels/factor_products.hpp"

namespace kilochain {

/// y = L v. y: (n), its padding set to zero.
template <class Team, class Real>
KC_HD void multiply_lower(const Team& team, Factor<Real> L, Row<Real> v, Row<Real> y, Index n) {
  constexpr int P = Team::template panel<Real>;
  if constexpr (products_made<Team>) {  // y is there
  } else if (L.shape == FactorShape::diagonal) {
    team.for_each(n, [&](Index i) { y[i] = L[i] * v[i]; });
  } else if constexpr (Team::on_host) {
    using Vec = Pack<Real>;
    for (Index p = 0; p * P < n; ++p) {
      const Real* panel = L.data + panel_offset<P>(p);
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
      Vec::store(y.data + p * P, (s0 + s1) + (s2 + s3));
    }
  } else if constexpr (is_spread<Team>) {
    team.for_each(n, [&](Index i) {
      Real s = 0;
      for (Index j = 0; j <= i; ++j) s += L[factor_index<P>(i, j)] * v[j];
      y[i] = s;
    });
  } else {
    for (Index p = 0; p * P < n; ++p) {
      const Real* panel = L.data + panel_offset<P>(p);
      const Index columns = panel_columns<P>(p, n);
      team.for_each(P, [&](Index l) {
        const Real *row = panel + l, *own = v.data;
        Real s = 0;
        for (Index j = 0; j < columns; ++j, row += P, ++own) s += *row * *own;
        y.data[p * P + l] = s;  // zero in the padding
      });
    }
  }
  team.sync();
}

/// y = L^T v. y: (n); padding untouched.
template <class Team, class Real>
KC_HD void multiply_transposed(const Team& team, Factor<Real> L, Row<Real> v, Row<Real> y, Index n) {
  constexpr int P = Team::template panel<Real>;
  if constexpr (products_made<Team>) {  // y is there
  } else if (L.shape == FactorShape::diagonal) {
    team.for_each(n, [&](Index i) { y[i] = L[i] * v[i]; });
  } else if constexpr (Team::on_host) {
    using Vec = Pack<Real>;
    const Index panels = (n + P - 1) / P;
    for (Index q = 0; q < panels; ++q) {  // columns of panel q's diagonal block, P at a time
      const Index first = q * P;
      const auto own = Vec::load(v.data + first);
      const Real* block = L.data + panel_offset<P>(q) + first * std::size_t(P);
      if (n - first < P) {  // the last block: nothing below it
        for (Index c = 0; first + c < n; ++c) y[first + c] = Vec::sum(Vec::load(block + c * P) * own);
        break;
      }
      typename Vec::Type part[P];
      for (int c = 0; c < P; ++c) part[c] = Vec::load(block + c * P) * own;
      for (Index p = q + 1; p < panels; ++p) {
        const auto below = Vec::load(v.data + p * P);
        const Real* column = L.data + panel_offset<P>(p) + first * std::size_t(P);
        for (int c = 0; c < P; ++c) part[c] += Vec::load(column + c * P) * below;
      }
      Vec::store(y.data + first, Vec::sums(part));
    }
  } else if constexpr (sums_columns<Team>) {  // as many at a time as registers hold, none that is not there
    const auto columns = [&](auto width, Index j) {
      const Index first = j / P * P;
      team.template sums<Real, decltype(width)::value>(
          n - first,
          [&](Index r) {
            const Index i = first + r;
            return [row = &L[factor_index<P>(i, j)], own = v[i]](Index c) {
              return row[c * Team::template panel<Real>] * own;
            };
          },
          [&](Index c, Real s) { y[j + c] = s; });
    };
    constexpr int most = 64 / static_cast<int>(sizeof(Real));
    Index j = 0;
    for (; j + most <= n; j += most) columns(std::integral_constant<int, most>{}, j);
    if constexpr (most > 8)
      if (j + 8 <= n) columns(std::integral_constant<int, 8>{}, j), j += 8;
    if (j + 4 <= n) columns(std::integral_constant<int, 4>{}, j), j += 4;
    if (j + 2 <= n) columns(std::integral_constant<int, 2>{}, j), j += 2;
    if (j < n) columns(std::integral_constant<int, 1>{}, j);
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

/// Solves L y = v in place of v. A panel waits for those before it: for adaptation rules, not for the inner loop.
template <class Team, class Real>
KC_HD void solve_lower(const Team& team, Factor<Real> L, Row<Real> v, Index n) {
  constexpr int P = Team::template panel<Real>;
  if (L.shape == FactorShape::diagonal) {
    team.for_each(n, [&](Index i) { v[i] /= L[i]; });
    team.sync();
  } else if constexpr (Team::on_host) {
    using Vec = Pack<Real>;
    for (Index p = 0; p * P < n; ++p) {
      const Real* panel = L.data + panel_offset<P>(p);
      const Index full = p * P, columns = panel_columns<P>(p, n);
      auto rest = Vec::load(v.data + full);
      for (Index j = 0; j < full; ++j) rest -= Vec::load(panel + j * P) * v[j];
      for (Index j = full; j < columns; ++j) {  // the column holds zeros above its diagonal
        const Real pivot = rest[j - full] / panel[std::size_t(j) * P + (j - full)];
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

/// Row and column of place t of a lower triangle, row by row: t = row (row + 1)/2 + column, below 2^24.
KC_INLINE void triangle_place(Index t, Index& row, Index& column) {
  row = static_cast<Index>(sqrt(2.0f * static_cast<float>(t) + 0.25f) - 0.5f);
  if (row * (row + 1) / 2 > t) --row;
  if ((row + 1) * (row + 2) / 2 <= t) ++row;
  column = t - row * (row + 1) / 2;
}

/// body(i, j, place) for every entry of a factor that stands in rows >= P first and columns >= P first (for all: first = 0),
/// but the first `skip` tiles. In the order of memory; tile by tile where the team is spread.
template <class Real, class Team, class F>
KC_HD void each_dense_entry(const Team& team, Index first, Index skip, Index n, F&& body) {
  constexpr int P = Team::template panel<Real>;
  const auto at = [&](Index p, Index q, Index e) {
    const Index i = p * P + e % P, j = q * P + e / P;
    if (i < n && j <= i) body(i, j, panel_offset<P>(p) + std::size_t(q) * P * P + std::size_t(e));
  };
  const Index panels = (n + P - 1) / P - first;
  if constexpr (is_spread<Team>) {
    team.for_each((panels * (panels + 1) / 2 - skip) * P * P, [&](Index e) {
      Index p, q;
      triangle_place(e / (P * P) + skip, p, q);
      at(first + p, first + q, e % (P * P));
    });
  } else {
    for (Index p = 0; p < panels; ++p)
      if (p > 0 || skip == 0) {
        const Index columns = panel_columns<P>(first + p, n) - first * P;
        team.for_each(P * columns, [&](Index e) { at(first + p, first, e); });
      }
  }
}

/// body(i, j, place) for every entry of a factor.
template <class Real, class Team, class F>
KC_HD void each_entry(const Team& team, FactorShape shape, Index n, F&& body) {
  if (shape == FactorShape::diagonal)
    team.for_each(n, [&](Index i) { body(i, i, std::size_t(i)); });
  else
    each_dense_entry<Real>(team, 0, 0, n, body);
  team.sync();
}

/// L <- L (I + B) for dense lower-triangular B. Row i of L changes by itself, entries left to right, so L is its own
/// output; a team that is spread makes each entry alone, into its scratch. Cost: n^3/6 multiply-adds.
template <class Team, class Real>
KC_HD void multiply_right(const Team& team, Factor<Real> L, Factor<Real> B, Index n) {
  constexpr int P = Team::template panel<Real>;
  const auto entry = [&](Index i, Index j) {
    const Real* left = &L[factor_index<P>(i, j)];  // of the row: the next column is P further
    Real s = *left;
    for (Index k = j; k <= i;) {  // rows k of B's column j, panel by panel
      const Real* right = &B[factor_index<P>(k, j)];
      const Index end = (k / P + 1) * P <= i ? (k / P + 1) * P : i + 1;
      for (; k < end; ++k, left += P, ++right) s += *left * *right;
    }
    return s;
  };
  if constexpr (Team::on_host) {
    using Vec = Pack<Real>;
    for (Index p = 0; p * P < n; ++p) {
      const Index columns = panel_columns<P>(p, n);
      Real* panel = L.data + panel_offset<P>(p);
      for (Index j = 0; j < columns; ++j) {
        typename Vec::Type s0 = Vec::load(panel + j * std::size_t(P)), s1 = {};
        for (Index q = j / P; q * P < columns; ++q) {  // rows k of B's column j, panel by panel
          const Real* b = B.data + panel_offset<P>(q) + j * std::size_t(P);
          const Index first = q * P, to = (q + 1) * P < columns ? (q + 1) * P : columns;
          Index k = j > first ? j : first;
          for (; k + 2 <= to; k += 2) {
            s0 += Vec::load(panel + k * std::size_t(P)) * b[k - first];
            s1 += Vec::load(panel + (k + 1) * std::size_t(P)) * b[k + 1 - first];
          }
          if (k < to) s0 += Vec::load(panel + k * std::size_t(P)) * b[k - first];
        }
        Vec::store(panel + j * std::size_t(P), s0 + s1);
      }
    }
  } else if constexpr (is_spread<Team>) {
    Real* const product = static_cast<Real*>(team.scratch);
    each_entry<Real>(team, L.shape, n, [&](Index i, Index j, std::size_t k) { product[k] = entry(i, j); });
    each_entry<Real>(team, L.shape, n, [&](Index, Index, std::size_t k) { L[k] = product[k]; });
    return;
  } else {
    team.for_each(n, [&](Index i) {  // neighbouring lanes read neighbouring rows of a panel, and the same entry of B
      for (Index j = 0; j <= i; ++j) L[factor_index<P>(i, j)] = entry(i, j);
    });
  }
  team.sync();
}

/// The Cholesky factor of the P x P tile (b, b) alone, in place; NaN where a pivot is not positive. Row r of its first column
/// is lane r's own; it ends out of step.
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

/// Replaces a dense positive-definite A (its lower triangle) by its Cholesky factor L, and v by L^-1 v. Returns false, both
/// unusable, when a pivot is not positive. Panel after panel from the left: the tile on the diagonal, what is below it, what
/// that takes from the rest of A; v is like one more row of A. n^3/6 multiply-adds, and a team meets twice for each panel.
template <class Team, class Real>
KC_HD bool cholesky(const Team& team, Factor<Real> A, Index n, Row<Real> v = {}) {
  constexpr int P = Team::template panel<Real>;
  const Index panels = (n + P - 1) / P;
  apart(team, [&](const auto& part) { decompose_tile(part, A, 0, n); });
  team.sync();
  for (Index b = 0; b < panels; ++b) {
    const Index first = b * P, size = panel_columns<P>(b, n) - first, below = n - first - size;
    const auto solve = [&](Real* row, Index step) {  // row: P numbers, `step` apart; row <- row L_bb^-T
      for (Index j = 0; j < size; ++j) {
        Real s = row[j * step];
        for (Index k = 0; k < j; ++k) s -= row[k * step] * A[factor_index<P>(first + j, first + k)];
        row[j * step] = s / A[factor_index<P>(first + j, first + j)];
      }
    };
    const auto rest = [&](Index i, Index j) {
      Real s = A[factor_index<P>(i, j)];
      const Real *left = &A[factor_index<P>(i, first)], *right = &A[factor_index<P>(j, first)];
      KC_UNROLL
      for (Index k = 0; k < P; ++k) s -= left[k * P] * right[k * P];
      return s;
    };
    if constexpr (Team::on_host) {
      using Vec = Pack<Real>;
      for (Index p = b + 1; p < panels; ++p) {
        Real* const rows = A.data + panel_offset<P>(p) + first * std::size_t(P);
        for (Index j = 0; j < P; ++j) {
          auto s = Vec::load(rows + j * P);
          for (Index k = 0; k < j; ++k) s -= Vec::load(rows + k * P) * A[factor_index<P>(first + j, first + k)];
          Vec::store(rows + j * P, s / A[factor_index<P>(first + j, first + j)]);
        }
      }
      if (v.data) solve(v.data + first, 1);
      for (Index p = b + 1; p < panels; ++p) {
        Real* const panel = A.data + panel_offset<P>(p);
        typename Vec::Type left[P];
        for (Index k = 0; k < P; ++k) left[k] = Vec::load(panel + (first + k) * std::size_t(P));
        for (Index j = first + P; j < panel_columns<P>(p, n); ++j) {
          const Real* const right = &A[factor_index<P>(j, first)];
          auto change = left[0] * right[0];
          for (Index k = 1; k < P; ++k) change += left[k] * right[k * P];
          if (j >= p * P) change = Vec::keep_from(change, j - p * P);
          Vec::store(panel + j * std::size_t(P), Vec::load(panel + j * std::size_t(P)) - change);
        }
        if (v.data) {
          auto s = Vec::load(v.data + p * P);
          for (Index k = 0; k < P; ++k) s -= left[k] * v[first + k];
          Vec::store(v.data + p * P, s);
        }
      }
      if (b + 1 < panels) decompose_tile(team, A, b + 1, n);
      continue;
    } else {
      team.for_each(below + 1, [&](Index r) {
        if (r < below)
          solve(&A[factor_index<P>(first + size + r, first)], P);
        else if (v.data)
          solve(v.data + first, 1);
      });
      team.sync();
      if (below == 0) break;
      apart(team, [&](const auto& part) {
        const Index next = first + P, width = panel_columns<P>(b + 1, n) - next;
        part.for_each(P * width, [&](Index e) {
          const Index i = next + e % P, j = next + e / P;
          if (i < n && j <= i) A[factor_index<P>(i, j)] = rest(i, j);
        });
        decompose_tile(part, A, b + 1, n);
      });
      each_dense_entry<Real>(team, b + 1, 1, n, [&](Index i, Index j, std::size_t k) { A[k] = rest(i, j); });
      if (v.data)
        team.for_each(below, [&](Index r) {
          const Index j = first + P + r;
          for (Index k = 0; k < P; ++k) v[j] -= v[first + k] * A[factor_index<P>(j, first + k)];
        });
      team.sync();
    }
  }
  const double bad = team.template sum<double>(n, [&](Index i) {
    const Real pivot = A[factor_index<P>(i, i)];
    return pivot > Real(0) && math::finite(pivot) ? 0.0 : 1.0;
  });
  team.sync();  // all have seen the pivots before one changes them
  if constexpr (Team::on_host)
    if (bad != 0) {  // the zeros around the entries must be zeros again
      std::fill_n(A.data, factor_size<P>(n, FactorShape::dense), Real(0));
      if (v.data) std::fill(v.data + n, v.data + (n + P - 1) / P * P, Real(0));
    }
  return bad == 0;
}

}  // namespace kilochain
