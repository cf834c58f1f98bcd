// gadMALAf: MALA with a Cholesky factor learnt by gradient from every move (Titsias & Dellaportas 2019, sec. 3.2).
//   the move: factor_langevin.hpp
//   gradient of the speed measure, Hessian term dropped: -[(g(x) - g(y))/2 (h - L^T g(y)/2)^T]_low + beta diag(1/L_ii)
// Order: propose, decide, adapt with the old beta, move. Team-uniform; bitwise the same under any batch split.
// Cost: two passes over L, two more while adapting (the update, and L^T g(x) with the new L).
#pragma once
#include "kernels/adapt/cholesky_gradient.hpp"
#include "kernels/samplers/factor_langevin.hpp"

namespace kilochain {

template <class Real>
struct GadMalaFast : LearnsFactor<Real>, FactorLangevin<Real> {
  using Adaptation = FactorAdaptation<Real>;
  using FactorLangevin<Real>::start;
  using FactorLangevin<Real>::log_ratio;
  using FactorLangevin<Real>::finish;
  static constexpr About about = {
      .meaning =
          "MALA with a full Cholesky factor learnt by gradient, Hessian term dropped (Titsias & Dellaportas 2019)",
      .stats = {},
      .needs = always(Needs::gradient),
      .asks = Asks::once,
      .adaptive = true,
      .signals_vector = false,
  };

  struct Settings : FactorSettings {
    Settings() : FactorSettings{1.5e-4, 0.55} {}
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    factor_fields(visit, s);
  }

  struct State : LangevinState<Real> {
    Row<Real> b;  ///< with a: the outer product of the signal
  };
  template <class V>
  static KC_HD void state(V&& visit, State& st, const Settings&) {
    langevin_fields(visit, st);
    visit("signal_b", st.b, Keep::no);
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
