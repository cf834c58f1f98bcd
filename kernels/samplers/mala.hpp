// Metropolis-adjusted Langevin: y = x + delta g(x)/2 + sqrt(delta) eps.
//   log r = lp(y) - lp(x) - |eps + sqrt(delta) (g(x) + g(y))/2|^2/2 + |eps|^2/2
// Warm-up: delta <- delta (1 + 0.01 (a - 0.54)/0.54), delta_0 = 0.5/n (Titsias & Dellaportas 2019, the authors' runs).
// Team-uniform; bitwise the same under any batch split. Cost: O(n) and one gradient an iteration.
#pragma once
#include "kernels/adapt/acceptance_step.hpp"

namespace kilochain {

template <class Real>
struct Mala : LearnsStep<Real> {
  using Adaptation = typename LearnsStep<Real>::Adaptation;
  static constexpr About about = {
      .meaning = "Metropolis-adjusted Langevin, one step for all coordinates",
      .stats = {"step_size"},
      .needs = always(Needs::gradient),
      .asks = Asks::once,
      .adaptive = true,
      .signals_vector = false,
  };
  static constexpr Moves moves = Moves::freely;

  struct Settings : VarianceSettings {
    Settings() : VarianceSettings{0.54} {}
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    acceptance_step_fields(visit, s);
    visit("initial_variance", s.initial_variance, at_least(0),
          "variance delta of the proposal at the start; 0 takes 0.5/n");
  }

  struct State : PositionAndGradient<Real> {
    Row<Real> eps;
  };
  template <class V>
  static KC_HD void state(V&& visit, State& st, const Settings&) {
    position_fields(visit, st);
    visit("eps", st.eps, Keep::no);
  }
  template <class Team>
  static KC_HD void propose(const Team& team, const Rng& rng, const Settings&, const Schedule&, const Adaptation& a,
                            State& st, const Query<Real>& query, Index n) {
    normals(team, rng, Purpose::proposal, st.eps, n);
    const Real half = Real(0.5 * *a.step), scale = Real(sqrt(*a.step));
    team.for_each(n, [&](Index i) { query.point[i] = st.x[i] + (half * st.g[i] + scale * st.eps[i]); });
    ask(team, query, Needs::gradient);
  }
  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings&, const Schedule&, const Adaptation& a,
                           State& st, const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    const Real half = Real(0.5 * sqrt(*a.step));
    // |eps|^2/2 - |eps + d|^2/2 = -(eps + d/2)^T d: no difference of two large squares.
    const double noise = team.template sum<Real>(n, [&](Index i) {
      const Real d = half * (st.g[i] + reply.gradient[i]);
      return -(st.eps[i] + Real(0.5) * d) * d;
    });
    const Decision move = decide(rng, *reply.lp - *st.lp + noise);
    info.stats[0] = sqrt(*a.step);
    settle(team, move, st, query, reply, info, n);
    return Step::done;
  }
};

}  // namespace kilochain
