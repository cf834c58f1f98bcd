// What samplers of trajectories share: a learnt mass (mass.hpp), and a step that follows the acceptance
// (dual_averaging.hpp). A sampler adds Settings from TrajectorySettings with target_accept, State from TrajectoryState,
// draw, place and update.
// Products of a dense F that chains share: F^T of each answer, F r for each step, and F^T g(x) when F may be another;
// else a chain knows F^T g(x) from the answer there, and keeps it.
#pragma once
#include "kernels/adapt/dual_averaging.hpp"
#include "kernels/adapt/mass.hpp"
#include "kernels/iteration.hpp"

namespace kilochain {

struct TrajectorySettings {
  Mass mass = Mass::diagonal;
  double max_energy_error = 1000;
};

template <class V>
void mass_field(V&& visit, TrajectorySettings& s) {
  visit("mass", s.mass, Names{"unit", "diagonal", "dense"},
        "inv_mass_matrix: the identity, or the variances or covariance of the draws in warm-up");
}

template <class Real>
struct TrajectoryState : PositionAndGradient<Real> {
  Row<Real> r, work;           ///< whitened momentum of the moving end; workspace
  Row<Real> d;                 ///< x - centre, the signal
  Row<Real> ftg;               ///< F^T g(x); of a dense F alone
  Scalar<double> probability;  ///< mean acceptance of the trajectory
};

template <class Real>
struct LearnsMassAndStep : PlainStart<Real> {
  struct Adaptation : MassAdaptation<Real> {
    Scalar<double> step;
    Scalar<double> num_steps, spread, stages, turns, finer_every;  ///< of a trajectory, where the host learns them
    Numbers<double> dual;
  };
  template <class V>
  static KC_HD void trajectory_fields(V&& visit, TrajectoryState<Real>& st, const TrajectorySettings& s) {
    position_fields(visit, st);
    visit("momentum", st.r, Keep::no);
    visit("work", st.work, Keep::no);
    visit("signal_d", st.d, Keep::no);
    if (s.mass == Mass::dense) visit("ftg", st.ftg, Keep::yes);
    visit("probability", st.probability, Keep::no);
  }
  template <class V>
  static KC_HD void adaptation(V&& visit, Adaptation& a, const TrajectorySettings& s) {
    mass_layout(visit, a, s.mass);
    visit("steps", Keep::yes, a.step, a.num_steps, a.spread, a.stages, a.turns, a.finer_every);
    visit("dual_averaging", a.dual, dual_size, Keep::yes);
    plain_layout(visit, a, s.mass);
  }
  /// F = I, and the first step.
  template <class Team>
  static KC_HD void start_mass_and_step(const Team& team, Mass mass, double step, Adaptation& a, Index n) {
    start_mass(team, mass, a, n);
    team.single(
        [&] { *a.step = step, *a.num_steps = 1, *a.spread = 1, *a.stages = 1, *a.turns = 0, *a.finer_every = 1; });
    restart_dual_averaging(team, step, a.dual);
  }
  static constexpr Moves moves = Moves::in_steps;
  template <class V>
  static KC_HD void products(V&& visit, const TrajectorySettings&, bool adapting, const TrajectoryState<Real>& st,
                             const Query<Real>&, const Reply<Real>& reply) {
    visit(Before::update, Times::transposed, reply.gradient, st.work);
    if (adapting) visit(Before::draw, Times::transposed, st.g, st.ftg);
    visit(Before::place, Times::lower, st.r, st.work);
  }
  /// |r|^2/2, in double: an energy error is a small difference of large numbers.
  template <class Team>
  static KC_HD double kinetic(const Team& team, Row<Real> r, Index n) {
    return 0.5 * team.template sum<double>(n, [&](Index i) { return double(r[i]) * double(r[i]); });
  }
  /// A trajectory is over: what it teaches.
  template <class Team>
  static KC_HD void write_signal(const Team& team, const TrajectorySettings& s, const Schedule& at, const Adaptation& a,
                                 TrajectoryState<Real>& st, double acceptance, Index n) {
    team.single([&] { *st.probability = acceptance; });
    if (at.adapting && s.mass != Mass::unit) team.for_each(n, [&](Index i) { st.d[i] = st.x[i] - a.centre[i]; });
  }
  static KC_HD FactorShape signal_shape(const TrajectorySettings& s) { return mass_shape(s.mass); }
  static KC_HD Signal<Real> signal(const TrajectorySettings& s, const TrajectoryState<Real>& st, double) {
    return mass_signal(s.mass, *st.probability, st.d);
  }
  static KC_INLINE bool reads_matrix(const TrajectorySettings& s, const Schedule& at) { return reads_mass(s.mass, at); }
  /// The mass, and dual averaging of the step; a window's end, and the last iteration, take the averaged one.
  template <class Team, class S, class Source>
  static KC_HD void adapt(const Team& team, const S& s, const Schedule& at, const Source& source, Adaptation& a,
                          Index n) {
    const bool fresh = adapt_mass(team, s.mass, at, source, a, n), last = at.t + 1 == at.num_warmup;
    adapt_dual_averaging(team, s.target_accept, source.acceptance(), last || fresh, a.dual, a.step);
    if (fresh) restart_dual_averaging(team, *a.step, a.dual);
  }
};

}  // namespace kilochain
