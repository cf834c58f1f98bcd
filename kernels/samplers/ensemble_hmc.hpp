// HMC whose metric, step and length all chains learn together (host/run/ensemble_warmup.hpp): the default.
// Lengths vary about their mean (learnt_length.hpp). Steps are one of these, as the host has learnt:
//   leapfrog's, or in pairs those of a two-stage integrator;
//   turns, exact for N(m, F F^T), with kicks of what the density differs by:  z = F^-1 (x - m);
//     r += e/2 (F^T g + z);  (z, r) turned by e;  r += e/2 (F^T g + z)  (Shahbaba et al. 2014, 3.1);
//   those of a cheap law that is nearly the target, accepted by its density (bent_normal.hpp).
// Where the energy error is large, a trajectory is made again with finer steps (finer_steps.hpp).
// A turn is three shears: leapfrog with kicks e/2 F^T g + (e/2 - tan(e/2)) z and drifts sin(e). z goes along with x: an
// error of z is one of m, which may be any point.
// Cost: K gradients an iteration, of a cheap law two or a log density; dense mass 2 K passes over its factor.
#pragma once
#include "kernels/adapt/bent_normal.hpp"
#include "kernels/samplers/finer_steps.hpp"
#include "kernels/samplers/hmc.hpp"

namespace kilochain {

/// What its trajectories are made of.
struct EnsembleRule : LearntLength {
  static constexpr int finer_levels = 2;            ///< finer_steps.hpp
  static constexpr std::int32_t most_steps = 1024;  ///< of a level: longer trajectories have fewer
  static constexpr double error_bar = 2;            ///< where acceptance is 0.8, one trajectory in 10 000 is beyond it
  static constexpr int parts = 2;                   ///< of a trajectory of a bent normal, from kick to kick
  static constexpr const char* meaning =
      "HMC with a metric, step and trajectory length that all chains learn together; the default";

  static KC_INLINE NextLeg next(double log_r, bool accepted, int levels, double level, double back) {
    return next_leg(log_r, accepted, error_bar, levels, level, back);
  }
  /// How far a step that turns by e < 3 drifts, and what of z it kicks by beside e F^T g.
  static KC_INLINE double reach(double e) {
    double sine, cosine;
    math::sincos_turns(e / 6.283185307179586, sine, cosine);
    return sine;
  }
  static KC_INLINE double pull(double e) {
    double sine, cosine;
    math::sincos_turns(e / 6.283185307179586, sine, cosine);
    return e - 2 * sine / (1 + cosine);
  }
  /// The kick before the last `left` steps, over that of leapfrog. Two stages: of each pair of steps the kick between
  /// them is larger, those at its ends smaller (Blanes, Casas, Sanz-Serna 2014, b = 0.21178 in place of 1/4): for a
  /// Gaussian an energy error some twenty times smaller, as long as a pair is below 2.
  static KC_INLINE double kick(double stages, double left) {
    constexpr double ends = 4 * 0.21178;
    return stages != 2 ? 1 : static_cast<std::int64_t>(left) % 2 ? 2 - ends : ends;
  }
  /// Of trajectories of a normal alone every twentieth is a fifth as long. Where it is small beside the target, whole
  /// ones are all refused; short ones end where it is as small, and so lead out.
  static KC_INLINE Leaps shorter(Leaps leaps, std::int64_t iteration) {
    constexpr int part = 5;
    if (iteration % (4 * part) != 0) return leaps;
    const std::int32_t number = leaps.number < 2 * part ? 1 : leaps.number / part;
    return {leaps.size * leaps.number / (part * number), number};
  }
};

template <class Real, class Rule = EnsembleRule>
struct EnsembleHmc : Hmc<Real, Rule> {
  using Base = Hmc<Real, Rule>;
  using Base::kinetic;

  struct Settings : Base::Settings {
    Index bends = 0;  ///< room for observations that bend a normal: the host's, by what the target has
    Settings() {
      this->target_accept = 0.8;
      this->mass = Mass::dense;
    }
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("target_accept", s.target_accept, inside(0, 1), "acceptance that dual averaging steers the step to");
    visit("mass", s.mass, Names{"unit", "diagonal", "dense"},
          "inv_mass_matrix: the identity, or the variances or covariance of all chains' draws");
    visit("max_energy_error", s.max_energy_error, positive(), "a larger energy error counts as a divergence");
  }

