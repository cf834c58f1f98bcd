// Hamiltonian Monte Carlo: K leapfrog steps of size e from a fresh momentum, accept with min(1, exp(H_0 - H_1)).
//   whitened momentum r ~ N(0, I), H = -lp + |r|^2/2;  r += e/2 F^T g;  K times: q += e F r, r += e F^T g (half at the end)
// F F^T = inv_mass_matrix: unit (the 2019 paper's HMC-5, -10, -20), or the variance of the draws learnt in windows of warm-up.
// Step: e <- e (1 + 0.01 (a - 0.7)/0.7) from e_0 = 0.5/n (the authors' runs), or dual averaging, which a learnt mass needs.
// The sampler asks for K points an iteration. State rows (n). Team-uniform; bitwise the same under any batch split.
// Cost: K gradients and O(K n); dense mass 2 K passes over F.
#pragma once
#include "kernels/adapt/acceptance_step.hpp"
#include "kernels/adapt/dual_averaging.hpp"
#include "kernels/adapt/mass.hpp"

namespace kilochain {

enum class StepRule : std::int32_t { multiplicative, dual_averaging };
enum class HmcPreset : std::int32_t { none, hmc5, hmc10, hmc20 };

template <class Real>
struct Hmc {
  static constexpr const char* meaning = "Hamiltonian Monte Carlo, a fixed number of leapfrog steps";
  static constexpr int num_stats = 4;
  static constexpr const char* stat_names[4] = {"energy", "energy_error", "n_steps", "step_size"};
  static constexpr bool adaptive = true;
  static constexpr bool has_vector = true;
  static constexpr bool asks_products = false;

  struct Settings : AcceptanceStep {
    std::int32_t num_steps = 10;
    double num_steps_jitter = 0, step_size = 0, max_energy_error = 1000;
    StepRule step_rule = StepRule::multiplicative;
    Mass mass = Mass::unit;
    HmcPreset preset = HmcPreset::none;
    Settings() : AcceptanceStep{0.7} {}
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("preset", s.preset, Names{"none", "HMC-5", "HMC-10", "HMC-20"},
          "the 2019 paper's samplers: that many steps, unit mass and its step-size rule; settings beside it win");
    if (s.preset != HmcPreset::none) s.num_steps = 5 << (static_cast<int>(s.preset) - 1);  // before num_steps is read
    visit("num_steps", s.num_steps, between(1, 1 << 20),
          "leapfrog steps of a trajectory; the 2019 paper ran 5, 10 and 20");
    visit("num_steps_jitter", s.num_steps_jitter, between(0, 1),
          "the number of steps is drawn uniformly within this fraction of num_steps, both ways");
    visit("step_size", s.step_size, at_least(0), "leapfrog step at the start; 0 takes 0.5/n");
    visit("mass", s.mass, Names{"unit", "diagonal", "dense"},
          "inv_mass_matrix: the identity, or the variances or covariance of the draws in warm-up");
    visit("step_rule", s.step_rule, Names{"multiplicative", "dual_averaging"},
          "how the step follows the acceptance in warm-up");
    acceptance_step_fields(visit, s);
    visit("max_energy_error", s.max_energy_error, positive(), "a larger energy error counts as a divergence");
  }
  static KC_HD Shape signal_shape(const Settings& s) { return mass_shape(s.mass); }

