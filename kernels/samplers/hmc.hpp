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
#include "kernels/adapt/bent_normal.hpp"
#include "kernels/adapt/mass_and_step.hpp"
#include "kernels/policy.hpp"
#include "kernels/samplers/finer_steps.hpp"

namespace kilochain {

enum class StepRule : std::int32_t { multiplicative, dual_averaging, fixed };
enum class HmcPreset : std::int32_t { none, hmc5, hmc10, hmc20 };

/// The steps of a trajectory.
struct Leaps {
  double size;
  std::int32_t number;
};

/// The rule of a trajectory's length that settings, or a policy, give.
struct ChosenLength {
  static constexpr bool learnt = false, may_turn = false, may_bend = false;
  static constexpr int parts = 1;
  static constexpr int finer_levels = 0;
  static constexpr const char* meaning = "Hamiltonian Monte Carlo, trajectories of a chosen number of leapfrog steps";
};

template <class Real, class Length = ChosenLength>
struct Hmc : LearnsMassAndStep<Real> {
  using Base = LearnsMassAndStep<Real>;
  using Base::kinetic;
  struct Bent : Base::Adaptation {
    BentNormal<Real> law;
  };
  using Adaptation = std::conditional_t<Length::may_bend, Bent, typename Base::Adaptation>;

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
    Index bends = 0;  ///< room for observations that bend a normal: the host's, by what the target has
    Settings() : AcceptanceStep{Length::learnt ? 0.8 : 0.7} { mass = Length::learnt ? Mass::dense : Mass::diagonal; }
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    if constexpr (Length::learnt) {
      visit("target_accept", s.target_accept, inside(0, 1), "acceptance that dual averaging steers the step to");
      visit("mass", s.mass, Names{"unit", "diagonal", "dense"},
            "inv_mass_matrix: the identity, or the variances or covariance of all chains' draws");
      visit("max_energy_error", s.max_energy_error, positive(), "a larger energy error counts as a divergence");
      return;
    }
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
    FinerSteps<Real> finer;  ///< where the rule of lengths has such levels
    Row<Real> z, turned;     ///< where steps may turn: F^-1 (x - m); that of the moving end
    Numbers<Real> bends;     ///< of the observations that bend a normal: the force of each
  };
  template <class V>
  static KC_HD void state(V&& visit, State& st, const Settings& s) {
    Base::trajectory_fields(visit, st, s);
    visit("trajectory", Keep::no, st.energy, st.step, st.steps, st.left);
    if constexpr (Length::finer_levels > 0) finer_fields(visit, st.finer, s.mass == Mass::dense, Length::may_turn);
    if constexpr (Length::may_turn) visit("whitened", st.z, Keep::yes), visit("whitened_end", st.turned, Keep::no);
    if (Length::may_bend && s.bends > 0) visit("bends", st.bends, s.bends, Keep::no);
  }
  template <class V>
  static KC_HD void adaptation(V&& visit, Adaptation& a, const Settings& s) {
    Base::adaptation(visit, a, s);
    if constexpr (Length::may_bend) BentNormal<Real>::fields(visit, a.law, s.bends);
  }
  template <class Team>
  static KC_HD void start_adaptation(const Team& team, const Settings& s, Adaptation& a, Index n) {
    Base::start_mass_and_step(team, s.mass, s.step_size > 0 ? s.step_size : 0.5 / n, a, n);
  }

