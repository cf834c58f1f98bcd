// Entropy-based adaptive HMC (Hirt, Titsias, Dellaportas 2021): L leapfrog steps through a factor C learnt by gradient.
//   v ~ N(0, I), w = v + C^T g(x)/2;  L times q += C w, w += C^T g(q) (half at the end);  H of -lp at q_[L/2]
//   F = E min(0, log r) + beta E log |det L C (I + D)|, D = -c C^T H C, c = (L^2 - 1)/6: dq/dv, nearly
//   log r = lp(q) - lp(x) - (|w|^2 - |v|^2)/2.  In C <- C (I + A), z = C^-1 (q - x), g along the way held constant:
//     dF/dA = C^T g(q) z^T + (z - L v) (C^T g(q))^T + (v - w) w^T where log r < 0
//             + beta (I + (D e) s^T + (D s) e^T),  e of signs,  s = sum_{k <= N} (-D)^k e / p^k,  P(N >= k) = p^k
//   and where |D| seems above norm_bound the series ends, and penalty (|D| - norm_bound)^2 is taken from F.
// D y is a difference of two gradients, c C^T (g(m + h C y) - g(m))/h at m = q_[L/2]: N + 1 points asked for after the
// trajectory, while adapting alone. L = 1 is gadMALAf. Kept draws: L steps through a fixed C. Team-uniform; bitwise the
// same under any batch split. Cost: L gradients and 2 L + 1 passes over C; while adapting N + 1 (2) more, n^3/6 beside.
#pragma once
#include "kernels/adapt/cholesky_gradient.hpp"

namespace kilochain {

template <class Real>
struct EntropyHmc : LearnsFactor<Real> {
  using Adaptation = FactorAdaptation<Real>;
  static constexpr About about = {
      .meaning =
          "HMC with few steps through a Cholesky factor learnt by gradient of acceptance and entropy (Hirt et al. "
          "2021)",
      .stats = {"energy_error", "n_steps"},
      .needs = always(Needs::gradient),
      .asks = Asks::often,
      .adaptive = true,
      .signals_vector = false,
  };
  static constexpr Moves moves = Moves::in_steps;
  static constexpr double most_terms = 20;
  static constexpr double nudge = sizeof(Real) == 4 ? 1e-2 : 1e-5;  ///< |h y|: rounding errors are 1e-4 of D y

  struct Settings : FactorSettings {
    std::int32_t num_steps = 5;
    double term_probability = 0.5, norm_bound = 0.75, penalty = 1000, max_energy_error = 1000;
    Settings() : FactorSettings{1, 0.7} {
      relative_rate = 0.02;  // where beta is large, RMSProp takes steps of this size whatever the noise
      beta_control = BetaControl::bounded;
    }
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("num_steps", s.num_steps, between(1, 1024), "leapfrog steps of a trajectory, L");
    visit("beta_target", s.target_accept, inside(0, 1),
          "acceptance above which beta grows, and below which it falls; the entropy's best step may have more");
    visit("relative_rate", s.relative_rate, between(1e-6, 0.2), "largest relative change of C in an iteration, nearly");
    visit("factor", s.factor, Names{"dense", "diagonal"},
          "shape of C: full lower triangle, or its diagonal, O(n) an iteration");
    visit("initial_scale", s.initial_scale, positive(), "C starts as initial_scale/sqrt(n) times the identity");
    visit("beta_init", s.beta_init, positive(), "first weight of the entropy term; it stays within [1e-2, 1e2]");
    visit("beta_rate", s.beta_rate, between(0, 1), "beta is multiplied by 1 + beta_rate (accepted - beta_target)");
    visit("rms_decay", s.rms_decay, between(1e-6, 1), "weight of the newest squared gradient in RMSProp");
    visit("term_probability", s.term_probability, between(1e-3, 0.95),
          "p, with which the entropy's series has another term, of one gradient each");
    visit("norm_bound", s.norm_bound, inside(0, 1), "norm of D above which it is penalised, and its series ends");
    visit("penalty", s.penalty, at_least(0), "weight of the penalty on a norm of D above norm_bound");
    visit("max_energy_error", s.max_energy_error, positive(), "a larger energy error counts as a divergence");
    schedule_fields(visit, s);
  }

