// Adaptive Metropolis as its authors wrote it: shape from the whole history (Haario, Saksman & Tamminen 2001; Milgo et
// al., eq. 2 and 5).
//   t < initial_period: y = x + sigma_0 C_0^(1/2) z;   later: y = x + (2.4/sqrt(n)) L z, L L^T = C
//   C <- C + rho ((x' - m)(x' - m)^T - C),  m <- m + rho (x' - m),  rho = 1/(t+2): x_0 and C_0 count as one
// The text's C + epsilon I is a floor of sqrt(epsilon) under L_ii. A chain alone keeps L^-1 (x - m), to which a move
// adds a multiple of z and which a change of L and m scales entry by entry: no solve, and m stands nowhere. Pooled: m
// and C of all histories together. The schedule's own is vanishing: rho = (t+2)^-exponent, exponent 1; constant: rho =
// constant_rate. Cost: three passes over L.
#pragma once
#include "kernels/adapt/factor_walk.hpp"

namespace kilochain {

template <class Real>
struct AdaptiveMetropolisHaario : FactorWalk<Real, AdaptiveMetropolisHaario<Real>> {
  using Walk = FactorWalk<Real, AdaptiveMetropolisHaario<Real>>;
  using State = WalkState<Real>;
  static constexpr About about = {
      .meaning = "adaptive Metropolis of 2001: shape from the covariance of the whole history (Haario et al.)",
      .stats = {"step_size"},
      .needs = always(Needs::value),
      .asks = Asks::once,
      .adaptive = true,
      .signals_vector = true};

  struct Settings : WalkSettings {
    std::int32_t initial_period = 100;
    double scale = 0, epsilon = 1e-6, constant_rate = 0.01;
    Settings() { adapt_schedule = AdaptSchedule::vanishing, adapt_exponent = 1, adapt_delay = 1; }
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("initial_period", s.initial_period, between(0, 1 << 24),
          "iterations with the first proposal, while C is learnt already");
    visit("scale", s.scale, at_least(0), "factor on the root of C after that; 0 takes 2.4/sqrt(n)");
    visit("epsilon", s.epsilon, at_least(0), "the diagonal of L stays above its square root");
    visit("constant_rate", s.constant_rate, between(0, 0.5), "rho where adapt_schedule is constant");
    walk_fields(visit, s);
  }

  struct Adaptation : WalkAdaptation<Real> {  // carried: L^-1 (x - m) of a chain alone
    Scalar<double> count;                     ///< iterations learnt from
    Row<Real> mean;                           ///< m, pooled
  };
  template <class V>
  static KC_HD void adaptation(V&& visit, Adaptation& a, const Settings& s) {
    Walk::walk_adaptation(visit, a, s, s.scope == Scope::pooled);
    visit("count", a.count, Keep::yes);
    if (s.scope == Scope::pooled) visit("mean", a.mean, Keep::yes);
  }
  template <class Team>
  static KC_HD void start_adaptation(const Team& team, const Settings& s, Adaptation& a, Index n) {
    Walk::start_walk(team, s, a, n);
    const double scale = s.initial_period > 0 ? s.initial_scale * s.initial_sd : scale_of(s, n);
    team.single([&] { *a.scale = scale; });
  }
  static KC_HD double scale_of(const Settings& s, Index n) {
    return s.scale > 0 ? s.scale : 2.4 / sqrt(static_cast<double>(n));
  }

  /// C_0 is a multiple of the identity: the first proposals need no factor.
  static KC_HD bool initial(const Settings& s, const Adaptation& a) { return *a.count < s.initial_period; }
  static KC_HD bool shapes(const Settings& s, const Adaptation& a) { return !initial(s, a); }

  template <class Team>
  static KC_HD void learn(const Team& team, const Settings& s, const Adaptation& a, State& st, const Query<Real>& query,
                          bool accepted, Index n) {
    const bool alone = s.scope == Scope::chain, known = alone && !initial(s, a);  // whether the move is sigma L z
    const Real sigma = static_cast<Real>(accepted ? *a.scale : 0.0);
    team.for_each(n, [&](Index i) {
      const Real moved = accepted ? query.point[i] - st.x[i] : Real(0);
      st.w[i] = known ? sigma * st.z[i] : alone ? moved : moved + (st.x[i] - a.mean[i]);
    });
    if (!known) solve_lower(team, a.L, st.w, n);
    if (alone) team.for_each(n, [&](Index i) { st.w[i] += a.carried[i]; });
  }

  template <class Team, class Source>
  static KC_HD void adapt(const Team& team, const Settings& s, const Schedule& at, const Source& source, Adaptation& a,
                          Index n) {
    const double count = *a.count;
    const bool constant = s.adapt_schedule == AdaptSchedule::constant;
    double rho = constant ? s.constant_rate : vanishing_factor(s, count + 1);
    rho = bounded_rate(at.rate * rho);
    if constexpr (Source::pooled) {  // the first states of all chains are where the mean begins
      team.for_each(n, [&](Index i) { a.carried[i] = source.vector(i); });
      team.sync();
      multiply_lower(team, a.L, a.carried, a.own, n);
      const Real rate = static_cast<Real>(count == 0 ? 1.0 : rho);
      team.for_each(n, [&](Index i) { a.mean[i] += rate * a.own[i]; });
    }
    if (!Source::pooled || count > 0) spread_factor(team, 1 - rho, rho, false, source, a, n);
    const Real left = static_cast<Real>(1 - rho);
    team.for_each(n, [&](Index i) { a.carried[i] *= left; });  // the mean came nearer
    // An iteration shrinks an entry of the diagonal by sqrt(1 - rho) at most: it is enough to look at times.
    if (static_cast<std::int64_t>(count) % 32 == 0) floor_diagonal(team, a.L, static_cast<Real>(sqrt(s.epsilon)), n);
    const bool ends = count + 1 == s.initial_period;
    team.single([&] {
      *a.count = count + 1;
      if (ends) *a.scale = scale_of(s, n);
    });
  }
};

}  // namespace kilochain
