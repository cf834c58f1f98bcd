// Gaussian adaptation as a sampler, M-GaA (Mueller & Sbalzarini 2010; Milgo et al., eq. 6).
//   accepted: Q <- Q sqrt(dC), dC = (1 - lambda) I + lambda z z^T, Q scaled to det 1 before;  lambda = ln(n+1)/(n+1)^2
//   sigma <- sigma (1 + lambda (1 - P)) accepted, sigma (1 - lambda P) rejected, P = 1/e
// The symmetric root of dC gives the same Q Q^T, hence the same law, as the triangular one that is used. The paper's
// mean (its eq. 3) moves nothing here: proposals are centred at x. Pooled: the mean over chains of what each would add
// to C. Cost: a pass over Q, and two more on acceptance.
#pragma once
#include "kernels/adapt/acceptance_step.hpp"
#include "kernels/adapt/factor_walk.hpp"

namespace kilochain {

template <class Real>
struct GaussianAdaptation : FactorWalk<Real, GaussianAdaptation<Real>> {
  using Walk = FactorWalk<Real, GaussianAdaptation<Real>>;
  using State = WalkState<Real>;
  static constexpr About about = {
      .meaning =
          "Gaussian adaptation: shape from accepted steps, scale held at acceptance 1/e (Mueller & Sbalzarini 2010)",
      .stats = {"step_size"},
      .needs = always(Needs::value),
      .asks = Asks::once,
      .adaptive = true,
      .signals_vector = true};

  struct Settings : WalkSettings {
    double target_accept = 0.36787944117144233, covariance_rate = 0, scale_rate = 0;
    bool normalised = true;
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("target_accept", s.target_accept, inside(0, 1), "P, the acceptance rate that sigma is steered to: 1/e");
    visit("covariance_rate", s.covariance_rate, between(0, 0.5), "lambda of the covariance; 0 takes ln(n+1)/(n+1)^2");
    visit("scale_rate", s.scale_rate, between(0, 0.5), "lambda of sigma; 0 takes that of the covariance");
    walk_fields(visit, s);
  }

  struct Adaptation : WalkAdaptation<Real> {
    Scalar<double> lambda;
  };
  template <class V>
  static KC_HD void adaptation(V&& visit, Adaptation& a, const Settings& s) {
    Walk::walk_adaptation(visit, a, s, s.scope == Scope::pooled);
    visit("lambda", a.lambda, Keep::yes);
  }
  template <class Team>
  static KC_HD void start_adaptation(const Team& team, const Settings& s, Adaptation& a, Index n) {
    const double paper = math::log(n + 1.0) / ((n + 1.0) * (n + 1.0));
    team.single([&] { *a.lambda = s.covariance_rate > 0 ? s.covariance_rate : paper; });
    Walk::start_walk(team, s, a, n);
  }

  template <class Team>
  static KC_HD void learn(const Team& team, const Settings&, const Adaptation&, State& st, const Query<Real>&,
                          bool accepted, Index n) {
    team.for_each(n, [&](Index i) { st.w[i] = accepted ? st.z[i] : Real(0); });
  }
  template <class Team, class Source>
  static KC_HD void adapt(const Team& team, const Settings& s, const Schedule& at, const Source& source, Adaptation& a,
                          Index n) {
    const double rate = walk_rate<Source>(s, at), lambda = bounded_rate(rate * *a.lambda),
                 step = s.scale_rate > 0 ? bounded_rate(rate * s.scale_rate) : lambda;
    if (source.acceptance() > 0)
      spread_factor(team, 1 - lambda * source.acceptance(), lambda, s.normalised, source, a, n);
    team.single([&] { *a.scale *= 1 + step * (source.acceptance() - s.target_accept); });
  }
};

}  // namespace kilochain
