// (1+1)-CMA-ES as a sampler, M-CMA (Milgo et al., eq. 4 and 7; Igel, Suttorp & Hansen 2006).
//   accepted: p <- (1 - l) p + sqrt(l (2 - l)) (y - x)/sigma,  C <- (1 - m) C + m p p^T;   l = 2/(2+n), m = 2/(n^2+6)
//   rejected: p <- (1 - l) p,                                C <- (1 - m) C + m (p p^T + l (2 - l) C); det C = 1 before
//   success rate: s <- (1 - c) s + c a, c = 1/12;  sigma <- sigma exp((s - s*)/(D (1 - s*))), D = 1 + n/2, s* = 0.234
// The path is kept as L^-1 p, where (y - x)/sigma is z itself, so the factor moves in O(n^2) without a solve.
// Pooled: one path of the mean step for all chains, and the mean of their p p^T: the (mu, lambda) strategies' rank-mu
// change. Cost: three passes over L.
#pragma once
#include "kernels/adapt/factor_walk.hpp"

namespace kilochain {

template <class Real>
struct Cma : FactorWalk<Real, Cma<Real>> {
  using Walk = FactorWalk<Real, Cma<Real>>;
  using State = WalkState<Real>;
  static constexpr About about = {
      .meaning = "(1+1)-CMA-ES as a sampler: shape from the path of accepted steps, scale from the success rate",
      .stats = {"step_size"},
      .needs = always(Needs::value),
      .asks = Asks::once,
      .adaptive = true,
      .signals_vector = true};

  struct Settings : WalkSettings {
    double target_accept = 0.234, path_rate = 0, covariance_rate = 0, success_rate = 1.0 / 12, damping = 0;
    bool normalised = true;
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("target_accept", s.target_accept, inside(0, 1),
          "success rate that sigma is steered to: 0.234 for a sampler, 2/11 for an optimiser");
    visit("path_rate", s.path_rate, between(0, 1), "rate of the evolution path; 0 takes 2/(2+n)");
    visit("covariance_rate", s.covariance_rate, between(0, 0.5), "rate of the covariance; 0 takes 2/(n^2+6)");
    visit("success_rate", s.success_rate, between(1e-6, 1), "weight of the newest move in the smoothed success rate");
    visit("damping", s.damping, at_least(0), "how slowly sigma follows the success rate; 0 takes 1 + n/2");
    visit("normalised", s.normalised, "C is scaled to determinant 1, so that sigma alone holds the scale");
    walk_fields(visit, s);
  }

  enum Rate { path, step, covariance, steer, num_rates };
  struct Adaptation : WalkAdaptation<Real> {  // carried: the path
    Scalar<double> success;
    Numbers<double> rates;  ///< l, sqrt(l (2 - l)), m, 1/(D (1 - s*)): of n and the settings alone
  };
  template <class V>
  static KC_HD void adaptation(V&& visit, Adaptation& a, const Settings& s) {
    Walk::walk_adaptation(visit, a, s, s.scope == Scope::pooled);
    visit("success", a.success, Keep::yes);
    visit("rates", a.rates, num_rates, Keep::yes);
  }
  template <class Team>
  static KC_HD void start_adaptation(const Team& team, const Settings& s, Adaptation& a, Index n) {
    const double l = s.path_rate > 0 ? s.path_rate : 2.0 / (2 + n), damping = s.damping > 0 ? s.damping : 1 + 0.5 * n;
    team.single([&] {
      *a.success = s.target_accept;
      a.rates[path] = l;
      a.rates[step] = sqrt(l * (2 - l));
      a.rates[covariance] = s.covariance_rate > 0 ? s.covariance_rate : 2 / (n * double(n) + 6);
      a.rates[steer] = 1 / (damping * (1 - s.target_accept));
    });
    Walk::start_walk(team, s, a, n);
  }

  template <class Team>
  static KC_HD void learn(const Team& team, const Settings&, const Adaptation& a, State& st, const Query<Real>&,
                          bool accepted, Index n) {
    const Real old = static_cast<Real>(1 - a.rates[path]), fresh = static_cast<Real>(accepted ? a.rates[step] : 0.0);
    team.for_each(n, [&](Index i) { st.w[i] = old * a.carried[i] + fresh * st.z[i]; });
  }
  template <class Team, class Source>
  static KC_HD void adapt(const Team& team, const Settings& s, const Schedule& at, const Source& source, Adaptation& a,
                          Index n) {
    const double m = bounded_rate(walk_rate<Source>(s, at) * a.rates[covariance]),
                 stall = a.rates[step] * a.rates[step];
    const double rejected = 1 - source.acceptance();
    spread_factor(team, 1 - m + m * rejected * stall, m, s.normalised, source, a, n);
    const double success = (1 - s.success_rate) * *a.success + s.success_rate * source.acceptance(),
                 change = rate_at(s, at) * (success - s.target_accept) * a.rates[steer];
    team.sync();
    team.single([&] {
      *a.success = success;
      *a.scale *= exp(change);
    });
  }
};

}  // namespace kilochain
