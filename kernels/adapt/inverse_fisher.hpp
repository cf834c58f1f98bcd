// Learns a proposal's factor from gradients: L L^T = sigma^2 A n/tr A, A^-1 = damping I + sum s s^T (Titsias 2023), s
// the signals of all iterations and chains: the optimal preconditioner is the inverse of the Fisher matrix E[g g^T].
//   one chain: R <- R K, K K^T = (I + phi phi^T)^-1, phi = R^T s; the signal is L^T s, and R = unit L. The published
//   root of that is symmetric; K is triangular, with the same A (rank_one.hpp). Cost: three passes over L.
//   pooled: the signal is s; A^-1 is summed with its coordinates in reverse, A^-1 = W W^T, and L = (W^-1)^T in reverse
//   is lower triangular; n^3/3 once for all chains, whenever the sum has grown by a tenth.
// L comes to rest by itself: what an iteration adds is one of t terms.
#pragma once
#include "kernels/linalg/rank_one.hpp"
#include "kernels/signal.hpp"

namespace kilochain {

template <class Real>
struct FisherAdaptation {
  Factor<Real> L;
  Scalar<double> variance;       ///< sigma^2 = tr(L L^T)/n
  Scalar<double> unit;           ///< each alone: R = unit L
  Row<Real> phi, own, below;     ///< workspace of one chain
  Factor<Real> precision, work;  ///< pooled: A^-1 in reverse; its factor
  Scalar<double> count, next;    ///< pooled: iterations in the sum; at which L is made next
};
template <class V, class Real>
KC_HD void fisher_layout(V&& visit, FisherAdaptation<Real>& a, bool pooled) {
  visit("L", a.L, FactorShape::dense, Keep::yes);
  visit("variance", a.variance, Keep::yes);
  if (pooled) {
    visit("precision", a.precision, FactorShape::dense, Keep::yes);
    visit("work", a.work, FactorShape::dense, Keep::yes);  // its zeros above the diagonal must stay
    visit("count", a.count, Keep::yes);
    visit("next", a.next, Keep::yes);
  } else {
    visit("unit", a.unit, Keep::yes);
    visit("phi", a.phi, Keep::no);
    visit("own", a.own, Keep::no);
    visit("below", a.below, Keep::no);
  }
}
/// L = sigma I, A = I/damping. Memory must be zero.
template <class Team, class Real>
KC_HD void start_fisher(const Team& team, double damping, double variance, bool pooled, FisherAdaptation<Real>& a,
                        Index n) {
  constexpr int P = Team::template panel<Real>;
  const Real sd = Real(sqrt(variance));
  team.for_each(n, [&](Index i) { a.L[factor_index<P>(i, i)] = sd; });
  if (pooled) team.for_each(n, [&](Index i) { a.precision[factor_index<P>(i, i)] = Real(damping); });
  team.single([&] {
    *a.variance = variance;
    if (pooled)
      *a.count = 0, *a.next = 1;
    else
      *a.unit = 1 / sqrt(variance * damping);
  });
}

/// tr(L L^T). Summed anew each time: carried along it would lose digits where one direction holds nearly all of it.
template <class Team, class Real>
KC_HD double trace_of(const Team& team, Factor<Real> L, Index n) {
  const auto stored = static_cast<Index>(factor_size<Team::template panel<Real>>(n, FactorShape::dense));
  return team.template sum<double>(stored, [&](Index k) { return double(L.data[k]) * double(L.data[k]); });
}

/// sigma^2 <- variance, L to its scale; `trace` is that of L L^T.
template <class Team, class Real>
KC_HD void scale_fisher(const Team& team, double trace, double variance, FisherAdaptation<Real>& a, Index n) {
  const Real scale = Real(sqrt(variance * n / trace));
  team.sync();  // all have read
  each_run<Real>(team, FactorShape::dense, n, [&](auto run) { run.store(a.L, scale * run.load(a.L)); });
  team.single([&] { *a.variance = variance; });
}

/// Takes one chain's signal, L^T s, and the next variance. |phi|^2 above `most` is taken as that: one step narrows no
/// direction by more, as far out gradients may be huge.
template <class Team, class Real, class Source>
KC_HD void add_signal(const Team& team, const Source& source, double variance, FisherAdaptation<Real>& a, Index n) {
  constexpr double most = 1000;
  const double unit = *a.unit, old = trace_of(team, a.L, n);
  const double square = unit * unit * team.template sum<double>(n, [&](Index i) {
    return double(source.vector(i)) * double(source.vector(i));
  });
  const bool learns = square > 1e-12 && math::finite(square);
  const double kept = square < most ? square : most;
  const Real factor = Real(learns ? unit * sqrt(kept / square) : 0.0);
  team.for_each(n, [&](Index i) { a.phi[i] = factor * source.vector(i); });
  team.sync();
  multiply_lower(team, a.L, a.phi, a.below, n);
  const double lost = team.template sum<double>(n, [&](Index i) { return double(a.below[i]) * double(a.below[i]); });
  const double c = 1 / (1 + kept), trace = old - (learns ? c * lost : 0.0), scale = sqrt(variance * n / trace);
  if (learns)
    scale_rank_one(team, a.L, Real(-c), Real(scale), a.phi, a.own, a.below, n);
  else
    scale_fisher(team, old, variance, a, n);
  team.single([&] { *a.variance = variance, *a.unit = unit / scale; });
}

/// L L^T = A from its inverse; L as it was where that is not positive definite.
template <class Team, class Real>
KC_HD void invert_precision(const Team& team, FisherAdaptation<Real>& a, Index n) {
  constexpr int P = Team::template panel<Real>;
  each_run<Real>(team, FactorShape::dense, n, [&](auto run) { run.store(a.work, run.load(a.precision)); });
  if (!cholesky(team, a.work, n)) return;
  team.for_each(n, [&](Index i) {  // row i is column n - 1 - i of W^-1, from its diagonal on
    for (Index j = i; j >= 0; --j) {
      const Index r = n - 1 - j;
      Real sum = i == j ? Real(1) : Real(0);
      for (Index m = j + 1; m <= i; ++m) sum -= a.work[factor_index<P>(r, n - 1 - m)] * a.L[factor_index<P>(i, m)];
      a.L[factor_index<P>(i, j)] = sum / a.work[factor_index<P>(r, r)];
    }
  });
  team.sync();
}

/// Takes the mean over chains of s s^T, and the next variance.
template <class Team, class Real, class Source>
KC_HD void add_signals(const Team& team, const Source& source, double variance, FisherAdaptation<Real>& a, Index n) {
  constexpr int P = Team::template panel<Real>;
  const double count = *a.count + 1, next = *a.next;
  each_entry<Real>(team, FactorShape::dense, n, [&](Index i, Index j, std::size_t place) {
    const Index row = n - 1 - j, column = n - 1 - i;
    a.precision[place] += Real(source.chains()) * source(row, column, factor_index<P>(row, column));
  });
  const bool makes = count >= next;
  team.single([&] {
    *a.count = count;
    if (makes) *a.next = 1.1 * count + 1;
  });
  if (makes) invert_precision(team, a, n);
  scale_fisher(team, trace_of(team, a.L, n), variance, a, n);
}

}  // namespace kilochain
