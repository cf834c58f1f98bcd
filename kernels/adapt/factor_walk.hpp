// What the samplers of Haario, Mueller, Igel and their followers share: a symmetric random walk shaped by a factor that
// is learnt from the states (Milgo et al., "Comparison of Adaptive MCMC Samplers", eq. 1 to 7).
//   y = x + sigma L z, z ~ N(0, I);  accept with min(1, exp(lp(y) - lp(x)));  L_0 = C_0^(1/2), sigma_0 = initial_scale
// A sampler adds what it learns: learn(team, s, a, st, query, accepted, n) writes st.w for the signal, adapt moves L.
// All speak of C in the coordinates of its own factor: L w is what is learnt from. C_0 is a multiple of I.
// State rows (n). Team-uniform; bitwise the same under any batch split. Cost: one pass over L, and adapt's.
#pragma once
#include "kernels/adapt/schedule.hpp"
#include "kernels/iteration.hpp"
#include "kernels/linalg/rank_one.hpp"

namespace kilochain {

struct WalkSettings : ScheduleSettings {
  FactorShape factor = FactorShape::dense;
  double initial_scale = 1, initial_sd = 1, pooled_speedup = 10;
  Scope scope = Scope::chain;  ///< what resolve was given
};

template <class V>
void walk_fields(V&& visit, WalkSettings& s) {
  visit("factor", s.factor, Names{"dense", "diagonal"},
        "shape of L: full lower triangle, or its diagonal, O(n) an iteration");
  visit("initial_scale", s.initial_scale, positive(), "sigma at the start");
  visit("initial_sd", s.initial_sd, positive(), "L starts as this times the identity");
  visit("pooled_speedup", s.pooled_speedup, positive(),
        "factor on the rates of L when chains are pooled: their mean bears larger steps");
  schedule_fields(visit, s);
}

template <class Real>
struct WalkState : Position<Real> {
  Row<Real> z, w;  ///< w: what the iteration teaches, in the coordinates of L
};

template <class Real>
struct WalkAdaptation {
  Factor<Real> L;
  Scalar<double> scale;    ///< sigma
  Scalar<double> pending;  ///< det L^(-1/n), by which the next change scales L where L is normalised
  Row<Real> carried;       ///< a vector that the rule keeps in the coordinates of L
  Row<Real> own, below;    ///< workspace, as is `work`
  Factor<Real> work;
};

/// The factor on the rates of L, and a rate that keeps C positive.
template <class Source>
KC_INLINE double walk_rate(const WalkSettings& s, const Schedule& at) {
  return rate_at(s, at) * (Source::pooled ? s.pooled_speedup : 1.0);
}
KC_INLINE double bounded_rate(double rate) { return rate < 0.5 ? rate : 0.5; }

/// Everything of a sampler but its rule. Derived: Settings from WalkSettings, Adaptation from WalkAdaptation, learn,
/// adapt.
template <class Real, class Derived>
struct FactorWalk : PlainStart<Real> {
  using State = WalkState<Real>;
  template <class V, class S>
  static KC_HD void state(V&& visit, State& st, const S&) {
    position_fields(visit, st);
    visit("z", st.z, Keep::no);
    visit("signal", st.w, Keep::no);
  }
  template <class V>
  static KC_HD void walk_adaptation(V&& visit, WalkAdaptation<Real>& a, const WalkSettings& s, bool decomposes) {
    visit("L", a.L, s.factor, Keep::yes);
    visit("step_size", a.scale, Keep::yes);
    visit("pending", a.pending, Keep::yes);
    visit("carried", a.carried, Keep::yes);
    visit("own", a.own, Keep::no);
    visit("below", a.below, Keep::no);
    if (decomposes) visit("work", a.work, s.factor, Keep::yes);  // its zeros above the diagonal must stay
  }
  template <class Team>
  static KC_HD void start_walk(const Team& team, const WalkSettings& s, WalkAdaptation<Real>& a, Index n) {
    constexpr int P = Team::template panel<Real>;
    const Real sd = static_cast<Real>(s.initial_sd);
    team.for_each(n, [&](Index i) { a.L[diagonal_index<P>(a.L.shape, i)] = sd; });
    team.single([&] { *a.scale = s.initial_scale, *a.pending = 1; });
  }
  template <class S>
  static void resolve(S& s, Scope scope) {
    s.scope = scope;
  }
  static KC_HD FactorShape signal_shape(const WalkSettings& s) { return s.factor; }