  struct State : Base::State {
    FinerSteps<Real> finer;
    Row<Real> z, turned;  ///< F^-1 (x - m), where steps turn or the law bends; that of the moving end
    Numbers<Real> bends;  ///< of the observations that bend a normal: the force of each
  };
  template <class V>
  static KC_HD void state(V&& visit, State& st, const Settings& s) {
    Base::state(visit, st, s);
    finer_fields(visit, st.finer, s.mass == Mass::dense);
    visit("whitened", st.z, Keep::yes), visit("whitened_end", st.turned, Keep::no);
    if (s.bends > 0) visit("bends", st.bends, s.bends, Keep::no);
  }
  struct Adaptation : Base::Adaptation {
    BentNormal<Real> law;
  };
  template <class V>
  static KC_HD void adaptation(V&& visit, Adaptation& a, const Settings& s) {
    Base::adaptation(visit, a, s);
    BentNormal<Real>::fields(visit, a.law, s.bends);
  }

  template <class Team>
  static KC_HD void draw(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                         State& st, const Query<Real>& query, Index n) {
    normals(team, rng, Purpose::momentum, st.r, n);
    const Leaps leaps = leaps_of(rng, s, at, a);
    const bool bent = bends(a), kicked = kicks(a);
    Base::begin(team, st, leaps, n);
    team.single([&] {
      if (bent) *st.left = kicked ? Rule::parts : 1;
      *st.finer.level = 0, *st.finer.back = -1;
    });
    ask(team, query, bent && !kicked ? Needs::value : Needs::gradient);
    const Row<Real> ftg = s.mass == Mass::dense ? st.ftg : st.work;
    if (!bent) return first_step(team, s, a, leaps.size, st.x, st.g, ftg, st.z, st, query, n);
    team.for_each(n, [&](Index i) { st.turned[i] = st.z[i]; });
    const double end = follow(team, s, a, part_of(leaps, kicked), 0.5, st.g, ftg, st, n);
    team.single([&] { *st.finer.energy = end; });
    follow_on(team, s, a, st, query, n);
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
    const bool finite = Base::is_finite(team, reply, n);
    const double left = Base::one_less(team, st);
    if (finite && left > 0) {
      push(team, s, a, e, Rule::kick(*a.stages, left), reply.gradient, st.turned, st, st.work, n);
      move(team, s, a, e, query.point, st.turned, st, query, n);
      return Step::ask;
    }
    double log_r = -std::numeric_limits<double>::infinity();
    if (finite) {
      push(team, s, a, e, 0.5 * Rule::kick(*a.stages, 0), reply.gradient, st.turned, st, st.work, n);
      log_r = *st.energy - (kinetic(team, st.r, n) - *reply.lp);
    }
    const double forward = *st.finer.back < 0 ? log_r : *st.finer.log_r;
    const NextLeg next = leg_over(team, rng, s, at, a, st, query, reply, log_r, left, n);
    if (next == NextLeg::finer || next == NextLeg::back) return Step::ask;
    return finish(team, rng, s, at, a, st, query, reply, info, forward, next == NextLeg::refused, n);
  }

 private:
  static KC_HD Leaps leaps_of(const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a) {
    const Leaps out = Base::leaps_of(rng, s, at, a);
    return bends(a) && !kicks(a) ? Rule::shorter(out, rng.iteration) : out;
  }
  static KC_INLINE bool turns(const Adaptation& a) { return *a.turns != 0; }
  static KC_INLINE bool bends(const Adaptation& a) { return *a.law.bent != 0; }
  /// Where observations bend the normal, the target kicks.
  static KC_INLINE bool kicks(const Adaptation& a) { return *a.law.bent != 0 && *a.law.count > 0; }

