// The move of Langevin samplers with a factor L, whatever teaches it:
//   h = L^T g(x)/2 + eps, y = x + L h;  log r = lp(y) - lp(x) - |h + L^T g(y)/2|^2/2 + |eps|^2/2
// L^T g(x) is that of the L of the proposal, also in the first iteration after the last that adapts: a chain's drift
// there and that of the way back must be one function, or the move leaves another law unchanged.
// Cost: two passes over L (L h, L^T g(y)), one more while adapting (L^T g(x) with the new L).
#pragma once
#include "kernels/iteration.hpp"
#include "kernels/linalg/triangular.hpp"

namespace kilochain {

template <class Real>
struct LangevinState : PositionAndGradient<Real> {
  Row<Real> ltg;      ///< L^T g(x)
  Row<Real> h, ltgy;  ///< of the move under way
  Row<Real> a;        ///< its signal
  Scalar<double> eps_square;
  Scalar<double> changed;  ///< 1: L may be another than that of ltg
};
template <class V, class Real>
KC_HD void langevin_fields(V&& visit, LangevinState<Real>& st) {
  position_fields(visit, st);
  visit("ltg", st.ltg, Keep::yes);
  visit("h", st.h, Keep::no);
  visit("ltgy", st.ltgy, Keep::no);
  visit("signal_a", st.a, Keep::no);
  visit("eps_square", st.eps_square, Keep::no);
  visit("ltg_changed", st.changed, Keep::yes);
}

template <class Real>
struct FactorLangevin {
  using Langevin = LangevinState<Real>;
  static constexpr Moves moves = Moves::by_factor;

  template <class Team, class S, class A>
  static KC_HD void start(const Team& team, const S&, const A& a, Langevin& st, const Query<Real>& query,
                          const Reply<Real>& reply, Index n) {
    start_at(team, st, query, reply, n);
    multiply_transposed(team, a.L, st.g, st.ltg, n);
    team.single([&] { *st.changed = 0; });
  }
  template <class V, class S>
  static KC_HD void products(V&& visit, const S&, bool adapting, const Langevin& st, const Query<Real>& query,
                             const Reply<Real>& reply) {
    visit(Before::update, Times::transposed, reply.gradient, st.ltgy);
    if (adapting) visit(Before::draw, Times::transposed, st.g, query.direction);
    visit(Before::place, Times::lower, st.h, query.direction);
  }
  template <class Team, class S, class A>
  static KC_HD void draw(const Team& team, const Rng& rng, const S&, const Schedule& at, const A& a, Langevin& st,
                         const Query<Real>& query, Index n) {
    if (at.adapting || *st.changed != 0) {
      multiply_transposed(team, a.L, st.g, query.direction, n);
      team.for_each(n, [&](Index i) { st.ltg[i] = query.direction[i]; });
      team.single([&] { *st.changed = at.adapting; });  // once this iteration has taught L something
    }
    normals(team, rng, Purpose::proposal, st.h, n);
    const double eps_square = team.template sum<Real>(n, [&](Index i) { return st.h[i] * st.h[i]; });
    team.single([&] { *st.eps_square = eps_square; });
    team.for_each(n, [&](Index i) { st.h[i] += Real(0.5) * st.ltg[i]; });
    team.sync();
  }
  template <class Team, class S, class A>
  static KC_HD void place(const Team& team, const S&, const Schedule&, const A&, Langevin& st, const Query<Real>& query,
                          Index n) {
    team.for_each(n, [&](Index i) { query.point[i] = st.x[i] + query.direction[i]; });
    ask(team, query, Needs::gradient);
  }

  /// log r of the move to query.point, where the reply holds; leaves L^T g(y) in ltgy.
  template <class Team, class A>
  static KC_HD double log_ratio(const Team& team, const A& a, Langevin& st, const Reply<Real>& reply, Index n) {
    multiply_transposed(team, a.L, reply.gradient, st.ltgy, n);
    const double back = team.template sum<Real>(n, [&](Index i) {
      const Real d = st.h[i] + Real(0.5) * st.ltgy[i];
      return d * d;
    });
    return *reply.lp - *st.lp - 0.5 * back + 0.5 * *st.eps_square;
  }
  template <class Team>
  static KC_HD Step finish(const Team& team, const Decision& move, Langevin& st, const Query<Real>& query,
                           const Reply<Real>& reply, Info& info, Index n) {
    if (move.accept) team.for_each(n, [&](Index i) { st.ltg[i] = st.ltgy[i]; });
    settle(team, move, st, query, reply, info, n);
    return Step::done;
  }
};

}  // namespace kilochain
