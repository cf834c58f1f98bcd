// A mass matrix learnt from the draws of warm-up, kept as a factor F of its inverse: inv_mass_matrix = F F^T.
// Momenta are whitened, r = F^T p ~ N(0, I): kick r += c F^T g, drift q += c F r, kinetic energy |r|^2/2.
// The variance V of the k draws of a window (warmup_windows.hpp), shrunk as Stan does, (k V + 5 1e-3)/(k + 5), becomes
// the next inverse mass; k counts the draws of all chains where they are pooled. Sums are taken about a centre near the
// mean, of d = x - centre and of d d^T; when chains are pooled, of their means over chains. Unit mass needs no F.
// Cost of a kick or drift: O(n), dense one pass over F; of the end of a window: dense, a Cholesky decomposition.
#pragma once
#include "kernels/adapt/warmup_windows.hpp"
#include "kernels/linalg/triangular.hpp"
#include "kernels/signal.hpp"

namespace kilochain {

enum class Mass : std::int32_t { unit, diagonal, dense };

template <class Real>
struct MassAdaptation {
  Factor<Real> F, square;  ///< square: the sum of d d^T; all null when the mass is unit
  Row<Real> centre, sum;
  Scalar<double> count;  ///< iterations in the sums
  Row<Real> diagonal;    ///< that of a dense F which the host has set
  Scalar<double> plain;  ///< 1: a dense F is that diagonal, and a product with it takes O(n)
};

KC_INLINE FactorShape mass_shape(Mass mass) { return mass == Mass::dense ? FactorShape::dense : FactorShape::diagonal; }

template <class V, class Real>
KC_HD void mass_layout(V&& visit, MassAdaptation<Real>& a, Mass mass) {
  if (mass == Mass::unit) a.F.shape = FactorShape::diagonal;  // nothing to multiply by
  if (mass == Mass::unit) return;
  visit("mass_factor", a.F, mass_shape(mass), Keep::yes);
  visit("mass_centre", a.centre, Keep::yes);
  visit("mass_sum", a.sum, Keep::yes);
  visit("mass_square", a.square, mass_shape(mass), Keep::yes);
  visit("mass_count", a.count, Keep::yes);
}
/// The rest of it, behind all that a device reads.
template <class V, class Real>
KC_HD void plain_layout(V&& visit, MassAdaptation<Real>& a, Mass mass) {
  if (mass != Mass::dense) return;
  visit("mass_diagonal", a.diagonal, Keep::yes);
  visit("mass_plain", a.plain, Keep::yes);
}

/// F = I. Memory must be zero.
template <class Team, class Real>
KC_HD void start_mass(const Team& team, Mass mass, MassAdaptation<Real>& a, Index n) {
  constexpr int P = Team::template panel<Real>;
  if (mass != Mass::unit) team.for_each(n, [&](Index i) { a.F[diagonal_index<P>(mass_shape(mass), i)] = Real(1); });
}

/// Whether a dense F is a diagonal, on the host: a device makes its products for all chains at once, or has a lane for
/// each row, and a kernel with both ways would spill.
template <class Team, class Real>
KC_INLINE bool is_plain(Mass mass, const MassAdaptation<Real>& a) {
  if constexpr (Team::on_host && !products_made<Team>) return mass == Mass::dense && *a.plain != 0;
  return false;
}

/// r += c F^T g. work: a row; n: coordinates.
template <class Team, class Real>
KC_HD void kick(const Team& team, Mass mass, const MassAdaptation<Real>& a, Real c, Row<Real> g, Row<Real> r,
                Row<Real> work, Index n) {
  if (is_plain<Team>(mass, a)) {
    team.for_each(n, [&](Index i) { r[i] += c * a.diagonal[i] * g[i]; });
  } else if (mass == Mass::dense) {
    multiply_transposed(team, a.F, g, work, n);
    team.for_each(n, [&](Index i) { r[i] += c * work[i]; });
  } else if (mass == Mass::diagonal) {
    team.for_each(n, [&](Index i) { r[i] += c * a.F[i] * g[i]; });
  } else {
    team.for_each(n, [&](Index i) { r[i] += c * g[i]; });
  }
  team.sync();
}
/// q = x + c F r; q may be x. Where F r is made elsewhere, after this: q = x, and finish_drift goes on. Both end a
/// proposal: nobody reads q before the next sync.
template <class Team, class Real>
KC_HD void drift(const Team& team, Mass mass, const MassAdaptation<Real>& a, Real c, Row<Real> x, Row<Real> r,
                 Row<Real> q, Row<Real> work, Index n) {
  if constexpr (products_made<Team>) {
    if (q.data != x.data) team.for_each(n, [&](Index i) { q[i] = x[i]; });
  } else if (is_plain<Team>(mass, a)) {
    team.for_each(n, [&](Index i) { q[i] = x[i] + c * a.diagonal[i] * r[i]; });
  } else if (mass == Mass::dense) {
    multiply_lower(team, a.F, r, work, n);
    team.for_each(n, [&](Index i) { q[i] = x[i] + c * work[i]; });
  } else if (mass == Mass::diagonal) {
    team.for_each(n, [&](Index i) { q[i] = x[i] + c * a.F[i] * r[i]; });
  } else {
    team.for_each(n, [&](Index i) { q[i] = x[i] + c * r[i]; });
  }
}

/// q += c F r, where work is F r.
template <class Team, class Real>
KC_HD void finish_drift(const Team& team, Real c, Row<Real> work, Row<Real> q, Index n) {
  team.for_each(n, [&](Index i) { q[i] = q[i] + c * work[i]; });
}

/// The signal of one draw: d d^T and d; neither under unit mass.
template <class Real>
KC_INLINE Signal<Real> mass_signal(Mass mass, double acceptance, Row<Real> d) {
  Signal<Real> out = outer_signal(acceptance, d, d);
  if (mass == Mass::unit) out.rank = 0;
  out.vector = d;
  return out;
}

/// Whether adapt_mass reads d d^T: their sums over chains cost n^2 an iteration.
KC_INLINE bool reads_mass(Mass mass, const Schedule& at) {
  return mass != Mass::unit && WarmupWindows(at.num_warmup).learning(at.t);
}

/// Adds one draw (or the mean over chains): source holds d d^T and d. Returns true when a window ended and F is new.
template <class Team, class Real, class Source>
KC_HD bool adapt_mass(const Team& team, Mass mass, const Schedule& at, const Source& source, MassAdaptation<Real>& a,
                      Index n) {
  const WarmupWindows windows(at.num_warmup);
  if (mass == Mass::unit || at.t + 1 < windows.first || at.t >= windows.last) return false;
  if (!windows.learning(at.t)) {  // the iteration before the first window gives its centre
    team.for_each(n, [&](Index i) { a.centre[i] += source.vector(i); });
    return false;
  }
  team.for_each(n, [&](Index i) { a.sum[i] += source.vector(i); });
  each_run<Real>(team, mass_shape(mass), n,
                 [&](auto run) { run.store(a.square, run.load(a.square) + run.lower(run.of(source))); });
  const double count = *a.count + 1;
  const bool ends = windows.ends(at.t);
  team.sync();
  team.single([&] { *a.count = ends ? 0 : count; });
  if (!ends) return false;
  const double draws = count * source.chains();
  const Real each = Real(1 / count), kept = Real(draws / (draws + 5)), prior = Real(1e-3 * 5 / (draws + 5));
  const auto covariance = [&](Index i, Index j, std::size_t k) {
    const Real v = kept * (a.square[k] * each - (a.sum[i] * each) * (a.sum[j] * each));
    return i == j ? v + prior : v;
  };
  bool fresh = true;
  if (mass == Mass::diagonal) {
    team.for_each(n, [&](Index i) {
      const Real v = covariance(i, i, std::size_t(i));
      if (v > Real(0) && math::finite(v)) a.F[i] = Real(sqrt(v));
      a.square[i] = 0;
    });
  } else {
    each_entry<Real>(team, FactorShape::dense, n,
                     [&](Index i, Index j, std::size_t k) { a.square[k] = covariance(i, j, k); });
    fresh = cholesky(team, a.square, n);  // a window of too few draws in float may not be positive definite: keep F
    each_run<Real>(team, FactorShape::dense, n, [&](auto run) {
      if (fresh) run.store(a.F, run.load(a.square));
      run.store(a.square, run.rows.all(0));
    });
    team.single([&] { *a.plain = fresh ? 0 : *a.plain; });
  }
  team.for_each(n, [&](Index i) {
    a.centre[i] += a.sum[i] * each;
    a.sum[i] = 0;
  });
  return fresh;
}

}  // namespace kilochain