  /// `part` of a step's kick, from (z, g) with the momentum st.r.
  template <class Team>
  static KC_INLINE void push(const Team& team, const Settings& s, const Adaptation& a, double e, double part,
                             Row<Real> g, Row<Real> z, State& st, Row<Real> work, Index n) {
    kick(team, s.mass, a, Real(part * e), g, st.r, work, n);
    if (!turns(a)) return;
    const Real c = Real(part * Rule::pull(e));
    team.for_each(n, [&](Index i) { st.r[i] += c * z[i]; });
    team.sync();
  }
  /// How far a step of size e moves along its momentum; the way of a bent trajectory is whole.
  static KC_INLINE Real reach(const Adaptation& a, double e) {
    return Real(bends(a) ? 1.0 : turns(a) ? Rule::reach(e) : e);
  }
  template <class Team>
  static KC_INLINE void move(const Team& team, const Settings& s, const Adaptation& a, double e, Row<Real> x,
                             Row<Real> z, State& st, const Query<Real>& query, Index n) {
    const Real far = reach(a, e);
    if (turns(a)) team.for_each(n, [&](Index i) { st.turned[i] = z[i] + far * st.r[i]; });
    drift(team, s.mass, a, far, x, st.r, query.point, st.work, n);
  }
  /// Half a kick and a drift, from (x, g) with the momentum st.r.
  template <class Team>
  static KC_INLINE void first_step(const Team& team, const Settings& s, const Adaptation& a, double e, Row<Real> x,
                                   Row<Real> g, Row<Real> ftg, Row<Real> z, State& st, const Query<Real>& query,
                                   Index n) {
    push(team, s, a, e, 0.5 * Rule::kick(*a.stages, 0), g, z, st, ftg, n);
    move(team, s, a, e, x, z, st, query, n);
  }

  /// The steps of a bent trajectory from one kick to the next.
  static KC_INLINE Leaps part_of(Leaps whole, bool kicked) {
    if (!kicked) return whole;
    const std::int32_t number = whole.number < 2 * Rule::parts ? 1 : whole.number / Rule::parts;
    return {whole.size * whole.number / (Rule::parts * number), number};
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
  /// Without kicks nobody asks for a gradient: the chain keeps its last one, which the host has evaluated again where
  /// it is wanted.
  template <class Team>
  static KC_INLINE Step update_bent(const Team& team, const Rng& rng, const Settings& s, const Schedule& at,
                                    const Adaptation& a, State& st, const Query<Real>& query, const Reply<Real>& reply,
                                    Info& info, Index n) {
    const bool kicked = kicks(a), finite = math::finite(*reply.lp) && (!kicked || all_finite(team, reply.gradient, n));
    double end = *st.finer.energy;
    const double left = Base::one_less(team, st);
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
    return finish(team, rng, s, at, a, st, query, reply, info, log_r, false, n);
  }

  /// Begins the next leg; or the reply becomes that at the end which may be moved to.
  template <class Team>
  static KC_INLINE NextLeg leg_over(const Team& team, const Rng& rng, const Settings& s, const Schedule& at,
                                    const Adaptation& a, State& st, const Query<Real>& query, const Reply<Real>& reply,
                                    double log_r, double left, Index n) {
    FinerSteps<Real>& f = st.finer;
    const double back = *f.back, level = *f.level, error = back < 0 ? log_r : log_r - *st.energy + *f.energy;
    const Leaps leaps = leaps_of(rng, s, at, a);
    int levels = Rule::finer_levels;
    if ((rng.iteration + 1) % static_cast<std::int64_t>(*a.finer_every) != 0) levels = 0;
    while (levels > 0 && leaps.number << (2 * levels) > Rule::most_steps) --levels;
    const NextLeg next = Rule::next(error, decide(rng, error).accept, levels, level, back);
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
        f.z[i] = st.turned[i];
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
        st.turned[i] = f.z[i];
      });
    }
    return next;
  }

  template <class Team>
  static KC_INLINE Step finish(const Team& team, const Rng& rng, const Settings& s, const Schedule& at,
                               const Adaptation& a, State& st, const Query<Real>& query, const Reply<Real>& reply,
                               Info& info, double log_r, bool refused, Index n) {
    Decision move = decide(rng, log_r);
    if (refused) move.accept = false, move.probability = 0;
    if (move.accept && turns(a)) team.for_each(n, [&](Index i) { st.z[i] = st.turned[i]; });
    Base::take_end(team, move, st, query, reply, info, n);
    return Base::report(team, s, at, a, st, info, log_r, *st.finer.first, 0, n);
  }
};

}  // namespace kilochain
