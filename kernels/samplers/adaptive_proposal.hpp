// Adaptive proposal: shape from the last H states (Haario, Saksman & Tamminen 1999).
//   every U iterations: L L^T = cov(last H states) + epsilon I;  y = x + (2.4/sqrt(n)) L z, at first x + sigma_0 L_0 z
// The window holds states, x' after the decision: a rejected candidate is never in it. Not ergodic, at any length: each
// window follows the noise of the one before. Vanishing: C <- C + rho (cov - C) with the schedule's factor as rho.
// Pooled: the window holds the means over chains; to their covariance is added the mean covariance between chains since
// the last refresh, which together is the covariance of all states of the window where H = U. Cost: a pass over L;
// every U iterations H n^2/2 + n^3/6.
#pragma once
#include "kernels/adapt/factor_walk.hpp"

namespace kilochain {

template <class Real>
struct AdaptiveProposal : FactorWalk<Real, AdaptiveProposal<Real>> {
  using Walk = FactorWalk<Real, AdaptiveProposal<Real>>;
  using State = WalkState<Real>;
  static constexpr About about = {
      .meaning = "adaptive proposal of 1999: shape from the covariance of the last states (Haario et al.); not ergodic",
      .stats = {"step_size"},
      .needs = always(Needs::value),
      .asks = Asks::once,
      .adaptive = true,
      .signals_vector = true};

  struct Settings : WalkSettings {
    std::int32_t history = 200, refresh = 200;
    double scale = 0, epsilon = 1e-6;
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("history", s.history, between(2, 1 << 20), "H, the number of last states whose covariance is taken");
    visit("refresh", s.refresh, between(1, 1 << 20), "U, iterations from one covariance to the next");
    visit("scale", s.scale, at_least(0), "factor on the root of the covariance; 0 takes 2.4/sqrt(n)");
    visit("epsilon", s.epsilon, positive(), "added to the covariance's diagonal: a window may hold few places");
    walk_fields(visit, s);
  }

  struct Adaptation : WalkAdaptation<Real> {  // carried: the state, or the mean over chains
    Rows<Real> history;                       ///< (H, n), a ring
    Scalar<double> count;                     ///< states that have been in it
    Factor<Real> between;                     ///< pooled: sum of the covariances between chains since the last refresh
  };
  template <class V>
  static KC_HD void adaptation(V&& visit, Adaptation& a, const Settings& s) {
    Walk::walk_adaptation(visit, a, s, true);
    visit("history", a.history, s.history, Keep::yes);
    visit("count", a.count, Keep::yes);
    if (s.scope == Scope::pooled) visit("between", a.between, s.factor, Keep::yes);
  }
  template <class Team>
  static KC_HD void start_adaptation(const Team& team, const Settings& s, Adaptation& a, Index n) {
    Walk::start_walk(team, s, a, n);
  }

  template <class Team>
  static KC_HD void learn(const Team& team, const Settings&, const Adaptation& a, State& st, const Query<Real>& query,
                          bool accepted, Index n) {
    team.for_each(n, [&](Index i) { st.w[i] = (accepted ? query.point[i] : st.x[i]) - a.carried[i]; });
  }

  template <class Team, class Source>
  static KC_HD void adapt(const Team& team, const Settings& s, const Schedule& at, const Source& source, Adaptation& a,
                          Index n) {
    const std::int64_t count = static_cast<std::int64_t>(*a.count);
    if constexpr (Source::pooled)
      each_entry<Real>(team, a.L.shape, n, [&](Index i, Index j, std::size_t k) {
        a.between[k] += source(i, j, k) - source.vector(i) * source.vector(j);
      });
    const Row<Real> newest = a.history.row(static_cast<Index>(count % s.history), n);
    team.for_each(n, [&](Index i) { newest[i] = a.carried[i] += source.vector(i); });
    team.sync();
    team.single([&] { *a.count = static_cast<double>(count + 1); });
    if ((count + 1) % s.refresh == 0) refresh(team, s, at, a, count + 1, n);
  }

  /// cov of the rows in `work`, decomposed; L moves by the schedule's part of the way.
  template <class Team>
  static KC_HD void refresh(const Team& team, const Settings& s, const Schedule& at, Adaptation& a, std::int64_t count,
                            Index n) {
    const Index rows = static_cast<Index>(count < s.history ? count : s.history);
    team.for_each(n, [&](Index i) {
      Real sum = 0;
      for (Index h = 0; h < rows; ++h) sum += a.history.row(h, n)[i];
      a.own[i] = sum / static_cast<Real>(rows);
    });
    const double rate = rate_at(s, at), rho = rate < 1 ? rate : 1.0;
    const Real part = static_cast<Real>(rho), each = part / static_cast<Real>(rows > 1 ? rows - 1 : 1),
               passed = static_cast<Real>(s.refresh < count ? s.refresh : count);
    each_entry<Real>(team, a.L.shape, n, [&](Index i, Index j, std::size_t k) {
      Real old = 0;
      if (rho < 1) old = product_entry<Team::template panel<Real>>(a.L, i, j);
      Real sum = i == j ? part * static_cast<Real>(s.epsilon) : Real(0);
      if (s.scope == Scope::pooled) sum += part * a.between[k] / passed;
      a.work[k] = (Real(1) - part) * old + sum;
    });
    add_scatter(team, a, each, rows, n);
    if (math::finite(decompose(team, a.work, n)))
      each_entry<Real>(team, a.L.shape, n, [&](Index, Index, std::size_t k) { a.L[k] = a.work[k]; });
    if (s.scope == Scope::pooled)
      each_entry<Real>(team, a.L.shape, n, [&](Index, Index, std::size_t k) { a.between[k] = 0; });
    team.single([&] { *a.scale = s.scale > 0 ? s.scale : 2.4 / sqrt(static_cast<double>(n)); });
  }

  /// work += each sum_h (x_h - mean)(x_h - mean)^T, the mean in `own`; rows one after another, as they lie.
  template <class Team>
  static KC_HD void add_scatter(const Team& team, Adaptation& a, Real each, Index rows, Index n) {
    if constexpr (is_spread<Team>) {  // without a meeting for each row
      each_entry<Real>(team, a.L.shape, n, [&](Index i, Index j, std::size_t k) {
        Real sum = a.work[k];
        for (Index h = 0; h < rows; ++h) {
          const Row<Real> x = a.history.row(h, n);
          sum += each * (x[i] - a.own[i]) * (x[j] - a.own[j]);
        }
        a.work[k] = sum;
      });
    } else {
      for (Index h = 0; h < rows; ++h) {
        const Row<Real> x = a.history.row(h, n);
        team.for_each(n, [&](Index i) { a.below[i] = x[i] - a.own[i]; });
        team.sync();
        add_outer(team, a.work, each, a.below, n);
      }
    }
  }
};

}  // namespace kilochain
