// gadRWM: random walk with a Cholesky factor learnt by gradient from every move (Titsias & Dellaportas 2019, sec. 2.2).
//   y = x + L eps;  log r = lp(y) - lp(x)
//   gradient of the speed measure: [g(y) eps^T]_low (0 where log r >= 0) + beta diag(1/L_ii)
// The gradient g(y) is asked for in warm-up only. Order: propose, decide, adapt with the old beta, move.
// Team-uniform; bitwise the same under any batch split. Cost: one pass over L, and while adapting its update.
#pragma once
#include "kernels/adapt/cholesky_gradient.hpp"
#include "kernels/iteration.hpp"

namespace kilochain {

template <class Real>
struct GadRwm : LearnsFactor<Real> {
  using Adaptation = FactorAdaptation<Real>;
  static constexpr About about = {
      .meaning = "random-walk Metropolis with a full Cholesky factor learnt by gradient (Titsias & Dellaportas 2019)",
      .stats = {},
      .needs = {.start = Needs::value, .warmup = Needs::gradient, .sampling = Needs::value},
      .asks = Asks::once,
      .adaptive = true,
      .signals_vector = false,
  };
  static constexpr Moves moves = Moves::by_factor;

  struct Settings : FactorSettings {
    Settings() : FactorSettings{5e-5, 0.25} {}
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    factor_fields(visit, s);
  }

  struct State : Position<Real> {
    Row<Real> eps, a, b;  ///< a, b: the outer product of the signal
  };
  template <class V>
  static KC_HD void state(V&& visit, State& st, const Settings&) {
    position_fields(visit, st);
    visit("eps", st.eps, Keep::no);
    visit("signal_a", st.a, Keep::no);
    visit("signal_b", st.b, Keep::no);
  }
  template <class V>
  static KC_HD void products(V&& visit, const Settings& s, bool adapting, const State& st, const Query<Real>& query,
                             const Reply<Real>& reply) {
    if (adapting && wants_whitened(s)) visit(Before::update, Times::transposed, reply.gradient, query.direction);
    visit(Before::place, Times::lower, st.eps, query.direction);
  }
  template <class Team>
  static KC_HD void draw(const Team& team, const Rng& rng, const Settings&, const Schedule&, const Adaptation&,
                         State& st, const Query<Real>&, Index n) {
    normals(team, rng, Purpose::proposal, st.eps, n);
  }
  template <class Team>
  static KC_HD void place(const Team& team, const Settings&, const Schedule& at, const Adaptation&, State& st,
                          const Query<Real>& query, Index n) {
    team.for_each(n, [&](Index i) { query.point[i] = st.x[i] + query.direction[i]; });
    ask(team, query, at.adapting ? Needs::gradient : Needs::value);
  }
  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                           State& st, const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    const double log_r = *reply.lp - *st.lp;
    const Decision move = decide(rng, log_r);
    if (at.adapting) {
      const bool learn = move.finite && log_r < 0 && all_finite(team, reply.gradient, n), whiten = wants_whitened(s);
      if (learn && whiten) multiply_transposed(team, a.L, reply.gradient, query.direction, n);
      team.for_each(n, [&](Index i) {
        st.a[i] = !learn ? Real(0) : whiten ? query.direction[i] : reply.gradient[i];
        st.b[i] = learn || !move.finite ? st.eps[i] : Real(0);
      });
      if (!move.finite) retreat(team, s, a, st.a, st.b, n);
    }
    settle(team, move, st, query, reply, info, n);
    return Step::done;
  }
};

}  // namespace kilochain
