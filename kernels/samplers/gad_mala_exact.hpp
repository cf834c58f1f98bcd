// gadMALAe: gadMALAf with the full derivative in L, g(y) moving with y included (Titsias & Dellaportas 2019, algorithms.md 1).
// While adapting and log r < 0 it asks once more at y, for k = H(y) L d, d = h + L^T g(y)/2, and the gradient in L is
//   [g(x) (L^T g(y)/2 - d/2 - L^T k/4)^T + g(y) (h - d/2)^T - k (h/2)^T]_low + beta diag(1/L_ii)
// which is the formula of the paper's supplement sorted by its left vectors. Everything else is gadMALAf.
// Cost: gadMALAf's, and while adapting one Hessian-vector product, two more passes over L and two more outer products.
#pragma once
#include "kernels/samplers/gad_mala_fast.hpp"

namespace kilochain {

template <class Real>
struct GadMalaExact {
  using Fast = GadMalaFast<Real>;
  static constexpr const char* meaning =
      "MALA with a full Cholesky factor learnt by gradient, Hessian term kept (Titsias & Dellaportas 2019)";
  static constexpr int num_stats = 0;
  static constexpr const char* stat_names[1] = {""};
  static constexpr bool adaptive = true;
  static constexpr bool has_vector = false;

  using Settings = typename Fast::Settings;
  template <class V>
  static void settings(V&& visit, Settings& s) {
    Fast::settings(visit, s);
  }

  struct State : Fast::State {
    Real *a1, *a2, *b1, *b2;  ///< the other two outer products of the signal
    double *stage, *log_r;    ///< 1 while the Hessian product is out; log r of the move under way
  };
  template <int P, class V>
  static KC_HD void state(V&& visit, State& s, Index n, const Settings& settings) {
    Fast::template state<P>(visit, s, n, settings);
    visit("signal_a1", s.a1, row_length(n), Keep::no);
    visit("signal_a2", s.a2, row_length(n), Keep::no);
    visit("signal_b1", s.b1, row_length(n), Keep::no);
    visit("signal_b2", s.b2, row_length(n), Keep::no);
    visit("stage", s.stage, std::size_t(1), Keep::no);
    visit("log_r", s.log_r, std::size_t(1), Keep::no);
  }
  using Adaptation = typename Fast::Adaptation;
  template <int P, class V>
  static KC_HD void adaptation(V&& visit, Adaptation& a, Index n, const Settings& s) {
    Fast::template adaptation<P>(visit, a, n, s);
  }
  template <class Team>
  static KC_HD void start_adaptation(const Team& team, const Settings& s, Adaptation& a, Index n) {
    Fast::start_adaptation(team, s, a, n);
  }
  static constexpr Needs most_needs = Needs::hessian_vector;
  static KC_HD Needs start_needs(const Settings& s) { return Fast::start_needs(s); }
  template <class Team>
  static KC_HD void start(const Team& team, const Settings& s, const Adaptation& a, State& st, const Query<Real>& query,
                          const Reply<Real>& reply, Index n) {
    Fast::start(team, s, a, st, query, reply, n);
  }
  template <class Team>
  static KC_HD void propose(const Team& team, const Rng& rng, const Settings& s, const Schedule& at,
                            const Adaptation& a, State& st, const Query<Real>& query, Index n) {
    team.single([&] { *st.stage = 0; });
    Fast::propose(team, rng, s, at, a, st, query, n);
  }

  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                           State& st, const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    const bool second = *st.stage != 0;
    const double log_r = second ? *st.log_r : Fast::log_ratio(team, s, a, st, reply, n);
    const Decision move = decide(rng, log_r);
    if (at.adapting && !second && move.finite && log_r < 0) {
      team.for_each(n, [&](Index i) { st.a[i] = st.h[i] + Real(0.5) * st.ltgy[i]; });
      team.sync();
      multiply_lower(team, s.factor, a.L, st.a, query.direction, n);
      team.single([&] {
        *st.stage = 1;
        *st.log_r = log_r;
        *query.needs = Needs::hessian_vector;
      });
      team.sync();
      return Step::ask;
    }
    if (at.adapting) {
      const Real* k = reply.hessian_vector;
      const bool learn = second && all_finite(team, k, n);
      if (learn) {
        team.for_each(n, [&](Index i) { st.a2[i] = k[i]; });
        team.sync();
        multiply_transposed(team, s.factor, a.L, st.a2, st.b2, n);
        const bool whiten = wants_whitened(s);
        team.for_each(n, [&](Index i) {
          const Real half_d = Real(0.5) * (st.h[i] + Real(0.5) * st.ltgy[i]);
          st.a[i] = whiten ? st.ltg[i] : st.g[i];
          st.b[i] = Real(0.5) * st.ltgy[i] - half_d - Real(0.25) * st.b2[i];
          st.a1[i] = whiten ? st.ltgy[i] : reply.gradient[i];
          if (whiten) st.a2[i] = st.b2[i];
          st.b1[i] = st.h[i] - half_d;
          st.b2[i] = Real(-0.5) * st.h[i];
        });
      } else {
        team.for_each(n, [&](Index i) { st.a[i] = st.b[i] = st.a1[i] = st.b1[i] = st.a2[i] = st.b2[i] = Real(0); });
        if (!move.finite) {
          team.for_each(n, [&](Index i) { st.b[i] = st.h[i] - Real(0.5) * st.ltg[i]; });
          retreat(team, s, a.L, st.a, st.b, n);
        }
      }
      team.sync();
    }
    Fast::finish(team, move, st, query, reply, info, n);
    return Step::done;
  }

  static KC_HD Signal<Real> signal(const Settings&, const State& st, double acceptance) {
    Signal<Real> out;
    out.rank = 3;
    out.a[0] = st.a, out.a[1] = st.a1, out.a[2] = st.a2;
    out.b[0] = st.b, out.b[1] = st.b1, out.b[2] = st.b2;
    out.acceptance = acceptance;
    return out;
  }
  template <class Team, class Source>
  static KC_HD void adapt(const Team& team, const Settings& s, const Schedule& at, const Source& source, Adaptation& a,
                          Index n) {
    Fast::adapt(team, s, at, source, a, n);
  }
};

}  // namespace kilochain
