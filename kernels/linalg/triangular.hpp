// Products and solves of a lower-triangular factor L (n x n) in panels (kernels/device/panels.hpp), its decomposition.
//   y = L v      y = L^T v      L y = v      L^T w = v      L (I + B)      A = L L^T
// The products stream L once, in order, a vector register (or warp) at a time: n^2/2 + nP/2 multiply-adds. A diagonal
// factor costs n. Rows are padded with zeros to a multiple of 32, as fields are. L v and L^T v do nothing on a team for
// which they were made before (kernels/factor_products.hpp).
#pragma once
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
  } else {
    for (Index p = 0; p * P < n; ++p) {
      const Real* panel = L.data + panel_offset<P>(p);
      const Index columns = panel_columns<P>(p, n);
      team.for_each(P, [&](Index l) {
        Real s = 0;
        for (Index j = 0; j < columns; ++j) s += panel[std::size_t(j) * P + l] * v[j];
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
  team.sync();
}

/// Solves L^T w = v in place of v. Serial in columns: for rare moments.
template <class Team, class Real>
KC_HD void solve_transposed(const Team& team, Factor<Real> L, Row<Real> v, Index n) {
  constexpr int P = Team::template panel<Real>;
  if (L.shape == FactorShape::diagonal) {
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

/// L <- L (I + B) for dense lower-triangular B. Row i of L changes by itself, entries left to right, so L is its own
/// output. Cost: n^3/6 multiply-adds.
template <class Team, class Real>
KC_HD void multiply_right(const Team& team, Factor<Real> L, Factor<Real> B, Index n) {
  constexpr int P = Team::template panel<Real>;
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
  } else {
    team.for_each(n, [&](Index i) {  // neighbouring lanes read neighbouring rows of a panel, and the same entry of B
      for (Index j = 0; j <= i; ++j) {
        Real s = L[factor_index<P>(i, j)];
        for (Index k = j; k <= i; ++k) s += L[factor_index<P>(i, k)] * B[factor_index<P>(k, j)];
        L[factor_index<P>(i, j)] = s;
      }
    });
  }
  team.sync();
}

/// Replaces a dense positive-definite A (its lower triangle) by its Cholesky factor. Returns false, A unusable, when a
/// pivot is not positive. n^3/6 multiply-adds, a row at a time: for the rare moment when a matrix has been learnt.
template <class Team, class Real>
KC_HD bool cholesky(const Team& team, Factor<Real> A, Index n) {
  constexpr int P = Team::template panel<Real>;
  for (Index j = 0; j < n; ++j) {
    const Real square = A[factor_index<P>(j, j)] - team.template sum<Real>(j, [&](Index k) {
      const Real v = A[factor_index<P>(j, k)];
      return v * v;
    });
    if (!(square > Real(0)) || !math::finite(square)) return false;
    const Real pivot = Real(sqrt(square));
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
