// Barker proposal: a gradient-informed walk, robust where gradients explode (Livingstone & Zanella 2022).
//   z ~ N(0, s^2);  y_i = x_i + z_i with probability 1/(1 + exp(-z_i g_i(x))), else x_i - z_i
//   log r = lp(y) - lp(x) + sum_i [log(1 + exp(-(y-x)_i g_i(x))) - log(1 + exp((y-x)_i g_i(y)))]
// Warm-up: the step s follows the acceptance (kernels/adapt/acceptance_step.hpp), as mala's.
// Team-uniform; bitwise the same under any batch split. Cost: O(n) beside the gradient.
#pragma once
#include "kernels/adapt/acceptance_step.hpp"
#include "kernels/iteration.hpp"

namespace kilochain {

template <class Real>
struct Barker : LearnsStep<Real> {
  using Adaptation = typename LearnsStep<Real>::Adaptation;
  static constexpr About about = {
      .meaning =
          "Barker proposal: gradient-informed, robust to a step size that is too large (Livingstone & Zanella 2022)",
      .stats = {"step_size"},
      .needs = always(Needs::gradient),
      .asks = Asks::once,
      .adaptive = true,
      .signals_vector = false,
  };
  static constexpr Moves moves = Moves::freely;

  struct Settings : AcceptanceStep {
    static KC_INLINE const char* learnt() { return "step"; }
    double step_size = 0.5;
    Settings() : AcceptanceStep{0.57} {}
    KC_INLINE double first_step(Index n) const { return step_size * pow(double(n), -1.0 / 6); }
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("step_size", s.step_size, positive(), "first step size, in units of n^(-1/6)");
    acceptance_step_fields(visit, s);
  }

  using State = PositionAndGradient<Real>;
  template <class V>
  static KC_HD void state(V&& visit, State& st, const Settings&) {
    position_fields(visit, st);
  }

  /// log(1 + exp(-t)), without overflow.
  static KC_INLINE double log1p_exp_minus(double t) {
    return (t < 0 ? -t : 0) + math::log(1 + math::exp(t < 0 ? t : -t));
  }

  template <class Team>
  static KC_HD void propose(const Team& team, const Rng& rng, const Settings&, const Schedule&, const Adaptation& a,
                            State& st, const Query<Real>& query, Index n) {
    normals(team, rng, Purpose::proposal, query.point, n);
    const Real step = Real(*a.step);
    team.for_each(n, [&](Index i) {
      const Real z = step * query.point[i];
      const double forward = math::exp(-log1p_exp_minus(double(z) * double(st.g[i])));
      query.point[i] = st.x[i] + (uniform(rng, Purpose::direction, std::uint32_t(i)) < forward ? z : -z);
    });
    ask(team, query, Needs::gradient);
  }

  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings&, const Schedule&, const Adaptation& a,
                           State& st, const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    const double correction = team.template sum<double>(n, [&](Index i) {
      const double d = double(query.point[i]) - double(st.x[i]);
      return log1p_exp_minus(d * double(st.g[i])) - log1p_exp_minus(-d * double(reply.gradient[i]));
    });
    const Decision move = decide(rng, *reply.lp - *st.lp + correction);
    info.stats[0] = *a.step;
    settle(team, move, st, query, reply, info, n);
    return Step::done;
  }
};

}  // namespace kilochain
