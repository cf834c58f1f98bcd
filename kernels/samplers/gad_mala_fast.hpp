// gadMALAf: MALA with a Cholesky factor learnt by gradient from every move (Titsias & Dellaportas 2019, sec. 3.2, algorithms.md 1).
//   h = L^T g(x)/2 + eps, y = x + L h;  log r = lp(y) - lp(x) - |h + L^T g(y)/2|^2/2 + |eps|^2/2
//   gradient of the speed measure, the Hessian term dropped: -[(g(x) - g(y))/2 (h - L^T g(y)/2)^T]_low + beta diag(1/L_ii)
// State rows (n). Order: propose, decide, adapt with the old beta, move. Team-uniform; bitwise the same under any batch split.
// Cost: two passes over L (L h, L^T g(y)), two more while adapting (the update, and L^T g(x) with the new L).
#pragma once
#include "kernels/adapt/cholesky_gradient.hpp"

namespace kilochain {

template <class Real>
struct GadMalaFast {
  static constexpr const char* meaning =
      "MALA with a full Cholesky factor learnt by gradient, Hessian term dropped (Titsias & Dellaportas 2019)";
  static constexpr int num_stats = 0;
  static constexpr const char* stat_names[1] = {""};
  static constexpr bool adaptive = true;
  static constexpr bool has_vector = false;
  static constexpr bool asks_once = true;

  struct Settings : FactorSettings {
    Settings() : FactorSettings{1.5e-4, 0.55} {}
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    factor_fields(visit, s);
  }

  struct State {
    Real *x, *g, *ltg;  ///< position, gradient, L^T gradient
    Real *h, *ltgy;     ///< of the move under way
    Real *a, *b;        ///< its signal
    double *lp, *eps_square;
  };
  template <int P, class V>
  static KC_HD void state(V&& visit, State& s, Index n, const Settings&) {
    const std::size_t size = row_length(n);
    visit("x", s.x, size, Keep::yes);
    visit("gradient", s.g, size, Keep::yes);
    visit("ltg", s.ltg, size, Keep::yes);
    visit("h", s.h, size, Keep::no);
    visit("ltgy", s.ltgy, size, Keep::no);
    visit("signal_a", s.a, size, Keep::no);
    visit("signal_b", s.b, size, Keep::no);
    visit("lp", s.lp, std::size_t(1), Keep::yes);
    visit("eps_square", s.eps_square, std::size_t(1), Keep::no);
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

  static KC_HD Needs start_needs(const Settings&) { return Needs::gradient; }
  template <class Team>
  static KC_HD void start(const Team& team, const Settings& s, const Adaptation& a, State& st, const Query<Real>& query,
                          const Reply<Real>& reply, Index n) {
    team.for_each(n, [&](Index i) {
      st.x[i] = query.point[i];
      st.g[i] = reply.gradient[i];
    });
    team.single([&] { *st.lp = *reply.lp; });
    team.sync();
    multiply_transposed(team, s.factor, a.L, st.g, st.ltg, n);
  }

  template <class Team>
  static KC_HD void propose(const Team& team, const Rng& rng, const Settings& s, const Schedule& at,
                            const Adaptation& a, State& st, const Query<Real>& query, Index n) {
    if (at.adapting) multiply_transposed(team, s.factor, a.L, st.g, st.ltg, n);
    normals(team, rng, Purpose::proposal, st.h, n);
    const double eps_square = team.template sum<Real>(n, [&](Index i) { return st.h[i] * st.h[i]; });
    team.single([&] { *st.eps_square = eps_square; });
    team.for_each(n, [&](Index i) { st.h[i] += Real(0.5) * st.ltg[i]; });
    team.sync();
    multiply_lower(team, s.factor, a.L, st.h, query.point, n);
    team.for_each(n, [&](Index i) { query.point[i] += st.x[i]; });
    team.single([&] { *query.needs = Needs::gradient; });
    team.sync();
  }

  /// log r of the move to query.point, where the reply holds; leaves L^T g(y) in ltgy.
  template <class Team>
  static KC_HD double log_ratio(const Team& team, const Settings& s, const Adaptation& a, State& st,
                                const Reply<Real>& reply, Index n) {
    multiply_transposed(team, s.factor, a.L, reply.gradient, st.ltgy, n);
    const double back = team.template sum<Real>(n, [&](Index i) {
      const Real d = st.h[i] + Real(0.5) * st.ltgy[i];
      return d * d;
    });
    return *reply.lp - *st.lp - 0.5 * back + 0.5 * *st.eps_square;
  }

  /// Moves the chain if the decision says so, and reports.
  template <class Team>
  static KC_HD void finish(const Team& team, const Decision& move, State& st, const Query<Real>& query,
                           const Reply<Real>& reply, Info& info, Index n) {
    if (move.accept) {
      team.for_each(n, [&](Index i) {
        st.x[i] = query.point[i];
        st.g[i] = reply.gradient[i];
        st.ltg[i] = st.ltgy[i];
      });
      team.sync();
      team.single([&] { *st.lp = *reply.lp; });
    }
    team.sync();
    info.lp = *st.lp;
    info.acceptance_rate = move.probability;
    info.accepted = move.accept;
    info.diverging = !move.finite;
  }

  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                           State& st, const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    const double log_r = log_ratio(team, s, a, st, reply, n);
    const Decision move = decide(rng, log_r);
    if (at.adapting && !move.finite) {
      team.for_each(n, [&](Index i) { st.b[i] = st.h[i] - Real(0.5) * st.ltg[i]; });
      retreat(team, s, a.L, st.a, st.b, n);
    } else if (at.adapting) {
      const Real weight = log_r < 0 ? Real(-0.5) : Real(0);
      const bool whiten = wants_whitened(s);
      team.for_each(n, [&](Index i) {
        st.a[i] =
            weight != Real(0) ? weight * (whiten ? st.ltg[i] - st.ltgy[i] : st.g[i] - reply.gradient[i]) : Real(0);
        st.b[i] = weight != Real(0) ? st.h[i] - Real(0.5) * st.ltgy[i] : Real(0);
      });
    }
    finish(team, move, st, query, reply, info, n);
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
