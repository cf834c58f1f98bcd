// Metropolis-adjusted microcanonical sampler (Robnik, Cohn-Gordon, Seljak 2025): trajectories of speed 1 along u:
//   K leapfrog steps of size e: u turned by e/2, x += e F u, u turned by e/2;  f = F^T g, F F^T = inv_mass_matrix
//   u turned by e: d = e |f|/(n - 1), c = u^T f/|f|, z = exp(-d), D = 1 + c + (1 - c) z^2
//     u <- (2 z u + (1 - z)(1 + z + c (1 - z)) f/|f|)/D, and the kinetic energy grows by (n - 1)(d + log(D/2))
//   a fresh u each iteration; accept with min(1, exp(growth of lp - growth of the kinetic energy))
// Step: dual averaging to 0.9. K: on average sqrt(n)/e, jittered as in ensemble_hmc.hpp; 5 until a mass is learnt.
// One coordinate has no sphere to turn on: it gets a second one, N(0, 1), drawn afresh. Asks for K points an iteration.
// Team-uniform; bitwise the same under any batch split. Cost: K gradients and O(K n); dense mass 2 K passes over F.
#pragma once
#include "kernels/adapt/mass_and_step.hpp"
#include "kernels/samplers/learnt_length.hpp"

namespace kilochain {

template <class Real>
struct Mams : LearnsMassAndStep<Real> {
  using Base = LearnsMassAndStep<Real>;
  static constexpr About about = {
      .meaning = "Metropolis-adjusted microcanonical sampler: trajectories of constant speed (Robnik et al. 2025)",
      .stats = {"energy_error", "n_steps", "step_size"},
      .needs = always(Needs::gradient),
      .asks = Asks::often,
      .adaptive = true,
      .signals_vector = true,
  };
  static constexpr double first_number = 5, most_number = 1024;

  struct Settings : TrajectorySettings {
    double target_accept = 0.9, length = 1.3, step_size = 0;
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("target_accept", s.target_accept, inside(0, 1), "acceptance that dual averaging steers the step to");
    visit("length", s.length, positive(), "mean length of a trajectory over sqrt(n), in units of the learnt mass");
    visit("step_size", s.step_size, at_least(0), "leapfrog step at the start; 0 takes a fifth of length sqrt(n)");
    mass_field(visit, s);
    visit("max_energy_error", s.max_energy_error, positive(), "a larger energy error counts as a divergence");
  }

  struct State : TrajectoryState<Real> {
    Scalar<double> start, kinetic, steps, left;  ///< potential energy at the start, growth of the kinetic since
    Scalar<double> z, w;                         ///< place and velocity of the second coordinate; else 0
  };
  template <class V>
  static KC_HD void state(V&& visit, State& st, const Settings& s) {
    Base::trajectory_fields(visit, st, s);
    visit("start_energy", st.start, Keep::no);
    visit("kinetic", st.kinetic, Keep::no);
    visit("steps", st.steps, Keep::no);
    visit("left", st.left, Keep::no);
    visit("second", st.z, Keep::no);
    visit("second_velocity", st.w, Keep::no);
  }
  struct Adaptation : Base::Adaptation {
    Scalar<double> scaled;  ///< 1: F holds the target's scales
  };
  template <class V>
  static KC_HD void adaptation(V&& visit, Adaptation& a, const Settings& s) {
    Base::adaptation(visit, a, s);
    visit("scaled", a.scaled, Keep::yes);
  }
  template <class Team>
  static KC_HD void start_adaptation(const Team& team, const Settings& s, Adaptation& a, Index n) {
    const double step = s.step_size > 0 ? s.step_size : whole(s, n) / first_number;
    Base::start_mass_and_step(team, s.mass, step, a, n);
    team.single([&] {
      *a.scaled = s.mass == Mass::unit;
      *a.num_steps = first_number;
    });
  }
  /// Mean length of a trajectory.
  static KC_HD double whole(const Settings& s, Index n) { return s.length * sqrt(n > 1 ? double(n) : 2.0); }

