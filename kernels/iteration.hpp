// What every sampler's iteration begins and ends with, so that a sampler's file holds its mathematics alone. Its State
// derives from Position (x, lp) or PositionAndGradient (x, lp, g), and start_at and settle keep all that it has.
//   start_at(team, st, query, reply, n)    stand where the query was answered
//   ask(team, query, needs)                the point is written: ask for it
//   decide(rng, log_r)                     accept with probability min(1, exp(log_r)); not finite: a rejection
//   settle(team, move, st, query, reply, info, n)   take the new place if the decision says so, and report
// All but decide are calls of the whole team. start_at and settle end in step (kernels/device/team.hpp); ask ends a
// proposal.
#pragma once
#include "kernels/contract.hpp"
#include "kernels/factor_products.hpp"
#include "kernels/signal.hpp"

namespace kilochain {

template <class Real>
struct Position {
  Row<Real> x;
  Scalar<double> lp;
};
template <class Real>
struct PositionAndGradient : Position<Real> {
  Row<Real> g;
};
template <class V, class Real>
KC_HD void position_fields(V&& visit, Position<Real>& s) {
  visit("x", s.x, Keep::yes);
  visit("lp", s.lp, Keep::yes);
}
template <class V, class Real>
KC_HD void position_fields(V&& visit, PositionAndGradient<Real>& s) {
  position_fields(visit, static_cast<Position<Real>&>(s));
  visit("gradient", s.g, Keep::yes);
}

/// Stands where the query was answered.
template <class Team, class Real>
KC_HD void start_at(const Team& team, Position<Real>& st, const Query<Real>& query, const Reply<Real>& reply, Index n) {
  team.for_each(n, [&](Index i) { st.x[i] = query.point[i]; });
  team.single([&] { *st.lp = *reply.lp; });
  team.sync();
}
template <class Team, class Real>
KC_HD void start_at(const Team& team, PositionAndGradient<Real>& st, const Query<Real>& query, const Reply<Real>& reply,
                    Index n) {
  team.for_each(n, [&](Index i) {
    st.x[i] = query.point[i];
    st.g[i] = reply.gradient[i];
  });
  team.single([&] { *st.lp = *reply.lp; });
  team.sync();
}

/// What most samplers share: a chain begins where it is placed, and no default depends on whether chains are pooled.
template <class Real>
struct PlainStart {
  template <class Settings>
  static void resolve(Settings&, Scope) {}
  template <class Team, class Settings, class Adaptation, class State>
  static KC_HD void start(const Team& team, const Settings&, const Adaptation&, State& st, const Query<Real>& query,
                          const Reply<Real>& reply, Index n) {
    start_at(team, st, query, reply, n);
  }
};

template <class Team, class Real>
KC_HD void ask(const Team& team, const Query<Real>& query, Needs needs) {
  team.single([&] { *query.needs = needs; });
}

struct Decision {
  bool accept, finite;
  double probability;  ///< min(1, r)
};
KC_INLINE Decision decide(const Rng& rng, double log_r) {
  const bool finite = math::finite(log_r);
  const double p = !finite ? 0.0 : (log_r < 0 ? math::exp(log_r) : 1.0);
  return {finite && uniform(rng, Purpose::accept) < p, finite, p};
}

template <class Team, class State, class Real>
KC_HD void settle(const Team& team, const Decision& move, State& st, const Query<Real>& query, const Reply<Real>& reply,
                  Info& info, Index n) {
  team.sync();  // all have read the old place
  if (move.accept) start_at(team, st, query, reply, n);
  info.lp = *st.lp;
  info.acceptance_rate = move.probability;
  info.accepted = move.accept;
  info.diverging = !move.finite;
}

}  // namespace kilochain
