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
  const Real rho = Real(rate), floor = Real(least);
  each_run<Real>(team, L.shape, n, [&](auto run) {
    const auto now = run.load(L);
    run.store(L, now + rho * run.lower(run.of(source) - now));
    run.floor_diagonal(L, floor);
  });
}

/// source holds v v^T in the layout of L. A row of L depends on that row alone, columns ascending; a team that is
/// spread makes each entry alone, into its scratch.
template <class Team, class Real, class Source>
KC_HD void track_covariance_printed(const Team& team, double rate, double least, const Source& source, Factor<Real> L,
                                    Index n) {
  constexpr int P = Team::template panel<Real>;
  const Real rho = Real(rate), floor = Real(least);
  const auto changed = [&](Index i, Index j) {
    Real product = 0;
    for (Index k = j; k <= i; ++k) product += L[factor_index<P>(i, k)] * source(k, j, factor_index<P>(k, j));
    const Real old = L[factor_index<P>(i, j)], entry = old + rho * (product - old);
    return i == j && !(entry >= floor) ? floor : entry;
  };
  if (L.shape == FactorShape::diagonal) {
    team.for_each(n, [&](Index i) {
      L[i] += rho * L[i] * (source(i, i, std::size_t(i)) - Real(1));
      if (!(L[i] >= floor)) L[i] = floor;
    });
  } else if constexpr (is_spread<Team>) {
    Real* const all = static_cast<Real*>(team.scratch);
    each_entry<Real>(team, L.shape, n, [&](Index i, Index j, std::size_t k) { all[k] = changed(i, j); });
    each_entry<Real>(team, L.shape, n, [&](Index, Index, std::size_t k) { L[k] = all[k]; });
  } else {
    team.for_each(n, [&](Index i) {
      for (Index j = 0; j <= i; ++j) L[factor_index<P>(i, j)] = changed(i, j);
    });
  }
}

}  // namespace kilochain
