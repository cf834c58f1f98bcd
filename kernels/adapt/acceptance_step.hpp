// A step that follows the acceptance: step <- step (1 + rate (a - target)/target), a in {0, 1} or its mean over chains.
// At rest E log of the factor is 0, so the step after W iterations is step_0 up^A down^(W - A), A acceptances: an exact
// test. One double beside each chain, or one for all. Pooled, the mean acceptance bears a larger rate, held below 1/2
// so that the step stays positive.
#pragma once
#include "kernels/adapt/schedule.hpp"
#include "kernels/iteration.hpp"

namespace kilochain {

struct AcceptanceStep : ScheduleSettings {
  double target_accept, adapt_rate = 0.01, step_speedup = 10;
  explicit AcceptanceStep(double target) : target_accept(target) {}
};

template <class V>
void acceptance_step_fields(V&& visit, AcceptanceStep& s) {
  visit("target_accept", s.target_accept, inside(0, 1), "acceptance rate that the step is steered to in warm-up");
  visit("adapt_rate", s.adapt_rate, between(0, 0.5),
        "the step is multiplied by 1 + adapt_rate (accepted - target_accept)/target_accept");
  visit("step_speedup", s.step_speedup, positive(),
        "factor on adapt_rate when chains are pooled: their mean acceptance bears larger steps");
  schedule_fields(visit, s);
}

/// What `step` becomes by the source's acceptance in [0, 1].
template <class Source>
KC_HD double next_acceptance_step(const AcceptanceStep& s, const Schedule& at, const Source& source, double step) {
  const double wanted = rate_at(s, at) * s.adapt_rate * (Source::pooled ? s.step_speedup : 1.0),
               rate = wanted < 0.5 ? wanted : 0.5;
  return step * (1 + rate * (source.acceptance() - s.target_accept) / s.target_accept);
}
/// Takes one step of `step`. Team-uniform.
template <class Team, class Source>
KC_HD void adapt_acceptance_step(const Team& team, const AcceptanceStep& s, const Schedule& at, const Source& source,
                                 Scalar<double> step) {
  team.single([&] { *step = next_acceptance_step(s, at, source, *step); });
}

/// What samplers share that learn one step by their acceptance, and nothing else. Theirs: Settings from AcceptanceStep
/// with the name of the step and its first value, State, propose, update.
template <class Real>
struct LearnsStep : PlainStart<Real> {
  struct Adaptation {
    Scalar<double> step;
  };
  template <class V, class S>
  static KC_HD void adaptation(V&& visit, Adaptation& a, const S&) {
    visit(S::learnt(), a.step, Keep::yes);
  }
  template <class Team, class S>
  static KC_HD void start_adaptation(const Team& team, const S& s, Adaptation& a, Index n) {
    team.single([&] { *a.step = s.first_step(n); });
  }
  static KC_HD FactorShape signal_shape(const AcceptanceStep&) { return FactorShape::diagonal; }
  template <class State>
  static KC_HD Signal<Real> signal(const AcceptanceStep&, const State&, double accepted) {
    return acceptance_signal<Real>(accepted);
  }
  template <class Team, class Source>
  static KC_HD void adapt(const Team& team, const AcceptanceStep& s, const Schedule& at, const Source& source,
                          Adaptation& a, Index) {
    adapt_acceptance_step(team, s, at, source, a.step);
  }
};

/// Settings of those whose step is a variance.
struct VarianceSettings : AcceptanceStep {
  static KC_INLINE const char* learnt() { return "variance"; }
  double initial_variance = 0;
  using AcceptanceStep::AcceptanceStep;
  KC_INLINE double first_step(Index n) const { return initial_variance > 0 ? initial_variance : 0.5 / n; }
};

}  // namespace kilochain
