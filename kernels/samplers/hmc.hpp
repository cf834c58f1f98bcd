// Hamiltonian Monte Carlo: K leapfrog steps of size e from a fresh momentum, accept with min(1, exp(H_0 - H_1)).
//   whitened momentum r ~ N(0, I), H = -lp + |r|^2/2
//   r += e/2 F^T g;  K times: q += e F r, r += e F^T g (half at the end)
// F F^T = inv_mass_matrix: the variance of the draws learnt in windows of warm-up, or unit (the 2019 paper's presets).
// Step: dual averaging, or e <- e (1 + 0.01 (a - target)/target) (the authors' runs); e_0 = 0.5/n. Kept draws may have
// a step of their own (step_rule fixed), or draw e and K anew from a policy, whatever the state (kernels/policy.hpp).
// With a learnt mass all coordinates have nearly one period, with which a fixed K resonates: K is drawn afresh then,
// uniformly within num_steps (1 +- num_steps_jitter). Asks for K points an iteration. Team-uniform; bitwise the same
// under any batch split. Cost: K gradients and O(K n); dense mass 2 K passes over F.
#pragma once
#include <optional>

#include "kernels/adapt/acceptance_step.hpp"
#include "kernels/adapt/mass_and_step.hpp"
#include "kernels/policy.hpp"
#include "kernels/samplers/learnt_length.hpp"

namespace kilochain {

enum class StepRule : std::int32_t { multiplicative, dual_averaging, fixed };
enum class HmcPreset : std::int32_t { none, hmc5, hmc10, hmc20 };

/// The rule of a trajectory's length that settings, or a policy, give.
struct ChosenLength {
  static constexpr bool learnt = false;
  static constexpr const char* meaning = "Hamiltonian Monte Carlo, trajectories of a chosen number of leapfrog steps";
};

template <class Real, class Length = ChosenLength>
struct Hmc : LearnsMassAndStep<Real> {
  using Base = LearnsMassAndStep<Real>;
  using Base::kinetic;
  using typename Base::Adaptation;

  static constexpr About about = {
      .meaning = Length::meaning,
      .stats = {"energy", "energy_error", "n_steps", "step_size"},
      .needs = always(Needs::gradient),
      .asks = Asks::often,
      .adaptive = true,
      .signals_vector = true,
  };

  struct Settings : AcceptanceStep, TrajectorySettings {
    std::int32_t num_steps = 10;
    std::optional<double> num_steps_jitter;
    double step_size = 0;
    StepRule step_rule = StepRule::dual_averaging;
    HmcPreset preset = HmcPreset::none;
    Policy<2> policy;
    Settings() : AcceptanceStep{0.7} {}
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("preset", s.preset, Names{"none", "HMC-5", "HMC-10", "HMC-20"},
          "the 2019 paper's samplers: that many steps, unit mass and its step-size rule; settings beside it win");
    if (s.preset != HmcPreset::none) {  // before the settings that it stands for are read
      s.num_steps = 5 << (int(s.preset) - 1);
      s.mass = Mass::unit;
      s.step_rule = StepRule::multiplicative;
    }
    visit("num_steps", s.num_steps, between(1, 1 << 20),
          "leapfrog steps of a trajectory; the 2019 paper ran 5, 10 and 20");
    visit(
        "num_steps_jitter", s.num_steps_jitter, between(0, 1),
        "the number of steps is drawn uniformly within this fraction of num_steps, both ways; auto: 0.5 with a learnt "
        "mass, whose equal periods resonate with a fixed length, 0 with unit mass or numbers from a policy");
    visit("step_size", s.step_size, at_least(0), "leapfrog step at the start; 0 takes 0.5/n");
    mass_field(visit, s);
    visit("step_rule", s.step_rule, Names{"multiplicative", "dual_averaging", "fixed"},
          "how the step follows the acceptance in warm-up; fixed: by dual averaging, but kept draws take step_size");
    visit(
        "policy", s.policy,
        PolicyColumns<2>{{{"step_size", positive(), false}, {"num_steps", between(1, 1 << 20), true}}},
        "CSV file with columns step_size, num_steps or both: each kept draw takes a row at random (`kilochain tune`)");
    acceptance_step_fields(visit, s);
    visit("max_energy_error", s.max_energy_error, positive(), "a larger energy error counts as a divergence");
  }

  struct State : TrajectoryState<Real> {
    Scalar<double> energy, step, steps, left;
  };
  template <class V>
  static KC_HD void state(V&& visit, State& st, const Settings& s) {
    Base::trajectory_fields(visit, st, s);
    visit("trajectory", Keep::no, st.energy, st.step, st.steps, st.left);
  }
  template <class Team>
  static KC_HD void start_adaptation(const Team& team, const Settings& s, Adaptation& a, Index n) {
    Base::start_mass_and_step(team, s.mass, s.step_size > 0 ? s.step_size : 0.5 / n, a, n);
  }

