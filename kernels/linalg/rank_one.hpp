// A factor L of a covariance changed by a matrix known in L's own coordinates, without a new decomposition:
//   scale_rank_one:  L <- g L K, K K^T = I + c w w^T, so C <- g^2 (C + c v v^T) with v = L w;  c < 0 takes away
//     s_j = 1 + c sum_{k<=j} w_k^2,  K_jj = sqrt(s_j/s_{j-1}),  K_ij = c w_i w_j / sqrt(s_j s_{j-1}) for i > j
//     so column j becomes g (K_jj L_j + c w_j/sqrt(s_j s_{j-1}) sum_{i>j} w_i L_i): two multiply-adds an entry, the sum
//     growing from the last column to the first; and w's vector then has the coordinates w_j / (g sqrt(s_j s_{j-1})).
//   scale_by:        L <- g L K, K K^T = B for a full B (the mean over chains). A diagonal factor keeps its diagonal.
// The square root of I + c w w^T that is symmetric, I + (sqrt(1 + c|w|^2) - 1) w w^T/|w|^2, gives the same L L^T; with
// K the factor stays triangular, with n square roots that depend on no other. Cost: n^2 multiply-adds; scale_by: n^3/3.
#pragma once
#include "kernels/linalg/triangular.hpp"

namespace kilochain {

/// Entry (i, j) of L L^T, j <= i.
template <int P, class Real>
KC_INLINE Real product_entry(Factor<Real> L, Index i, Index j) {
  if (L.shape == FactorShape::diagonal) return L[i] * L[j];
  Real sum = 0;
  for (Index k = 0; k <= j; ++k) sum += L[factor_index<P>(i, k)] * L[factor_index<P>(j, k)];
  return sum;
}

/// L_ii >= least.
template <class Team, class Real>
KC_HD void floor_diagonal(const Team& team, Factor<Real> L, Real least, Index n) {
  constexpr int P = Team::template panel<Real>;
  team.for_each(n, [&](Index i) {
    Real& entry = L[diagonal_index<P>(L.shape, i)];
    if (!(entry >= least)) entry = least;
  });
  team.sync();
}

/// A += c v v^T.
template <class Team, class Real>
KC_HD void add_outer(const Team& team, Factor<Real> A, Real c, Row<Real> v, Index n) {
  each_run<Real>(
      team, A.shape, n, [&](auto rows, Index first) { return c * rows.load(v.data + first); },
      [&](auto run, auto scaled) { run.store(A, run.load(A) + run.lower(scaled * v[run.j])); });
}

/// L <- g L K, and w <- the coordinates, under the new L, of the vector that it stood for. Returns log det K. 1 + c
/// |w|^2 must be positive, and c not zero. own, below: rows of workspace.
template <class Team, class Real>
KC_HD double scale_rank_one(const Team& team, Factor<Real> L, Real c, Real g, Row<Real> w, Row<Real> own,
                            Row<Real> below, Index n) {
  constexpr int P = Team::template panel<Real>;
  if (L.shape == FactorShape::diagonal) {
    const double log_det = 0.5 * team.template sum<double>(n, [&](Index i) {
      return math::log(1 + double(c) * double(w[i]) * double(w[i]));
    });
    team.for_each(n, [&](Index i) {
      const Real root = g * sqrt(Real(1) + c * w[i] * w[i]);
      L[i] *= root;
      w[i] /= root;
    });
    team.sync();
    return log_det;
  }
  const Real last = running_sums(
      team, Real(1), n, [&](auto rows, Index j) { return c * rows.load(w.data + j) * rows.load(w.data + j); },
      [&](auto rows, Index j, auto before, auto with) {
        const auto root = Real(1) / rows.sqrt(with * before);
        rows.store(own.data + j, g * with * root);
        rows.store(below.data + j, (g * c) * rows.load(w.data + j) * root);
      });
  team.sync();
  each_panel<Real>(team, 0, (n + P - 1) / P, [&](Index p, auto rows) {
    Real* const panel = L.data + panel_offset<P>(p);
    auto sum = rows.all(0);
    for (Index j = panel_columns<P>(p, n) - 1; j >= 0; --j) {
      const auto old = rows.load(panel + j * std::size_t(P));
      rows.store(panel + j * std::size_t(P), old * own[j] + sum * below[j]);
      sum += old * w[j];
    }
  });
  team.sync();
  const Real carry = Real(1) / (g * g * c);
  team.for_each(n, [&](Index j) { w[j] = below[j] * carry; });
  team.sync();
  return 0.5 * log(double(last));
}

/// B <- K with K K^T = B and v <- K^-1 v, and log det K; NaN, and both unusable, where B is not positive definite. B:
/// packed panels, or diagonal.
template <class Team, class Real>
KC_HD double decompose(const Team& team, Factor<Real> B, Index n, Row<Real> v = {}) {
  constexpr int P = Team::template panel<Real>;
  if (B.shape == FactorShape::diagonal) {
    team.for_each(n, [&](Index i) {
      B[i] = sqrt(B[i]);
      if (v.data) v[i] /= B[i];
    });
    team.sync();
  } else if (!cholesky(team, B, n, v)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return team.template sum<double>(n, [&](Index i) { return math::log(double(B[diagonal_index<P>(B.shape, i)])); });
}

/// L <- g L K for K from decompose, which is spoilt.
template <class Team, class Real>
KC_HD void scale_by(const Team& team, Factor<Real> L, Factor<Real> K, Real g, Index n) {
  if (L.shape == FactorShape::diagonal) {
    team.for_each(n, [&](Index i) { L[i] *= g * K[i]; });
    team.sync();
    return;
  }
  each_run<Real>(team, L.shape, n, [&](auto run) { run.store(K, run.lower_plus(g * run.load(K), run.rows.all(-1))); });
  multiply_right(team, L, K, n);
}

}  // namespace kilochain
