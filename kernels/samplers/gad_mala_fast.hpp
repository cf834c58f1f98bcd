// gadMALAf: MALA with a Cholesky factor learnt by gradient from every move (Titsias & Dellaportas 2019, sec. 3.2).
//   h = L^T g(x)/2 + eps, y = x + L h;  log r = lp(y) - lp(x) - |h + L^T g(y)/2|^2/2 + |eps|^2/2
//   gradient of the speed measure, Hessian term dropped: -[(g(x) - g(y))/2 (h - L^T g(y)/2)^T]_low + beta diag(1/L_ii)
// Order: propose, decide, adapt with the old beta, move. Team-uniform; bitwise the same under any batch split. L^T g(x)
// is that of the L of the proposal, also in the first iteration after the last that adapts: a chain's drift there and
// that of the way back must be one function, or the move leaves another law unchanged.
// Cost: two passes over L (L h, L^T g(y)), two more while adapting (the update, and L^T g(x) with the new L).
#pragma once
#include "kernels/adapt/cholesky_gradient.hpp"
#include "kernels/iteration.hpp"

namespace kilochain {

template <class Real>
struct GadMalaFast : LearnsFactor<Real> {
  using Adaptation = FactorAdaptation<Real>;
  static constexpr About about = {
      .meaning =
          "MALA with a full Cholesky factor learnt by gradient, Hessian term dropped (Titsias & Dellaportas 2019)",
      .stats = {},
      .needs = always(Needs::gradient),
      .asks = Asks::once,
      .adaptive = true,
      .signals_vector = false,
  };
  static constexpr Moves moves = Moves::by_factor;

  struct Settings : FactorSettings {
    Settings() : FactorSettings{1.5e-4, 0.55} {}
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    factor_fields(visit, s);
  }

  struct State : PositionAndGradient<Real> {
    Row<Real> ltg;      ///< L^T g(x)
    Row<Real> h, ltgy;  ///< of the move under way
    Row<Real> a, b;     ///< its signal
    Scalar<double> eps_square;
    Scalar<double> changed;  ///< 1: L may be another than that of ltg
  };
  template <class V>
  static KC_HD void state(V&& visit, State& st, const Settings&) {
    position_fields(visit, st);
    visit("ltg", st.ltg, Keep::yes);
    visit("h", st.h, Keep::no);
    visit("ltgy", st.ltgy, Keep::no);
    visit("signal_a", st.a, Keep::no);
    visit("signal_b", st.b, Keep::no);
    visit("eps_square", st.eps_square, Keep::no);
    visit("ltg_changed", st.changed, Keep::yes);
  }

  template <class Team>
  static KC_HD void start(const Team& team, const Settings&, const Adaptation& a, State& st, const Query<Real>& query,
                          const Reply<Real>& reply, Index n) {
    start_at(team, st, query, reply, n);
    multiply_transposed(team, a.L, st.g, st.ltg, n);
    team.single([&] { *st.changed = 0; });
  }
  template <class V>
  static KC_HD void products(V&& visit, const Settings&, bool adapting, const State& st, const Query<Real>& query,
                             const Reply<Real>& reply) {
    visit(Before::update, Times::transposed, reply.gradient, st.ltgy);
    if (adapting) visit(Before::draw, Times::transposed, st.g, query.direction);
    visit(Before::place, Times::lower, st.h, query.direction);
  }
  template <class Team>
  static KC_HD void draw(const Team& team, const Rng& rng, const Settings&, const Schedule& at, const Adaptation& a,
                         State& st, const Query<Real>& query, Index n) {
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
  template <class Team>
  static KC_HD void place(const Team& team, const Settings&, const Schedule&, const Adaptation&, State& st,
                          const Query<Real>& query, Index n) {
    team.for_each(n, [&](Index i) { query.point[i] = st.x[i] + query.direction[i]; });
    ask(team, query, Needs::gradient);
  }

  /// log r of the move to query.point, where the reply holds; leaves L^T g(y) in ltgy.
  template <class Team>
  static KC_HD double log_ratio(const Team& team, const Adaptation& a, State& st, const Reply<Real>& reply, Index n) {
    multiply_transposed(team, a.L, reply.gradient, st.ltgy, n);
    const double back = team.template sum<Real>(n, [&](Index i) {
      const Real d = st.h[i] + Real(0.5) * st.ltgy[i];
      return d * d;
    });
    return *reply.lp - *st.lp - 0.5 * back + 0.5 * *st.eps_square;
  }
  /// The signal of a move to where there is no density: of eps, where a huge gradient has left it in h.
  template <class Team>
  static KC_HD void signal_retreat(const Team& team, const Settings& s, const Adaptation& a, State& st, Index n) {
    team.for_each(n, [&](Index i) {
      const Real eps = st.h[i] - Real(0.5) * st.ltg[i];
      st.b[i] = eps > Real(-8) && eps < Real(8) ? eps : Real(0);
    });
    retreat(team, s, a, st.a, st.b, n);
  }
  template <class Team>
  static KC_HD Step finish(const Team& team, const Decision& move, State& st, const Query<Real>& query,
                           const Reply<Real>& reply, Info& info, Index n) {
    if (move.accept) team.for_each(n, [&](Index i) { st.ltg[i] = st.ltgy[i]; });
    settle(team, move, st, query, reply, info, n);
    return Step::done;
  }

  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                           State& st, const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    const double log_r = log_ratio(team, a, st, reply, n);
    const Decision move = decide(rng, log_r);
    if (at.adapting && !move.finite) {
      signal_retreat(team, s, a, st, n);
    } else if (at.adapting) {
      const Real weight = log_r < 0 ? Real(-0.5) : Real(0);
      const bool whiten = wants_whitened(s);
      team.for_each(n, [&](Index i) {
        st.a[i] =
            weight != Real(0) ? weight * (whiten ? st.ltg[i] - st.ltgy[i] : st.g[i] - reply.gradient[i]) : Real(0);
        st.b[i] = weight != Real(0) ? st.h[i] - Real(0.5) * st.ltgy[i] : Real(0);
      });
    }
    return finish(team, move, st, query, reply, info, n);
  }
};

}  // namespace kilochain