  /// The steps of an iteration's trajectory: of nothing but the settings, what was learnt, and random numbers.
  static KC_HD Leaps leaps_of(const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a) {
    if constexpr (Length::learnt) return Length::leaps(*a.step, *a.num_steps, *a.spread, int(*a.stages), rng.iteration);
    Leaps out{*a.step, s.num_steps};
    bool drawn = false;
    if (!at.adapting) {
      if (s.step_rule == StepRule::fixed && s.step_size > 0) out.size = s.step_size;
      if (s.policy.rows > 0) {
        const double* row = s.policy.value[policy_row(s.policy, rng)];
        if (s.policy.has[0]) out.size = row[0];
        if (s.policy.has[1]) out.number = std::int32_t(row[1]), drawn = true;
      }
    }
    const double jitter = s.num_steps_jitter ? *s.num_steps_jitter : drawn || s.mass == Mass::unit ? 0.0 : 0.5;
    const auto spread = std::int32_t(jitter * out.number);
    if (spread > 0) {
      const std::int32_t least = out.number - spread < 1 ? 1 : out.number - spread;
      const auto count = std::uint32_t(out.number + spread - least + 1);
      out.number = least + std::int32_t(uniform_index(rng, Purpose::trajectory, 0, count));
    }
    return out;
  }

  template <class Team>
  static KC_HD void draw(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                         State& st, const Query<Real>& query, Index n) {
    normals(team, rng, Purpose::momentum, st.r, n);
    const Leaps leaps = leaps_of(rng, s, at, a);
    begin(team, st, leaps, n);
    ask(team, query, Needs::gradient);
    kick(team, s.mass, a, Real(0.5 * leaps.size), st.g, st.r, s.mass == Mass::dense ? st.ftg : st.work, n);
    drift(team, s.mass, a, Real(leaps.size), st.x, st.r, query.point, st.work, n);
  }
  template <class Team>
  static KC_HD void place(const Team& team, const Settings&, const Schedule&, const Adaptation&, State& st,
                          const Query<Real>& query, Index n) {
    finish_drift(team, Real(*st.step), st.work, query.point, n);
  }

  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                           State& st, const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    const bool finite = is_finite(team, reply, n);
    const double left = one_less(team, st);
    double log_r = -std::numeric_limits<double>::infinity();
    if (finite) {
      const double e = *st.step;
      kick(team, s.mass, a, Real(left > 0 ? e : 0.5 * e), reply.gradient, st.r, st.work, n);
      if (left > 0) {
        drift(team, s.mass, a, Real(e), query.point, st.r, query.point, st.work, n);
        return Step::ask;
      }
      log_r = *st.energy - (kinetic(team, st.r, n) - *reply.lp);
    }
    take_end(team, decide(rng, log_r), st, query, reply, info, n);
    const double signal = s.step_rule == StepRule::multiplicative ? info.accepted : info.acceptance_rate;
    return report(team, s, at, a, st, info, log_r, signal, left, n);
  }

  /// A trajectory with the momentum st.r begins.
  template <class Team>
  static KC_INLINE void begin(const Team& team, State& st, Leaps leaps, Index n) {
    const double energy = kinetic(team, st.r, n) - *st.lp;
    team.single([&] {
      *st.energy = energy;
      *st.step = leaps.size;
      *st.steps = *st.left = leaps.number;
    });
  }
  template <class Team>
  static KC_INLINE bool is_finite(const Team& team, const Reply<Real>& reply, Index n) {
    return math::finite(*reply.lp) && all_finite(team, reply.gradient, n);
  }
  /// Steps that are left after this one.
  template <class Team>
  static KC_INLINE double one_less(const Team& team, State& st) {
    const double left = *st.left - 1;
    team.sync();  // all have read
    team.single([&] { *st.left = left; });
    return left;
  }
  template <class Team>
  static KC_INLINE void take_end(const Team& team, Decision move, State& st, const Query<Real>& query,
                                 const Reply<Real>& reply, Info& info, Index n) {
    if constexpr (products_made<Team>)
      if (move.accept) team.for_each(n, [&](Index i) { st.ftg[i] = st.work[i]; });
    settle(team, move, st, query, reply, info, n);
  }
  /// signal: what the step is adapted to. left: steps that were not made.
  template <class Team>
  static KC_INLINE Step report(const Team& team, const Settings& s, const Schedule& at, const Adaptation& a, State& st,
                               Info& info, double log_r, double signal, double left, Index n) {
    info.diverging = info.diverging || -log_r > s.max_energy_error;
    Base::write_signal(team, s, at, a, st, signal, n);
    info.stats[0] = info.accepted ? *st.energy - log_r : *st.energy;
    constexpr double largest = std::numeric_limits<float>::max();  // statistics are recorded in float, and are finite
    info.stats[1] = -log_r < largest ? -log_r : largest;
    info.stats[2] = *st.steps - left;
    info.stats[3] = *st.step;
    return Step::done;
  }

  template <class Team, class Source>
  static KC_HD void adapt(const Team& team, const Settings& s, const Schedule& at, const Source& source, Adaptation& a,
                          Index n) {
    if (s.step_rule != StepRule::multiplicative) return Base::adapt(team, s, at, source, a, n);
    adapt_mass(team, s.mass, at, source, a, n);
    adapt_acceptance_step(team, s, at, source, a.step);
  }
};

}  // namespace kilochain
