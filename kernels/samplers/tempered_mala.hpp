// Tempered transitions (Neal 1996) with Langevin moves: for targets with several modes, whose weights come out right.
//   an iteration: a move at beta_0 = 1; then a walker leaves x, moves once at each beta_1 > ... > beta_K and once at
//   each on the way back, and x goes where it ends with probability min(1, r),
//     log r = sum over the way out of (beta_k - beta_k-1) lp before the move at k
//           + sum over the way back of (beta_k-1 - beta_k) lp after the move at k
//   beta_k = least_beta^(k/K); a move at beta, accepted for pi^beta: y = w + beta s^2/2 F^2 g(w) + s F eps,
//     s = step/sqrt(beta)
// F^2: variances of the draws in windows of warm-up, or unit; the step by dual averaging over all moves. K = 5 n: the
// acceptance of the whole falls with n/K. Team-uniform; bitwise the same under any batch split.
// Cost: 2 K + 1 gradients an iteration: for few dimensions.
#pragma once
#include "kernels/adapt/mass_and_step.hpp"

namespace kilochain {

template <class Real>
struct TemperedMala : LearnsMassAndStep<Real> {
  using Base = LearnsMassAndStep<Real>;
  using Adaptation = typename Base::Adaptation;
  static constexpr About about = {
      .meaning =
          "tempered transitions: Langevin moves up and down a ladder of temperatures, for several modes (Neal 1996)",
      .stats = {"step_size", "tempered_acceptance"},
      .needs = always(Needs::gradient),
      .asks = Asks::often,
      .adaptive = true,
      .signals_vector = true,
  };
  static constexpr Moves moves = Moves::freely;
  static constexpr std::int64_t most_moves = 4096;  ///< of an iteration

  struct Settings : TrajectorySettings {
    double target_accept = 0.574, least_beta = 0.02, step_size = 0;
    std::int32_t num_levels = 0;
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("num_levels", s.num_levels, between(0, 2000), "temperatures above 1, K; 0 takes 5 n, from 10 to 500");
    visit("least_beta", s.least_beta, inside(0, 1), "the highest temperature's power of the density");
    visit("target_accept", s.target_accept, inside(0, 1), "acceptance of single moves that the step is steered to");
    visit("step_size", s.step_size, at_least(0), "first step; 0 takes n^(-1/6)");
    visit("mass", s.mass, Names{"unit", "diagonal"}, "scales of the moves: all one, or those of the draws in warm-up");
  }

  struct State : TrajectoryState<Real> {
    Row<Real> w, wg;  ///< the walker, and the gradient there; r: its noise
    Scalar<double> wlp, log_r, move, sum, moved;
  };
  template <class V>
  static KC_HD void state(V&& visit, State& st, const Settings& s) {
    Base::trajectory_fields(visit, st, s);
    visit("walker", st.w, Keep::no);
    visit("walker_gradient", st.wg, Keep::no);
    visit("walker_lp", st.wlp, Keep::no);
    visit("log_r", st.log_r, Keep::no);
    visit("move", st.move, Keep::no);
    visit("acceptances", st.sum, Keep::no);
    visit("moved", st.moved, Keep::no);
  }
  template <class Team>
  static KC_HD void start_adaptation(const Team& team, const Settings& s, Adaptation& a, Index n) {
    Base::start_mass_and_step(team, s.mass, s.step_size > 0 ? s.step_size : pow(double(n), -1.0 / 6), a, n);
  }

  static KC_HD int levels(const Settings& s, Index n) {
    return s.num_levels > 0 ? s.num_levels : n < 2 ? 10 : n < 100 ? 5 * n : 500;
  }
  /// Of move k: 0 at beta 1, then 1 .. K and K .. 1.
  static KC_HD int level(const Settings& s, int k, Index n) { return k <= levels(s, n) ? k : 2 * levels(s, n) + 1 - k; }
  static KC_HD double beta(const Settings& s, int level, Index n) {
    return math::exp(math::log(s.least_beta) * level / levels(s, n));
  }
  static KC_HD Rng numbers(const Rng& rng, int k) { return {rng.seed, rng.chain, rng.iteration * most_moves + k}; }

  template <class Team>
  static KC_HD void propose(const Team& team, const Rng& rng, const Settings& s, const Schedule&, const Adaptation& a,
                            State& st, const Query<Real>& query, Index n) {
    team.for_each(n, [&](Index i) { st.w[i] = st.x[i], st.wg[i] = st.g[i]; });
    const double lp = *st.lp;
    team.single([&] { *st.wlp = lp, *st.log_r = *st.move = *st.sum = *st.moved = 0; });
    ask(team, query, Needs::gradient);
    step_out(team, rng, s, a, 0, st, query, n);
  }
  /// Where the walker would go with move k.
  template <class Team>
  static KC_INLINE void step_out(const Team& team, const Rng& rng, const Settings& s, const Adaptation& a, int k,
                                 State& st, const Query<Real>& query, Index n) {
    normals(team, numbers(rng, k), Purpose::proposal, st.r, n);
    const double b = beta(s, level(s, k, n), n), size = *a.step / sqrt(b);
    team.for_each(n, [&](Index i) {
      const Real scale = Real(size) * (s.mass == Mass::diagonal ? a.F[i] : Real(1));
      query.point[i] = st.w[i] + scale * (Real(0.5 * b) * scale * st.wg[i] + st.r[i]);
    });
  }

  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                           State& st, const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    const int k = int(*st.move), here = level(s, k, n), top = levels(s, n);
    const double b = beta(s, here, n), size = *a.step / sqrt(b);
    const double noise = team.template sum<Real>(n, [&](Index i) {
      const Real scale = Real(size) * (s.mass == Mass::diagonal ? a.F[i] : Real(1));
      const Real d = Real(0.5 * b) * scale * (st.wg[i] + reply.gradient[i]);
      return -(st.r[i] + Real(0.5) * d) * d;
    });
    const Decision move = decide(numbers(rng, k), b * (*reply.lp - *st.wlp) + noise);
    const double lp = move.accept ? *reply.lp : *st.wlp, sum = *st.sum + move.probability;
    const double out = k < top ? beta(s, k + 1, n) - b : 0.0, back = k > top ? beta(s, here - 1, n) - b : 0.0;
    const double log_r = *st.log_r + (out + back) * lp, moved = *st.moved;
    team.sync();  // all have read
    if (move.accept) team.for_each(n, [&](Index i) { st.w[i] = query.point[i], st.wg[i] = reply.gradient[i]; });
    if (move.accept && k == 0) team.for_each(n, [&](Index i) { st.x[i] = st.w[i], st.g[i] = st.wg[i]; });
    team.single([&] {
      *st.wlp = lp, *st.log_r = log_r, *st.sum = sum, *st.move = k + 1;
      if (k == 0) *st.lp = lp, *st.moved = move.accept;
    });
    if (k < 2 * top) {
      step_out(team, rng, s, a, k + 1, st, query, n);
      return Step::ask;
    }
    const Decision whole = decide(numbers(rng, k + 1), log_r);
    if (whole.accept) {
      team.for_each(n, [&](Index i) { st.x[i] = st.w[i], st.g[i] = st.wg[i]; });
      team.single([&] { *st.lp = lp; });
      team.sync();
    }
    info.lp = *st.lp;
    info.acceptance_rate = sum / (2 * top + 1);
    info.accepted = whole.accept || moved != 0;
    info.diverging = false;
    info.stats[0] = *a.step;
    info.stats[1] = whole.probability;
    Base::write_signal(team, s, at, a, st, info.acceptance_rate, n);
    return Step::done;
  }
};

}  // namespace kilochain