  struct State : PositionAndGradient<Real> {
    Row<Real> ltg, v, w, z;              ///< C^T g(x); noise; momentum, and what the point moves by; C^-1 (q - x)
    Row<Real> work;                      ///< products
    Row<Real> mid, mid_ltg, end, end_g;  ///< m and C^T g(m); q and g(q)
    Row<Real> e, y, dy, s;               ///< e; D^k e, D^(k+1) e; the sum so far
    Row<Real> a1, a2, b2, b3, de, ds;    ///< of the signal, as are z, v (then v - w), s, e, dy, y
    Scalar<double> energy, left, log_r;  ///< left: steps; 0 while the series is asked for
    Scalar<double> end_lp, terms, weight, square;  ///< N - k; (-1)^k/p^k; |y|^2
    Scalar<double> probability;
  };
  template <class V>
  static KC_HD void state(V&& visit, State& st, const Settings& s) {
    position_fields(visit, st);
    visit("ltg", st.ltg, s.factor == FactorShape::dense ? Keep::yes : Keep::no);
    visit("noise", st.v, Keep::no);
    visit("momentum", st.w, Keep::no);
    visit("moved", st.z, Keep::no);
    visit("work", st.work, Keep::no);
    visit("middle", st.mid, Keep::no);
    visit("middle_ltg", st.mid_ltg, Keep::no);
    visit("end", st.end, Keep::no);
    visit("end_gradient", st.end_g, Keep::no);
    visit("signs", st.e, Keep::no);
    visit("term", st.y, Keep::no);
    visit("next_term", st.dy, Keep::no);
    visit("series", st.s, Keep::no);
    visit("signal_a1", st.a1, Keep::no);
    visit("signal_a2", st.a2, Keep::no);
    visit("signal_b2", st.b2, Keep::no);
    visit("signal_b3", st.b3, Keep::no);
    visit("d_signs", st.de, Keep::no);
    visit("d_series", st.ds, Keep::no);
    visit("energy", st.energy, Keep::no);
    visit("left", st.left, Keep::no);
    visit("log_r", st.log_r, Keep::no);
    visit("end_lp", st.end_lp, Keep::no);
    visit("terms", st.terms, Keep::no);
    visit("weight", st.weight, Keep::no);
    visit("square", st.square, Keep::no);
    visit("probability", st.probability, Keep::no);
  }