  /// The steps of an iteration's trajectory: of nothing but the settings, what was learnt, and random numbers.
  static KC_HD Leaps leaps_of(const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a) {
    if constexpr (Length::learnt) {
      const Leaps out = Length::leaps(*a.step, *a.num_steps, *a.spread, int(*a.stages), rng.iteration);
      if constexpr (Length::may_bend)
        if (bends(a) && !kicks(a)) return Length::shorter(out, rng.iteration);
      return out;
    }
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
    const double energy = kinetic(team, st.r, n) - *st.lp;
    const Leaps leaps = leaps_of(rng, s, at, a);
    const bool bent = bends(a), kicked = kicks(a);
    team.single([&] {
      *st.energy = energy;
      *st.step = leaps.size;
      *st.steps = leaps.number;
      *st.left = bent ? kicked ? Length::parts : 1 : leaps.number;
      if constexpr (Length::finer_levels > 0) *st.finer.level = 0, *st.finer.back = -1;
    });
    ask(team, query, bent && !kicked ? Needs::value : Needs::gradient);
    const Row<Real> ftg = s.mass == Mass::dense ? st.ftg : st.work;
    if constexpr (Length::may_bend)
      if (bent) {
        team.for_each(n, [&](Index i) { st.turned[i] = st.z[i]; });
        const double end = follow(team, s, a, part_of(leaps, kicked), 0.5, st.g, ftg, st, n);
        team.single([&] { *st.finer.energy = end; });
        return follow_on(team, s, a, st, query, n);
      }
    push(team, s, a, leaps.size, 0.5 * kick_of(a, 0), st.g, st.z, st, ftg, n);
    move(team, s, a, leaps.size, st.x, st.z, st, query, n);
  }
  static KC_INLINE bool turns([[maybe_unused]] const Adaptation& a) {
    if constexpr (Length::may_turn) return *a.turns != 0;
    return false;
  }
  static KC_INLINE bool bends([[maybe_unused]] const Adaptation& a) {
    if constexpr (Length::may_bend) return *a.law.bent != 0;
    return false;
  }
  /// Where observations bend the normal, the target kicks.
  static KC_INLINE bool kicks([[maybe_unused]] const Adaptation& a) {
    if constexpr (Length::may_bend) return *a.law.bent != 0 && *a.law.count > 0;
    return false;
  }
  /// The steps from one kick to the next.
  static KC_INLINE Leaps part_of(Leaps whole, bool kicked) {
    if (!kicked) return whole;
    const std::int32_t number = whole.number < 2 * Length::parts ? 1 : whole.number / Length::parts;
    return {whole.size * whole.number / (Length::parts * number), number};
  }
  /// `part` of a kick at (st.turned, st.r), and a part of a trajectory from there, or none if its number is -1. Returns
  /// the kinetic energy at its end.
  template <class Team>
  static KC_INLINE double follow(const Team& team, const Settings& s, const Adaptation& a, Leaps leaps, double part,
                                 Row<Real> g, Row<Real> ftg, State& st, Index n) {
    const double time = kicks(a) ? part * leaps.size * (leaps.number < 0 ? 1 : leaps.number) : 0.0;
    if (time > 0) kick(team, s.mass, a, Real(time), g, st.r, ftg, n);
    follow_bent(team, a.law, time, leaps.size, leaps.number, st.turned, st.r, st.bends, st.finer.x, n);
    return kinetic(team, st.r, n);
  }
  /// Its way becomes the momentum of one step: that is where the target is asked.
  template <class Team>
  static KC_INLINE void follow_on(const Team& team, const Settings& s, const Adaptation& a, State& st,
                                  const Query<Real>& query, Index n) {
    team.for_each(n, [&](Index i) { st.finer.r[i] = st.r[i], st.r[i] = st.turned[i] - st.z[i]; });
    team.sync();
    move(team, s, a, 1, st.x, st.z, st, query, n);
  }
  /// How far a step of size e moves along its momentum; the way of a bent trajectory is whole.
  static KC_INLINE Real reach([[maybe_unused]] const Adaptation& a, double e) {
    if constexpr (Length::may_turn) return Real(bends(a) ? 1.0 : turns(a) ? Length::reach(e) : e);
    return Real(e);
  }
  /// The kick before the last `left` steps, over that of leapfrog.
  static KC_INLINE double kick_of([[maybe_unused]] const Adaptation& a, [[maybe_unused]] double left) {
    if constexpr (Length::learnt) return Length::kick(*a.stages, left);
    return 1;
  }
  /// `part` of a step's kick, from (z, g) with the momentum st.r.
  template <class Team>
  static KC_INLINE void push(const Team& team, const Settings& s, const Adaptation& a, double e, double part,
                             Row<Real> g, [[maybe_unused]] Row<Real> z, State& st, Row<Real> work, Index n) {
    kick(team, s.mass, a, Real(part * e), g, st.r, work, n);
    if constexpr (Length::may_turn)
      if (turns(a)) {
        const Real c = Real(part * Length::pull(e));
        team.for_each(n, [&](Index i) { st.r[i] += c * z[i]; });
        team.sync();
      }
  }
  template <class Team>
  static KC_INLINE void move(const Team& team, const Settings& s, const Adaptation& a, double e, Row<Real> x,
                             [[maybe_unused]] Row<Real> z, State& st, const Query<Real>& query, Index n) {
    const Real far = reach(a, e);
    if constexpr (Length::may_turn)
      if (turns(a)) team.for_each(n, [&](Index i) { st.turned[i] = z[i] + far * st.r[i]; });
    drift(team, s.mass, a, far, x, st.r, query.point, st.work, n);
  }
  /// Half a kick and a drift, from (x, g) with the momentum st.r.
  template <class Team>
  static KC_INLINE void first_step(const Team& team, const Settings& s, const Adaptation& a, double e, Row<Real> x,
                                   Row<Real> g, Row<Real> ftg, Row<Real> z, State& st, const Query<Real>& query,
                                   Index n) {
    push(team, s, a, e, 0.5 * kick_of(a, 0), g, z, st, s.mass == Mass::dense ? ftg : st.work, n);
    move(team, s, a, e, x, z, st, query, n);
  }
  template <class Team>
  static KC_HD void place(const Team& team, const Settings&, const Schedule&, const Adaptation& a, State& st,
                          const Query<Real>& query, Index n) {
    finish_drift(team, reach(a, *st.step), st.work, query.point, n);
  }

  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                           State& st, const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    if (bends(a)) return update_bent(team, rng, s, at, a, st, query, reply, info, n);
    const double e = *st.step;
    const bool finite = math::finite(*reply.lp) && all_finite(team, reply.gradient, n);
    const double left = *st.left - 1;
    team.sync();
    team.single([&] { *st.left = left; });
    if (finite && left > 0) {
      push(team, s, a, e, kick_of(a, left), reply.gradient, st.turned, st, st.work, n);
      move(team, s, a, e, query.point, st.turned, st, query, n);
      return Step::ask;
    }
    double log_r = -std::numeric_limits<double>::infinity();
    if (finite) {
      push(team, s, a, e, 0.5 * kick_of(a, 0), reply.gradient, st.turned, st, st.work, n);
      log_r = *st.energy - (kinetic(team, st.r, n) - *reply.lp);
    }
    if constexpr (Length::finer_levels > 0) {
      const double forward = *st.finer.back < 0 ? log_r : *st.finer.log_r;
      const NextLeg next = leg_over(team, rng, s, at, a, st, query, reply, log_r, left, n);
      if (next == NextLeg::finer || next == NextLeg::back) return Step::ask;
      return finish(team, rng, s, at, a, st, query, reply, info, forward, 0, next == NextLeg::refused, n);
    }
    return finish(team, rng, s, at, a, st, query, reply, info, log_r, left, false, n);
  }

  /// Without kicks nobody asks for a gradient: the chain keeps its last one, which the host has evaluated again where
  /// it is wanted.
  template <class Team>
  static KC_INLINE Step update_bent(const Team& team, const Rng& rng, const Settings& s, const Schedule& at,
                                    const Adaptation& a, State& st, const Query<Real>& query, const Reply<Real>& reply,
                                    Info& info, Index n) {
    if constexpr (Length::may_bend) {
      const bool kicked = kicks(a),
                 finite = math::finite(*reply.lp) && (!kicked || all_finite(team, reply.gradient, n));
      const double left = *st.left - 1;
      double end = *st.finer.energy;
      team.sync();
      team.single([&] { *st.left = left; });
      if (kicked && finite) {
        Leaps leaps = part_of(leaps_of(rng, s, at, a), true);
        if (left <= 0) leaps = {leaps.size * leaps.number, -1};
        team.for_each(n, [&](Index i) { st.r[i] = st.finer.r[i]; });
        end = follow(team, s, a, leaps, left > 0 ? 1 : 0.5, reply.gradient, st.work, st, n);
        if (left > 0) {
          follow_on(team, s, a, st, query, n);
          return Step::ask;
        }
      }
      const double log_r = finite ? *st.energy - (end - *reply.lp) : -std::numeric_limits<double>::infinity();
      if (!kicked) team.for_each(n, [&](Index i) { reply.gradient[i] = st.g[i]; });
      team.single([&] { *st.finer.first = !finite ? 0.0 : log_r < 0 ? math::exp(log_r) : 1.0; });
      return finish(team, rng, s, at, a, st, query, reply, info, log_r, 0, false, n);
    }
    return Step::done;
  }

  /// Begins the next leg; or the reply becomes that at the end which may be moved to.
  template <class Team>
  static KC_INLINE NextLeg leg_over(const Team& team, const Rng& rng, const Settings& s, const Schedule& at,
                                    const Adaptation& a, State& st, const Query<Real>& query, const Reply<Real>& reply,
                                    double log_r, double left, Index n) {
    FinerSteps<Real>& f = st.finer;
    const double back = *f.back, level = *f.level, error = back < 0 ? log_r : log_r - *st.energy + *f.energy;
    const Leaps leaps = leaps_of(rng, s, at, a);
    int levels = Length::finer_levels;
    if constexpr (Length::learnt)
      if ((rng.iteration + 1) % static_cast<std::int64_t>(*a.finer_every) != 0) levels = 0;
    while (levels > 0 && leaps.number << (2 * levels) > Length::most_steps) --levels;
    const NextLeg next = Length::next(error, decide(rng, error).accept, levels, level, back);
    const bool again = next == NextLeg::finer || next == NextLeg::back, ends = next == NextLeg::back && back < 0;
    const double at_level = next == NextLeg::finer ? level + 1 : next == NextLeg::back && !ends ? back + 1 : 0;
    const double finer = double(1 << (2 * int(at_level))), size = leaps.size / finer, number = leaps.number * finer;
    team.sync();  // all have read
    team.single([&] {
      if (back < 0 && level == 0) *f.first = !math::finite(log_r) ? 0.0 : log_r < 0 ? math::exp(log_r) : 1.0;
      if (ends) *f.lp = *reply.lp, *f.log_r = log_r, *f.energy = *st.energy - log_r;
      if (next == NextLeg::finer) *f.level = at_level;
      if (next == NextLeg::back) *f.back = at_level;
      *st.steps += (again ? number : 0.0) - left;
      if (again) *st.left = number, *st.step = size;
      if (next == NextLeg::stands || next == NextLeg::refused) *reply.lp = *f.lp;
    });
    if (ends) {
      team.for_each(n, [&](Index i) {
        f.x[i] = query.point[i], f.g[i] = reply.gradient[i], f.r[i] = -st.r[i];
        if (s.mass == Mass::dense) f.ftg[i] = st.work[i];
        if constexpr (Length::may_turn) f.z[i] = st.turned[i];
      });
      team.sync();  // a product reads all of g, and may write F^T g
    }
    if (again) {
      const bool forward = next == NextLeg::finer;
      if (forward)
        normals(team, rng, Purpose::momentum, st.r, n);
      else
        team.for_each(n, [&](Index i) { st.r[i] = f.r[i]; });
      first_step(team, s, a, size, forward ? st.x : f.x, forward ? st.g : f.g, forward ? st.ftg : f.ftg,
                 forward ? st.z : f.z, st, query, n);
    } else if (next == NextLeg::stands) {
      team.for_each(n, [&](Index i) {
        query.point[i] = f.x[i], reply.gradient[i] = f.g[i];
        if (s.mass == Mass::dense) st.work[i] = f.ftg[i];
        if constexpr (Length::may_turn) st.turned[i] = f.z[i];
      });
    }
    return next;
  }

  template <class Team>
  static KC_INLINE Step finish(const Team& team, const Rng& rng, const Settings& s, const Schedule& at,
                               const Adaptation& a, State& st, const Query<Real>& query, const Reply<Real>& reply,
                               Info& info, double log_r, double left, bool refused, Index n) {
    Decision move = decide(rng, log_r);
    if (refused) move.accept = false, move.probability = 0;
    if constexpr (products_made<Team>)
      if (move.accept) team.for_each(n, [&](Index i) { st.ftg[i] = st.work[i]; });
    if constexpr (Length::may_turn)
      if (move.accept && turns(a)) team.for_each(n, [&](Index i) { st.z[i] = st.turned[i]; });
    settle(team, move, st, query, reply, info, n);
    info.diverging = !move.finite || -log_r > s.max_energy_error;
    double signal = s.step_rule == StepRule::multiplicative ? move.accept : move.probability;
    if constexpr (Length::finer_levels > 0) signal = *st.finer.first;
    Base::write_signal(team, s, at, a, st, signal, n);
    info.stats[0] = move.accept ? *st.energy - log_r : *st.energy;
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