  static constexpr Moves moves = Moves::by_factor;
  template <class V, class S>
  static KC_HD void products(V&& visit, const S&, bool, const State& st, const Query<Real>& query, const Reply<Real>&) {
    visit(Before::place, Times::lower, st.z, query.direction);
  }
  template <class Team, class S, class A>
  static KC_HD void draw(const Team& team, const Rng& rng, const S&, const Schedule&, const A&, State& st,
                         const Query<Real>&, Index n) {
    normals(team, rng, Purpose::proposal, st.z, n);
  }
  template <class Team, class S, class A>
  static KC_HD void place(const Team& team, const S& s, const Schedule&, const A& a, State& st,
                          const Query<Real>& query, Index n) {
    const Row<Real> shaped = Derived::shapes(s, a) ? query.direction : st.z;
    const Real sigma = static_cast<Real>(Derived::scale(s, a, n));
    team.for_each(n, [&](Index i) { query.point[i] = st.x[i] + sigma * shaped[i]; });
    ask(team, query, Needs::value);
  }
  template <class Team, class S, class A>
  static KC_HD Step update(const Team& team, const Rng& rng, const S& s, const Schedule& at, const A& a, State& st,
                           const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    const Decision move = decide(rng, *reply.lp - *st.lp);
    info.stats[0] = Derived::scale(s, a, n);
    if (at.adapting) Derived::learn(team, s, a, st, query, move.accept, n);
    settle(team, move, st, query, reply, info, n);
    return Step::done;
  }
  template <class S>
  static KC_HD Signal<Real> signal(const S&, const State& st, double acceptance) {
    Signal<Real> out = outer_signal<Real>(acceptance, st.w, st.w);
    out.vector = st.w;
    return out;
  }
  /// sigma, and whether z goes through L: what a rule may have otherwise for a time.
  template <class S, class A>
  static KC_HD double scale(const S&, const A& a, Index) {
    return *a.scale;
  }
  template <class S, class A>
  static KC_HD bool shapes(const S&, const A&) {
    return true;
  }
};

/// C <- keep C + add L M L^T, M the source's matrix; the source's vector becomes a.carried, in the coordinates of the
/// new L. Normalised: C is scaled to determinant 1 first, in place of `keep`, so that sigma alone holds the scale; the
/// roots and logarithms of that are those of the change before, and nothing waits for them. One chain: a rank-one
/// change, O(n^2); pooled: a decomposition.
template <class Team, class Real, class Source>
KC_HD void spread_factor(const Team& team, double keep, double add, bool normalised, const Source& source,
                         WalkAdaptation<Real>& a, Index n) {
  team.for_each(n, [&](Index i) { a.carried[i] = source.vector(i); });
  const Real c = static_cast<Real>(add / keep), g = static_cast<Real>(normalised ? *a.pending : sqrt(keep));
  team.sync();
  double log_det = 0;
  if constexpr (!Source::pooled) {
    log_det = scale_rank_one(team, a.L, c, g, a.carried, a.own, a.below, n);
  } else {
    each_run<Real>(team, a.L.shape, n,
                   [&](auto run) { run.store(a.work, run.lower_plus(c * run.of(source), run.rows.all(1))); });
    log_det = decompose(team, a.work, n, a.carried);
    if (!math::finite(log_det)) {
      team.for_each(n, [&](Index i) { a.carried[i] = source.vector(i); });
      return;
    }
    team.for_each(n, [&](Index i) { a.carried[i] /= g; });
    scale_by(team, a.L, a.work, g, n);
  }
  if (normalised) team.single([&] { *a.pending = exp(-log_det / n); });
}

}  // namespace kilochain
