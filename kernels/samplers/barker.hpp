// Barker proposal: a gradient-informed random walk that keeps its nerve where gradients explode (Livingstone & Zanella 2022, JRSSB).
//   z ~ N(0, s^2);  y_i = x_i + z_i with probability 1/(1 + exp(-z_i g_i(x))), else x_i - z_i
//   log r = lp(y) - lp(x) + sum_i [log(1 + exp(-(y-x)_i g_i(x))) - log(1 + exp((y-x)_i g_i(y)))]
// State rows (n). Step size by the acceptance rate, as in mala. Team-uniform; bitwise the same under any batch split.
// Cost: O(n) beside the gradient.
#pragma once
#include "kernels/contract.hpp"

namespace kilochain {

template <class Real>
struct Barker {
  static constexpr const char* meaning =
      "Barker proposal: gradient-informed, robust to a step size that is too large (Livingstone & Zanella 2022)";
  static constexpr int num_stats = 1;
  static constexpr const char* stat_names[1] = {"step_size"};
  static constexpr bool adaptive = true;
  static constexpr bool has_vector = false;
  static constexpr bool asks_once = true;

  struct Settings {
    double step_size = 0.5, target_accept = 0.57, rate = 0.01;
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("step_size", s.step_size, positive(), "first step size, in units of n^(-1/6)");
    visit("target_accept", s.target_accept, inside(0, 1), "acceptance rate that the step size steers to");
    visit("rate", s.rate, positive(), "the step is multiplied by 1 + rate (accepted - target_accept) / target_accept");
  }

  struct State {
    Real *x, *g;
    double* lp;
  };
  template <int P, class V>
  static KC_HD void state(V&& visit, State& s, Index n, const Settings&) {
    visit("x", s.x, static_cast<std::size_t>(n), Keep::yes);
    visit("gradient", s.g, static_cast<std::size_t>(n), Keep::yes);
    visit("lp", s.lp, std::size_t(1), Keep::yes);
  }
  struct Adaptation {
    double* step;
  };
  template <int P, class V>
  static KC_HD void adaptation(V&& visit, Adaptation& a, Index, const Settings&) {
    visit("step", a.step, std::size_t(1), Keep::yes);
  }
  template <class Team>
  static KC_HD void start_adaptation(const Team& team, const Settings& s, Adaptation& a, Index n) {
    team.single([&] { *a.step = s.step_size * pow(static_cast<double>(n), -1.0 / 6); });
    team.sync();
  }

  static KC_HD Needs start_needs(const Settings&) { return Needs::gradient; }
  template <class Team>
  static KC_HD void start(const Team& team, const Settings&, const Adaptation&, State& st, const Query<Real>& query,
                          const Reply<Real>& reply, Index n) {
    team.for_each(n, [&](Index i) {
      st.x[i] = query.point[i];
      st.g[i] = reply.gradient[i];
    });
    team.single([&] { *st.lp = *reply.lp; });
    team.sync();
  }

  /// log(1 + exp(-t)), without overflow.
  static KC_INLINE double log1p_exp_minus(double t) {
    return (t < 0 ? -t : 0) + math::log(1 + math::exp(t < 0 ? t : -t));
  }

  template <class Team>
  static KC_HD void propose(const Team& team, const Rng& rng, const Settings&, const Schedule&, const Adaptation& a,
                            State& st, const Query<Real>& query, Index n) {
    normals(team, rng, Purpose::proposal, query.point, n);
    const Real step = static_cast<Real>(*a.step);
    team.for_each(n, [&](Index i) {
      const Real z = step * query.point[i];
      const double forward = math::exp(-log1p_exp_minus(static_cast<double>(z) * static_cast<double>(st.g[i])));
      query.point[i] = st.x[i] + (uniform(rng, Purpose::direction, static_cast<std::uint32_t>(i)) < forward ? z : -z);
    });
    team.single([&] { *query.needs = Needs::gradient; });
    team.sync();
  }

  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings&, const Schedule&, const Adaptation& a,
                           State& st, const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    const double correction = team.template sum<double>(n, [&](Index i) {
      const double d = static_cast<double>(query.point[i]) - static_cast<double>(st.x[i]);
      return log1p_exp_minus(d * static_cast<double>(st.g[i])) -
             log1p_exp_minus(-d * static_cast<double>(reply.gradient[i]));
    });
    const Decision move = decide(rng, *reply.lp - *st.lp + correction);
    if (move.accept) {
      team.for_each(n, [&](Index i) {
        st.x[i] = query.point[i];
        st.g[i] = reply.gradient[i];
      });
      team.sync();
      team.single([&] { *st.lp = *reply.lp; });
    }
    team.sync();
    info.lp = *st.lp;
    info.acceptance_rate = move.probability;
    info.accepted = move.accept;
    info.diverging = !move.finite;
    info.stats[0] = *a.step;
    return Step::done;
  }

  static KC_HD Signal<Real> signal(const Settings&, const State&, double acceptance) {
    Signal<Real> out;
    out.acceptance = acceptance;
    return out;
  }
  template <class Team, class Source>
  static KC_HD void adapt(const Team& team, const Settings& s, const Schedule&, const Source& source, Adaptation& a,
                          Index) {
    team.single([&] { *a.step *= 1 + s.rate * (source.acceptance() - s.target_accept) / s.target_accept; });
    team.sync();
  }
};

}  // namespace kilochain
