// Random-walk Metropolis: y = x + sqrt(delta) (eps + (s - 1) (e^T eps) e), accept with min(1, exp(lp(y) - lp(x))).
// e: one axis along which steps are s = long_sd times as long, or none. mh_optimal: the benchmark of Milgo et al.,
// steps of the covariance of their Gaussians, delta = 1, s = 10, nothing adapted.
// Warm-up: delta <- delta (1 + 0.01 (a - 0.25)/0.25), delta_0 = 0.5/n (Titsias & Dellaportas 2019, the authors' runs).
// Team-uniform; bitwise the same under any batch split. Cost: O(n) and one value of the target an iteration.
#pragma once
#include "kernels/adapt/acceptance_step.hpp"

namespace kilochain {

enum class RwmPreset : std::int32_t { none, mh_optimal };
enum class LongAxis : std::int32_t { none, first, diagonal };

template <class Real>
struct Rwm : LearnsStep<Real> {
  using Adaptation = typename LearnsStep<Real>::Adaptation;
  static constexpr About about = {
      .meaning = "random-walk Metropolis, one scale for all coordinates",
      .stats = {"step_size"},
      .needs = always(Needs::value),
      .asks = Asks::once,
      .adaptive = true,
      .signals_vector = false,
  };
  static constexpr Moves moves = Moves::freely;

  struct Settings : VarianceSettings {
    double long_sd = 10;
    RwmPreset preset = RwmPreset::none;
    LongAxis long_axis = LongAxis::none;
    Settings() : VarianceSettings{0.25} {}
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("preset", s.preset, Names{"none", "mh_optimal"},
          "mh_optimal: steps of the covariance diag(100, 1, ..., 1), fixed; settings beside it win");
    if (s.preset == RwmPreset::mh_optimal) s.initial_variance = 1, s.adapt_rate = 0, s.long_axis = LongAxis::first;
    visit("long_axis", s.long_axis, Names{"none", "first", "diagonal"},
          "axis of longer steps: none, that of x[0], or (1, ..., 1)");
    visit("long_sd", s.long_sd, positive(), "length of steps along long_axis, in steps across it");
    acceptance_step_fields(visit, s);
    visit("initial_variance", s.initial_variance, at_least(0), "variance of the proposal at the start; 0 takes 0.5/n");
  }

  using State = Position<Real>;
  template <class V>
  static KC_HD void state(V&& visit, State& st, const Settings&) {
    position_fields(visit, st);
  }
  template <class Team>
  static KC_HD void propose(const Team& team, const Rng& rng, const Settings& s, const Schedule&, const Adaptation& a,
                            State& st, const Query<Real>& query, Index n) {
    normals(team, rng, Purpose::proposal, query.point, n);
    const Real scale = Real(sqrt(*a.step));
    if (s.long_axis == LongAxis::none) {
      team.for_each(n, [&](Index i) { query.point[i] = st.x[i] + scale * query.point[i]; });
    } else {
      const bool first = s.long_axis == LongAxis::first;
      const Real along = first ? query.point[0]  // e^T eps / e_i
                               : team.template sum<Real>(n, [&](Index i) { return query.point[i]; }) / Real(n);
      const Real more = Real(s.long_sd - 1) * along;
      team.sync();
      team.for_each(n, [&](Index i) {
        query.point[i] = st.x[i] + scale * (query.point[i] + (!first || i == 0 ? more : Real(0)));
      });
    }
    ask(team, query, Needs::value);
  }
  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings&, const Schedule&, const Adaptation& a,
                           State& st, const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    const Decision move = decide(rng, *reply.lp - *st.lp);
    info.stats[0] = sqrt(*a.step);
    settle(team, move, st, query, reply, info, n);
    return Step::done;
  }
};

}  // namespace kilochain