  struct State {
    Real *x, *g, *r, *work, *d;  ///< d: x - centre, the signal
    double *lp, *energy, *steps, *left, *probability;
  };
  template <int P, class V>
  static KC_HD void state(V&& visit, State& s, Index n, const Settings&) {
    visit("x", s.x, row_length(n), Keep::yes);
    visit("gradient", s.g, row_length(n), Keep::yes);
    visit("momentum", s.r, row_length(n), Keep::no);
    visit("work", s.work, row_length(n), Keep::no);
    visit("signal_d", s.d, row_length(n), Keep::no);
    visit("lp", s.lp, std::size_t(1), Keep::yes);
    visit("energy", s.energy, std::size_t(1), Keep::no);
    visit("steps", s.steps, std::size_t(1), Keep::no);
    visit("left", s.left, std::size_t(1), Keep::no);
    visit("probability", s.probability, std::size_t(1), Keep::no);
  }
  struct Adaptation : MassAdaptation<Real> {
    double *step, *dual;
  };
  template <int P, class V>
  static KC_HD void adaptation(V&& visit, Adaptation& a, Index n, const Settings& s) {
    mass_layout<P>(visit, a, n, s.mass);
    visit("step_size", a.step, std::size_t(1), Keep::yes);
    visit("dual_averaging", a.dual, std::size_t(dual_size), Keep::yes);
  }
  template <class Team>
  static KC_HD void start_adaptation(const Team& team, const Settings& s, Adaptation& a, Index n) {
    start_mass(team, s.mass, a, n);
    const double step = s.step_size > 0 ? s.step_size : 0.5 / n;
    team.single([&] { *a.step = step; });
    restart_dual_averaging(team, step, a.dual);
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

  /// |r|^2/2, in double: an energy error is a small difference of large numbers.
  template <class Team>
  static KC_HD double kinetic(const Team& team, const Real* r, Index n) {
    return 0.5 * team.template sum<double>(n, [&](Index i) { return double(r[i]) * double(r[i]); });
  }

  template <class Team>
  static KC_HD void propose(const Team& team, const Rng& rng, const Settings& s, const Schedule&, const Adaptation& a,
                            State& st, const Query<Real>& query, Index n) {
    normals(team, rng, Purpose::momentum, st.r, n);
    const double energy = kinetic(team, st.r, n) - *st.lp;
    std::int32_t steps = s.num_steps;
    const auto spread = static_cast<std::int32_t>(s.num_steps_jitter * s.num_steps);
    if (spread > 0) {
      const std::int32_t least = steps - spread < 1 ? 1 : steps - spread;
      steps = least + static_cast<std::int32_t>(uniform_index(rng, Purpose::trajectory, 0,
                                                              static_cast<std::uint32_t>(steps + spread - least + 1)));
    }
    team.single([&] {
      *st.energy = energy;
      *st.steps = *st.left = steps;
      *query.needs = Needs::gradient;
    });
    const Real e = static_cast<Real>(*a.step);
    kick(team, s.mass, a.F, Real(0.5) * e, st.g, st.r, st.work, n);
    drift(team, s.mass, a.F, e, st.x, st.r, query.point, st.work, n);
  }

  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                           State& st, const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    const Real e = static_cast<Real>(*a.step);
    const bool finite = math::finite(*reply.lp) && all_finite(team, reply.gradient, n);
    const double left = *st.left - 1;
    team.sync();
    team.single([&] { *st.left = left; });
    if (finite && left > 0) {
      kick(team, s.mass, a.F, e, reply.gradient, st.r, st.work, n);
      drift(team, s.mass, a.F, e, query.point, st.r, query.point, st.work, n);
      return Step::ask;
    }
    double log_r = -std::numeric_limits<double>::infinity();
    if (finite) {
      kick(team, s.mass, a.F, Real(0.5) * e, reply.gradient, st.r, st.work, n);
      log_r = *st.energy - (kinetic(team, st.r, n) - *reply.lp);
    }
    const Decision move = decide(rng, log_r);
    team.sync();
    if (move.accept) {
      team.for_each(n, [&](Index i) {
        st.x[i] = query.point[i];
        st.g[i] = reply.gradient[i];
      });
      team.single([&] { *st.lp = *reply.lp; });
    }
    team.single([&] { *st.probability = move.probability; });
    team.sync();
    if (at.adapting && s.mass != Mass::unit) {
      team.for_each(n, [&](Index i) { st.d[i] = st.x[i] - a.centre[i]; });
      team.sync();
    }
    info.lp = *st.lp;
    info.acceptance_rate = move.probability;
    info.accepted = move.accept;
    info.diverging = !move.finite || -log_r > s.max_energy_error;
    info.stats[0] = move.accept ? *st.energy - log_r : *st.energy;
    info.stats[1] = -log_r;
    info.stats[2] = *st.steps - left;
    info.stats[3] = *a.step;
    return Step::done;
  }

  static KC_HD Signal<Real> signal(const Settings& s, const State& st, double acceptance) {
    Signal<Real> out;
    out.rank = s.mass == Mass::unit ? 0 : 1;
    out.a[0] = out.b[0] = out.vector = st.d;
    out.acceptance = s.step_rule == StepRule::multiplicative ? acceptance : *st.probability;
    return out;
  }
  template <class Team, class Source>
  static KC_HD void adapt(const Team& team, const Settings& s, const Schedule& at, const Source& source, Adaptation& a,
                          Index n) {
    const bool fresh = adapt_mass(team, s.mass, at, source, a, n), last = at.t + 1 == at.num_warmup;
    if (s.step_rule == StepRule::multiplicative) {
      adapt_acceptance_step(team, s, at, source, a.step);
    } else {
      adapt_dual_averaging(team, s.target_accept, source.acceptance(), last || fresh, a.dual, a.step);
      if (fresh) restart_dual_averaging(team, *a.step, a.dual);
    }
  }
};

}  // namespace kilochain
