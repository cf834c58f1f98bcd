// Tracks the Cholesky factor of a covariance without decomposing (Andrieu & Thoms 2008, sec. 5.1.1; the 2019 AM).
//   track_covariance:         L <- L + rho [a b^T - L]_low, a = x - mu, b = v = L^-1 a: the lower part of L (v v^T - I)
//   track_covariance_printed: L <- L + rho L [v v^T - I]_low, as the paper prints it
// then L_ii >= floor. The matrix comes from `source` (one chain's outer product, or its mean over chains).
// L: packed panels, or its diagonal. Cost: one pass over L; as printed n^3/6 multiply-adds.
#pragma once
#include "kernels/linalg/triangular.hpp"
#include "kernels/signal.hpp"

namespace kilochain {

template <class Team, class Real, class Source>
KC_HD void track_covariance(const Team& team, double rate, double least, const Source& source, Factor<Real> L,
                            Index n) {
  constexpr int P = Team::template panel<Real>;
  const Real rho = Real(rate), floor = Real(least);
  const auto diagonal_step = [&](Index i, std::size_t k) {
    L[k] += rho * (source(i, i, k) - L[k]);
    if (!(L[k] >= floor)) L[k] = floor;
  };
  if (L.shape == FactorShape::diagonal) {
    team.for_each(n, [&](Index i) { diagonal_step(i, std::size_t(i)); });
  } else {
    for (Index p = 0; p * P < n; ++p) {
      const Index columns = panel_columns<P>(p, n), full = p * P;
      const std::size_t base = panel_offset<P>(p);
      if constexpr (Team::on_host) {
        using Vec = Pack<Real>;  // a register of rows at a time; entries above the diagonal stay zero
        for (Index j = 0; j < columns; ++j) {
          const std::size_t k = base + std::size_t(j) * P;
          const auto now = Vec::load(L.data + k);
          auto change = source.column(full, j, k) - now;
          if (j >= full) change = Vec::keep_from(change, j - full);
          Vec::store(L.data + k, now + rho * change);
          if (j >= full) {
            Real& diagonal = L[k + std::size_t(j - full)];
            if (!(diagonal >= floor)) diagonal = floor;
          }
        }
      } else {
        team.for_each(P * columns, [&](Index e) {  // in the order of memory, as wide as the team is
          const Index i = full + e % P, j = e / P;
          if (i >= n || j > i) return;
          const std::size_t k = base + std::size_t(e);
          if (i == j)
            diagonal_step(i, k);
          else
            L[k] += rho * (source(i, j, k) - L[k]);
        });
      }
    }
  }
  team.sync();
}

/// source holds v v^T in the layout of L. A row of L depends on that row alone, columns ascending.
template <class Team, class Real, class Source>
KC_HD void track_covariance_printed(const Team& team, double rate, double least, const Source& source, Factor<Real> L,
                                    Index n) {
  constexpr int P = Team::template panel<Real>;
  const Real rho = Real(rate), floor = Real(least);
  team.for_each(n, [&](Index i) {
    if (L.shape == FactorShape::diagonal) {
      L[i] += rho * L[i] * (source(i, i, std::size_t(i)) - Real(1));
      if (!(L[i] >= floor)) L[i] = floor;
      return;
    }
    for (Index j = 0; j <= i; ++j) {
      Real product = 0;
      for (Index k = j; k <= i; ++k) product += L[factor_index<P>(i, k)] * source(k, j, factor_index<P>(k, j));
      Real& entry = L[factor_index<P>(i, j)];
      entry += rho * (product - entry);
      if (i == j && !(entry >= floor)) entry = floor;
    }
  });
  team.sync();
}

}  // namespace kilochain
