// What samplers of trajectories share: a learnt mass (mass.hpp), and a step that follows the acceptance
// (dual_averaging.hpp). Theirs: Settings with `mass`, State with a gradient, propose, update, signal, adapt.
// Products of a dense F that chains share: F^T of each answer, F r for each step, and F^T g(x) when F may be another; else
// a chain knows F^T g(x) from the answer there, and keeps it.
#pragma once
#include "kernels/adapt/dual_averaging.hpp"
#include "kernels/adapt/mass.hpp"
#include "kernels/iteration.hpp"

namespace kilochain {

template <class Real>
struct LearnsMassAndStep {
  struct Adaptation : MassAdaptation<Real> {
    Scalar<double> step;
    Numbers<double> dual;
  };
  template <class V, class S>
  static KC_HD void adaptation(V&& visit, Adaptation& a, const S& s) {
    mass_layout(visit, a, s.mass);
    visit("step_size", a.step, Keep::yes);
    visit("dual_averaging", a.dual, dual_size, Keep::yes);
  }
  /// F = I, and the first step.
  template <class Team>
  static KC_HD void start_mass_and_step(const Team& team, Mass mass, double step, Adaptation& a, Index n) {
    start_mass(team, mass, a, n);
    team.single([&] { *a.step = step; });
    restart_dual_averaging(team, step, a.dual);
  }
  template <class S>
  static void resolve(S&, Scope) {}
  static constexpr Moves moves = Moves::in_steps;
  template <class V, class S, class State>
  static void products(V&& visit, const S&, bool adapting, const State& st, const Query<Real>&,
                       const Reply<Real>& reply) {
    visit(Before::update, Times::transposed, reply.gradient, st.work);
    if (adapting) visit(Before::draw, Times::transposed, st.g, st.ftg);
    visit(Before::place, Times::lower, st.r, st.work);
  }
  template <class Team, class S, class State>
  static KC_HD void start(const Team& team, const S&, const Adaptation&, State& st, const Query<Real>& query,
                          const Reply<Real>& reply, Index n) {
    start_at(team, st, query, reply, n);
  }
  /// |r|^2/2, in double: an energy error is a small difference of large numbers.
  template <class Team>
  static KC_HD double kinetic(const Team& team, Row<Real> r, Index n) {
    return 0.5 * team.template sum<double>(n, [&](Index i) { return double(r[i]) * double(r[i]); });
  }
  template <class S>
  static KC_HD FactorShape signal_shape(const S& s) {
    return mass_shape(s.mass);
  }
  /// Dual averaging of the step; a window's end, and the last iteration, take the averaged one.
  template <class Team, class Source>
  static KC_HD void average_step(const Team& team, double target_accept, const Schedule& at, const Source& source,
                                 bool fresh, Adaptation& a) {
    const bool last = at.t + 1 == at.num_warmup;
    adapt_dual_averaging(team, target_accept, source.acceptance(), last || fresh, a.dual, a.step);
    if (fresh) restart_dual_averaging(team, *a.step, a.dual);
  }
};

}  // namespace kilochain
