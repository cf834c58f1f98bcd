// gadRWM: random walk with a Cholesky factor learnt by gradient from every move (Titsias & Dellaportas 2019, sec. 2.2).
//   y = x + L eps;  log r = lp(y) - lp(x);  gradient of the speed measure [g(y) eps^T]_low + beta diag(1/L_ii) where log r < 0
// The gradient g(y) is asked for in warm-up only. State rows (n). Order: propose, decide, adapt with the old beta, move.
// Team-uniform; bitwise the same under any batch split. Cost: one pass over L, and while adapting its update.
#pragma once
#include "kernels/adapt/cholesky_gradient.hpp"

namespace kilochain {

template <class Real>
struct GadRwm {
  static constexpr const char* meaning =
      "random-walk Metropolis with a full Cholesky factor learnt by gradient (Titsias & Dellaportas 2019)";
  static constexpr int num_stats = 0;
  static constexpr const char* stat_names[1] = {""};
  static constexpr bool adaptive = true, asks_once = true;
  static constexpr bool has_vector = false;

  struct Settings : FactorSettings {
    Settings() : FactorSettings{5e-5, 0.25} {}
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    factor_fields(visit, s);
  }

  struct State {
    Real *x, *eps, *a, *b;
    double* lp;
  };
  template <int P, class V>
  static KC_HD void state(V&& visit, State& s, Index n, const Settings&) {
    visit("x", s.x, row_length(n), Keep::yes);
    visit("eps", s.eps, row_length(n), Keep::no);
    visit("signal_a", s.a, row_length(n), Keep::no);
    visit("signal_b", s.b, row_length(n), Keep::no);
    visit("lp", s.lp, std::size_t(1), Keep::yes);
  }
  using Adaptation = FactorAdaptation<Real>;
  template <int P, class V>
  static KC_HD void adaptation(V&& visit, Adaptation& a, Index n, const Settings& s) {
    factor_layout<P>(visit, a, n, s);
  }
  template <class Team>
  static KC_HD void start_adaptation(const Team& team, const Settings& s, Adaptation& a, Index n) {
    start_factor(team, s, a, n);
  }

  static constexpr Needs most_needs = Needs::gradient;  // while it adapts
  static KC_HD Needs start_needs(const Settings&) { return Needs::value; }
  template <class Team>
  static KC_HD void start(const Team& team, const Settings&, const Adaptation&, State& st, const Query<Real>& query,
                          const Reply<Real>& reply, Index n) {
    team.for_each(n, [&](Index i) { st.x[i] = query.point[i]; });
    team.single([&] { *st.lp = *reply.lp; });
    team.sync();
  }

  template <class Team>
  static KC_HD void propose(const Team& team, const Rng& rng, const Settings& s, const Schedule& at,
                            const Adaptation& a, State& st, const Query<Real>& query, Index n) {
    normals(team, rng, Purpose::proposal, st.eps, n);
    multiply_lower(team, s.factor, a.L, st.eps, query.point, n);
    team.for_each(n, [&](Index i) { query.point[i] += st.x[i]; });
    team.single([&] { *query.needs = at.adapting ? Needs::gradient : Needs::value; });
    team.sync();
  }

  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                           State& st, const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    const double log_r = *reply.lp - *st.lp;
    const Decision move = decide(rng, log_r);
    if (at.adapting) {
      const bool learn = move.finite && log_r < 0 && all_finite(team, reply.gradient, n);
      team.for_each(n, [&](Index i) {
        st.a[i] = learn ? reply.gradient[i] : Real(0);
        st.b[i] = learn ? st.eps[i] : Real(0);
      });
      if (!move.finite) {
        team.for_each(n, [&](Index i) { st.b[i] = st.eps[i]; });
        retreat(team, s, a.L, st.a, st.b, n);
      }
      if (learn && wants_whitened(s)) multiply_transposed(team, s.factor, a.L, reply.gradient, st.a, n);
    }
    team.sync();
    if (move.accept) {
      team.for_each(n, [&](Index i) { st.x[i] = query.point[i]; });
      team.single([&] { *st.lp = *reply.lp; });
    }
    team.sync();
    info.lp = *st.lp;
    info.acceptance_rate = move.probability;
    info.accepted = move.accept;
    info.diverging = !move.finite;
    return Step::done;
  }

  static KC_HD Signal<Real> signal(const Settings&, const State& st, double acceptance) {
    Signal<Real> out;
    out.rank = 1;
    out.a[0] = st.a;
    out.b[0] = st.b;
    out.acceptance = acceptance;
    return out;
  }
  template <class Team, class Source>
  static KC_HD void adapt(const Team& team, const Settings& s, const Schedule& at, const Source& source, Adaptation& a,
                          Index n) {
    adapt_factor(team, s, at, source, a, n);
  }
};

}  // namespace kilochain
