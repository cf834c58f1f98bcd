// Random-walk Metropolis: y = x + sqrt(delta) eps, accept with min(1, exp(lp(y) - lp(x))).
// Warm-up: delta <- delta (1 + 0.01 (a - 0.25)/0.25), delta_0 = 0.5/n (Titsias & Dellaportas 2019, the authors' runs).
// State rows (n). Team-uniform; bitwise the same under any batch split. Cost: O(n) and one value of the target an iteration.
#pragma once
#include "kernels/adapt/acceptance_step.hpp"

namespace kilochain {

template <class Real>
struct Rwm {
  static constexpr const char* meaning = "random-walk Metropolis, one scale for all coordinates";
  static constexpr int num_stats = 1;
  static constexpr const char* stat_names[1] = {"step_size"};
  static constexpr bool adaptive = true, asks_once = true;
  static constexpr bool has_vector = false;

  struct Settings : AcceptanceStep {
    double initial_variance = 0;
    Settings() : AcceptanceStep{0.25} {}
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    acceptance_step_fields(visit, s);
    visit("initial_variance", s.initial_variance, at_least(0), "variance of the proposal at the start; 0 takes 0.5/n");
  }

  struct State {
    Real* x;
    double* lp;
  };
  template <int P, class V>
  static KC_HD void state(V&& visit, State& s, Index n, const Settings&) {
    visit("x", s.x, row_length(n), Keep::yes);
    visit("lp", s.lp, std::size_t(1), Keep::yes);
  }
  struct Adaptation {
    double* variance;
  };
  template <int P, class V>
  static KC_HD void adaptation(V&& visit, Adaptation& a, Index, const Settings&) {
    visit("variance", a.variance, std::size_t(1), Keep::yes);
  }
  template <class Team>
  static KC_HD void start_adaptation(const Team& team, const Settings& s, Adaptation& a, Index n) {
    team.single([&] { *a.variance = s.initial_variance > 0 ? s.initial_variance : 0.5 / n; });
    team.sync();
  }

  static KC_HD Needs start_needs(const Settings&) { return Needs::value; }
  template <class Team>
  static KC_HD void start(const Team& team, const Settings&, const Adaptation&, State& st, const Query<Real>& query,
                          const Reply<Real>& reply, Index n) {
    team.for_each(n, [&](Index i) { st.x[i] = query.point[i]; });
    team.single([&] { *st.lp = *reply.lp; });
    team.sync();
  }

  template <class Team>
  static KC_HD void propose(const Team& team, const Rng& rng, const Settings&, const Schedule&, const Adaptation& a,
                            State& st, const Query<Real>& query, Index n) {
    normals(team, rng, Purpose::proposal, query.point, n);
    const Real scale = static_cast<Real>(sqrt(*a.variance));
    team.for_each(n, [&](Index i) { query.point[i] = st.x[i] + scale * query.point[i]; });
    team.single([&] { *query.needs = Needs::value; });
    team.sync();
  }

  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings&, const Schedule&, const Adaptation& a,
                           State& st, const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    const Decision move = decide(rng, *reply.lp - *st.lp);
    info.stats[0] = sqrt(*a.variance);
    team.sync();
    if (move.accept) {
      team.for_each(n, [&](Index i) { st.x[i] = query.point[i]; });
      team.single([&] { *st.lp = *reply.lp; });
    }
    team.sync();
    info.lp = *st.lp;
    info.acceptance_rate = move.probability;
    info.accepted = move.accept;
    info.diverging = !move.finite;
    return Step::done;
  }

  static KC_HD Signal<Real> signal(const Settings&, const State&, double acceptance) {
    Signal<Real> out;
    out.acceptance = acceptance;
    return out;
  }
  template <class Team, class Source>
  static KC_HD void adapt(const Team& team, const Settings& s, const Schedule& at, const Source& source, Adaptation& a,
                          Index) {
    adapt_acceptance_step(team, s, at, source, a.variance);
  }
};

}  // namespace kilochain
