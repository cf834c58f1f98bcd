// A sampler of one's own: random-walk Metropolis whose steps are, as often as not, a tenth as long.
//   y = x + s z, z ~ N(0, step^2 I), s = 1 or 1/10, each with probability 1/2; accept with min(1, exp(lp(y) - lp(x)))
#pragma once
#include <kilochain/sampler.hpp>

template <class Real>
struct TwoScales : kilochain::LearnsStep<Real> {
  using Adaptation = typename kilochain::LearnsStep<Real>::Adaptation;
  static constexpr kilochain::About about = {
      .meaning = "random-walk Metropolis with steps of two lengths",
      .stats = {"step_size"},
      .needs = always(kilochain::Needs::value),
      .asks = kilochain::Asks::once,
      .adaptive = true,
      .signals_vector = false,
  };
  static constexpr kilochain::Moves moves = kilochain::Moves::freely;

  struct Settings : kilochain::AcceptanceStep {
    static KC_INLINE const char* learnt() { return "step"; }
    double step_size = 2.4;
    Settings() : AcceptanceStep{0.3} {}
    KC_INLINE double first_step(kilochain::Index n) const { return step_size / sqrt(double(n)); }
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("step_size", s.step_size, kilochain::positive(), "first length of the longer steps, in units of n^(-1/2)");
    acceptance_step_fields(visit, s);
  }

  using State = kilochain::Position<Real>;
  template <class V>
  static KC_HD void state(V&& visit, State& st, const Settings&) {
    position_fields(visit, st);
  }

  template <class Team>
  static KC_HD void propose(const Team& team, const kilochain::Rng& rng, const Settings&, const kilochain::Schedule&,
                            const Adaptation& a, State& st, const kilochain::Query<Real>& query, kilochain::Index n) {
    normals(team, rng, kilochain::Purpose::proposal, query.point, n);
    const bool longer = uniform(rng, kilochain::Purpose::direction, 0) < 0.5;
    const Real step = Real(*a.step * (longer ? 1 : 0.1));
    team.for_each(n, [&](kilochain::Index i) { query.point[i] = st.x[i] + step * query.point[i]; });
    ask(team, query, kilochain::Needs::value);
  }

  template <class Team>
  static KC_HD kilochain::Step update(const Team& team, const kilochain::Rng& rng, const Settings&,
                                      const kilochain::Schedule&, const Adaptation& a, State& st,
                                      const kilochain::Query<Real>& query, const kilochain::Reply<Real>& reply,
                                      kilochain::Info& info, kilochain::Index n) {
    const auto move = decide(rng, *reply.lp - *st.lp);
    info.stats[0] = *a.step;
    settle(team, move, st, query, reply, info, n);
    return kilochain::Step::done;
  }
};