  template <class V>
  static KC_HD void products(V&& visit, const Settings&, bool adapting, const State& st, const Query<Real>&,
                             const Reply<Real>& reply) {
    visit(Before::update, Times::transposed, reply.gradient, st.work);
    if (adapting) visit(Before::draw, Times::transposed, st.g, st.ltg);
    visit(Before::place, Times::lower, st.w, st.work);
  }
  template <class Team>
  static KC_HD void draw(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                         State& st, const Query<Real>& query, Index n) {
    multiply_transposed(team, a.L, st.g, st.ltg, n);
    normals(team, rng, Purpose::momentum, st.v, n);
    const double energy = half_square(team, st.v, n) - *st.lp;
    team.single([&] {
      *st.energy = energy;
      *st.left = s.num_steps;
    });
    team.for_each(n, [&](Index i) {
      st.z[i] = st.w[i] = st.v[i] + Real(0.5) * st.ltg[i];
      query.point[i] = st.x[i];
    });
    ask(team, query, Needs::gradient);
    step(team, s, at, a, st, query, n);
  }
  template <class Team>
  static KC_HD void place(const Team& team, const Settings&, const Schedule&, const Adaptation&, State& st,
                          const Query<Real>& query, Index n) {
    team.for_each(n, [&](Index i) { query.point[i] += st.work[i]; });
  }
  /// The point moves by C w; where the product is made elsewhere, after this.
  template <class Team>
  static KC_INLINE void step(const Team& team, const Settings& s, const Schedule& at, const Adaptation& a, State& st,
                             const Query<Real>& query, Index n) {
    if constexpr (!products_made<Team>) {
      team.sync();
      multiply_lower(team, a.L, st.w, st.work, n);
      place(team, s, at, a, st, query, n);
    }
  }
  /// |v|^2/2, in double: an energy error is a small difference of large numbers.
  template <class Team>
  static KC_INLINE double half_square(const Team& team, Row<Real> v, Index n) {
    return 0.5 * team.template sum<double>(n, [&](Index i) { return double(v[i]) * double(v[i]); });
  }

  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                           State& st, const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    const bool finite = math::finite(*reply.lp) && all_finite(team, reply.gradient, n), beside = *st.left == 0;
    const double left = *st.left - 1;
    multiply_transposed(team, a.L, reply.gradient, st.work, n);
    if (beside) {
      if (take_term(team, s, a, st, finite, n)) return ask_beside(team, s, at, a, st, query, n);
      finish_signal(team, s, a, st, n);
      team.for_each(n, [&](Index i) { query.point[i] = st.end[i], reply.gradient[i] = st.end_g[i]; });
      team.single([&] { *reply.lp = *st.end_lp; });
      return finish(team, s, decide(rng, *st.log_r), *st.log_r, 0, st, query, reply, info, n);
    }
    team.single([&] { *st.left = left; });
    if (finite && left > 0) {
      const bool middle = at.adapting && s.num_steps - int(left) == s.num_steps / 2;
      team.for_each(n, [&](Index i) {
        st.w[i] += st.work[i];
        st.z[i] += st.w[i];
        if (middle) st.mid[i] = query.point[i], st.mid_ltg[i] = st.work[i];
      });
      step(team, s, at, a, st, query, n);
      return Step::ask;
    }
    double log_r = -std::numeric_limits<double>::infinity();
    if (finite) {
      team.for_each(n, [&](Index i) { st.w[i] += Real(0.5) * st.work[i]; });
      log_r = *st.energy - (half_square(team, st.w, n) - *reply.lp);
    }
    const Decision move = decide(rng, log_r);
    if (at.adapting) {
      if (write_signal(team, s, a, st, move.finite && -log_r <= s.max_energy_error, log_r, n)) {
        team.for_each(n, [&](Index i) { st.end[i] = query.point[i], st.end_g[i] = reply.gradient[i]; });
        begin_series(team, rng, s, st, reply, log_r, n);
        return ask_beside(team, s, at, a, st, query, n);
      }
      finish_signal(team, s, a, st, n);
    }
    return finish(team, s, move, log_r, left, st, query, reply, info, n);
  }
  template <class Team>
  static KC_INLINE Step finish(const Team& team, const Settings& s, const Decision& move, double log_r, double left,
                               State& st, const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    if constexpr (products_made<Team>)  // of what it learns from, there will be another
      if (move.accept) team.for_each(n, [&](Index i) { st.ltg[i] = st.work[i]; });
    settle(team, move, st, query, reply, info, n);
    team.single([&] { *st.probability = move.probability; });
    info.diverging = !move.finite || -log_r > s.max_energy_error;
    constexpr double largest = std::numeric_limits<float>::max();  // statistics are recorded in float, and are finite
    info.stats[0] = -log_r < largest ? -log_r : largest;
    info.stats[1] = s.num_steps - left;
    return Step::done;
  }

  static KC_HD Signal<Real> signal(const Settings&, const State& st, double) {
    Signal<Real> out = outer_signal(*st.probability, st.a1, st.z);
    out.rank = 6;
    out.a[1] = st.a2, out.b[1] = st.b2;
    out.a[2] = st.v, out.b[2] = st.b3;
    out.a[3] = st.de, out.b[3] = st.s;
    out.a[4] = st.ds, out.b[4] = st.e;
    out.a[5] = st.dy, out.b[5] = st.y;
    return out;
  }

 private:
  /// The part of log r, and zeros for the rest. Returns whether the series follows: not where there is nothing to learn
  /// but that C is too large, because there is no density, or the leapfrog steps are not stable.
  template <class Team>
  static KC_HD bool write_signal(const Team& team, const Settings& s, const Adaptation& a, State& st, bool converges,
                                 double log_r, Index n) {
    constexpr double largest = 1e12;  // of |C^T g|^2, |z|^2, |w|^2: their products outlast a sum over chains in float
    const bool learns = converges && team.template sum<double>(n, [&](Index i) {
      return double(st.z[i]) * double(st.z[i]) + double(st.w[i]) * double(st.w[i]) +
             double(st.work[i]) * double(st.work[i]);
    }) < largest;
    const bool sums = learns && s.num_steps > 1;
    const Real on = log_r < 0 ? Real(1) : Real(0), retreat = Real(-1 - *a.beta), L = Real(s.num_steps);
    team.for_each(n, [&](Index i) {
      const Real v = st.v[i];
      if (learns) {
        st.a1[i] = on * st.work[i];
        st.a2[i] = on * (st.z[i] - L * v), st.b2[i] = st.work[i];
        st.v[i] = on * (v - st.w[i]), st.b3[i] = st.w[i];
      } else {  // as in cholesky_gradient.hpp
        st.a1[i] = retreat * v, st.z[i] = v;
        st.a2[i] = st.b2[i] = st.v[i] = st.b3[i] = 0;
      }
      st.dy[i] = st.de[i] = st.ds[i] = 0;
      if (!sums) st.e[i] = st.y[i] = st.s[i] = 0;  // else other lanes write them
    });
    return sums;
  }