  template <class Team>
  static KC_HD void draw(const Team& team, const Rng& rng, const Settings& s, const Schedule&, const Adaptation& a,
                         State& st, const Query<Real>& query, Index n) {
    normals(team, rng, Purpose::momentum, st.r, n);
    double second[2] = {0, 0};
    if (n == 1) normal_block(rng.words(Purpose::direction, 0), second);
    const double square = team.template sum<double>(n, [&](Index i) { return double(st.r[i]) * double(st.r[i]); });
    const double each = 1 / sqrt(square + second[1] * second[1]);
    const double number = LearntLength::number(*a.num_steps, rng.iteration);
    team.for_each(n, [&](Index i) { st.r[i] *= Real(each); });
    team.single([&] {
      *st.z = second[0], *st.w = second[1] * each;
      *st.start = 0.5 * second[0] * second[0] - *st.lp, *st.kinetic = 0;
      *st.steps = *st.left = number;
    });
    team.sync();
    ask(team, query, Needs::gradient);
    const double e = *a.step;
    turn(team, s, a, 0.5 * e, e, st.g, s.mass == Mass::dense ? st.ftg : st.work, st, n);
    drift(team, s.mass, a, Real(e), st.x, st.r, query.point, st.work, n);
  }
  template <class Team>
  static KC_HD void place(const Team& team, const Settings&, const Schedule&, const Adaptation& a, State& st,
                          const Query<Real>& query, Index n) {
    finish_drift(team, Real(*a.step), st.work, query.point, n);
  }

  /// Turns u by a time e towards f = F^T g, which it leaves in `f`; then the second coordinate drifts by `moves`.
  template <class Team>
  static KC_INLINE void turn(const Team& team, const Settings& s, const Adaptation& a, double e, double moves,
                             Row<Real> g, Row<Real> f, State& st, Index n) {
    if (s.mass == Mass::dense)
      multiply_transposed(team, a.F, g, f, n);
    else
      team.for_each(n, [&](Index i) { f[i] = s.mass == Mass::diagonal ? a.F[i] * g[i] : g[i]; });
    const double z = *st.z, w = *st.w, before = *st.kinetic, others = n > 1 ? n - 1.0 : 1.0;
    const double square = z * z + team.template sum<double>(n, [&](Index i) { return double(f[i]) * double(f[i]); });
    // 1 + c as half the square of u + f/|f|: where u points away from f, the sum of products would cancel.
    const double size = sqrt(square), each = size > 0 ? 1 / size : 0.0, second = w - z * each;
    const double more = 0.5 * (second * second + team.template sum<double>(n, [&](Index i) {
                          const double both = double(st.r[i]) + each * double(f[i]);
                          return both * both;
                        }));
    const double less = size > 0 ? 2 - more : 1.0, delta = e * size / others, fall = math::exp(-delta);
    const double grown = (size > 0 ? more : 1.0) + less * fall * fall;
    const double towards = (1 - fall) * (more + fall * less) * each / grown, keeps = 2 * fall / grown,
                 turned = keeps * w - towards * z;
    team.sync();  // all have read
    team.for_each(n, [&](Index i) { st.r[i] = Real(towards * double(f[i]) + keeps * double(st.r[i])); });
    team.single([&] {
      *st.kinetic = before + (grown > 1e-300 ? others * (delta + math::log(0.5 * grown))
                                             : std::numeric_limits<double>::infinity());
      *st.w = turned, *st.z = z + moves * turned;
    });
    team.sync();
  }

  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                           State& st, const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    const double e = *a.step, left = *st.left - 1;
    const bool finite = math::finite(*reply.lp) && all_finite(team, reply.gradient, n);
    team.sync();
    team.single([&] { *st.left = left; });
    if (finite && left > 0) {
      turn(team, s, a, e, e, reply.gradient, st.work, st, n);
      drift(team, s.mass, a, Real(e), query.point, st.r, query.point, st.work, n);
      return Step::ask;
    }
    double log_r = -std::numeric_limits<double>::infinity();
    if (finite) {
      turn(team, s, a, 0.5 * e, 0, reply.gradient, st.work, st, n);
      log_r = *st.start - (0.5 * *st.z * *st.z - *reply.lp) - *st.kinetic;
    }
    const Decision move = decide(rng, log_r);
    if constexpr (products_made<Team>)
      if (move.accept) team.for_each(n, [&](Index i) { st.ftg[i] = st.work[i]; });
    settle(team, move, st, query, reply, info, n);
    info.diverging = !move.finite || -log_r > s.max_energy_error;
    Base::write_signal(team, s, at, a, st, move.probability, n);
    constexpr double largest = std::numeric_limits<float>::max();  // statistics are recorded in float, and are finite
    info.stats[0] = -log_r < largest ? -log_r : largest;
    info.stats[1] = *st.steps - left;
    info.stats[2] = e;
    return Step::done;
  }

  template <class Team, class Source>
  static KC_HD void adapt(const Team& team, const Settings& s, const Schedule& at, const Source& source, Adaptation& a,
                          Index n) {
    const bool scaled = *a.scaled != 0 || WarmupWindows(at.num_warmup).ends(at.t);
    Base::adapt(team, s, at, source, a, n);
    const double number = whole(s, n) / *a.step;
    team.single([&] {
      *a.scaled = scaled;
      if (scaled) *a.num_steps = number < 1 ? 1.0 : number < most_number ? number : most_number;
    });
  }
};

}  // namespace kilochain