  /// s = y = e, and how many terms there will be.
  template <class Team>
  static KC_HD void begin_series(const Team& team, const Rng& rng, const Settings& s, State& st,
                                 const Reply<Real>& reply, double log_r, Index n) {
    normals(team, rng, Purpose::direction, st.e, n);
    team.for_each(n, [&](Index i) { st.s[i] = st.y[i] = st.e[i] = st.e[i] < Real(0) ? Real(-1) : Real(1); });
    const double more = math::log(uniform(rng, Purpose::trajectory)) / math::log(s.term_probability);
    team.single([&] {
      *st.log_r = log_r, *st.end_lp = *reply.lp;
      *st.terms = more < most_terms ? double(int(more)) : most_terms;
      *st.weight = 1, *st.square = n;
    });
  }
  /// Asks for the gradient at m + h C y.
  template <class Team>
  static KC_INLINE Step ask_beside(const Team& team, const Settings& s, const Schedule& at, const Adaptation& a,
                                   State& st, const Query<Real>& query, Index n) {
    team.sync();
    const Real h = Real(nudge / sqrt(*st.square));
    team.for_each(n, [&](Index i) { st.w[i] = h * st.y[i], query.point[i] = st.mid[i]; });
    step(team, s, at, a, st, query, n);
    return Step::ask;
  }
  /// D y from the gradient there, and what it adds. Returns whether another term follows, with y.
  template <class Team>
  static KC_HD bool take_term(const Team& team, const Settings& s, const Adaptation& a, State& st, bool finite,
                              Index n) {
    const double square = *st.square, weight = *st.weight, terms = *st.terms, beta = *a.beta,
                 c = (double(s.num_steps) * s.num_steps - 1) / 6;
    const Real slope = Real(c * sqrt(square) / nudge);
    team.for_each(n, [&](Index i) { st.dy[i] = finite ? slope * (st.work[i] - st.mid_ltg[i]) : Real(0); });
    double grown = 2 * half_square(team, st.dy, n);
    // Steps that are stable have |D| < 4 c; more is a kink, whose size says nothing.
    const double most = 16 * c * c * square, clip = grown <= most ? 1.0 : sqrt(most / grown);  // NaN, 0: none of it
    const double along =
        clip * team.template sum<double>(n, [&](Index i) { return double(st.dy[i]) * double(st.y[i]); });
    grown = grown <= most ? grown : most;
    const bool valid = grown < s.norm_bound * s.norm_bound * square, more = valid && terms > 0 && grown > 1e-20 * n;
    const double next = -weight / s.term_probability, norm = along / square,
                 excess = (norm < 0 ? -norm : norm) - s.norm_bound,
                 pull = excess > 0 ? 4 * s.penalty * excess / square * (norm < 0 ? 1 : -1) : 0.0;
    const bool first = weight == 1;
    team.for_each(n, [&](Index i) {
      const Real dy = clip > 0 ? Real(clip) * st.dy[i] : Real(0);
      if (first) st.de[i] = Real(beta) * dy;
      st.ds[i] += Real(beta * weight) * dy;
      if (more) {
        st.y[i] = dy;
        st.s[i] += Real(next) * dy;
        st.dy[i] = 0;
      } else {
        st.dy[i] = Real(pull) * dy;
      }
    });
    team.sync();  // all have read
    team.single([&] { *st.square = grown, *st.weight = next, *st.terms = terms - 1; });
    return more;
  }
  /// The rules of a diagonal factor take the gradient in C itself.
  template <class Team>
  static KC_INLINE void finish_signal(const Team& team, const Settings& s, const Adaptation& a, State& st, Index n) {
    if (wants_whitened(s)) return;
    team.for_each(n, [&](Index i) {
      const Real each = Real(1) / a.L[i];
      st.a1[i] *= each, st.a2[i] *= each, st.v[i] *= each, st.de[i] *= each, st.ds[i] *= each, st.dy[i] *= each;
    });
  }
};

}  // namespace kilochain
