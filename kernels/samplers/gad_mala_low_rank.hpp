// gadMALAf with a factor of low rank, for many coordinates: future work of Titsias & Dellaportas (2019, sec. 5).
//   L = D [I, U], D = diag(d), U of n x r;  h = L^T g(x)/2 + eps in n + r numbers, y = x + L h
//   log r = lp(y) - lp(x) - (eps + c/2)^T c, c = L^T (g(x) + g(y))/2: no inverse and no determinant
//   F = E min(0, log r) + beta (sum log d_i + log det(I + U^T U)/2); with a = -D (g(x) - g(y))/2, b = h - L^T g(y)/2:
//     dF/dlog d_i = a_i (b_i + sum_k u_ik b_(n+k)) + beta;  dF/dU = S + beta U (I + U^T U)^-1, S_ik = a_i b_(n+k)
// where log r < 0, the Hessian term dropped. d: RMSProp in log d. U: by the natural gradient (I + U U^T) dF/dU =
// S + U U^T S + beta U, so that a scale grows by the same factor however large it is; a column's step is normalised by
// RMSProp on the size of (I + U U^T)^1/2 S. U starts random, since 0 is a saddle of F. No matrix is ever factorised.
// Team-uniform; bitwise the same under any batch split. Memory: 2 r rows a chain, of which r for the signal.
// Cost: three passes over U; while adapting r^2 sums over n more (pooled on a device each is one of the whole grid).
#pragma once
#include "kernels/adapt/cholesky_gradient.hpp"

namespace kilochain {

template <class Real>
struct GadMalaLowRank : PlainStart<Real> {
  static constexpr About about = {
      .meaning =
          "MALA with a factor of low rank learnt by gradient, for many coordinates (after Titsias & Dellaportas "
          "2019)",
      .stats = {"step_size"},  // the mean of d
      .needs = always(Needs::gradient),
      .asks = Asks::once,
      .adaptive = true,
      .signals_vector = true,
  };
  static constexpr Moves moves = Moves::freely;
  static constexpr std::int32_t most_rank = 32;

  struct Settings : FactorSettings {
    std::int32_t rank = 16;
    Settings() : FactorSettings{1, 0.55} { relative_rate = 0.02; }
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("rank", s.rank, between(1, most_rank), "columns of U, n at most: directions along which scales are learnt");
    visit("target_accept", s.target_accept, inside(0, 1), "acceptance rate that beta steers to");
    visit("relative_rate", s.relative_rate, between(1e-6, 0.2), "largest relative change of L in an iteration, nearly");
    visit("initial_scale", s.initial_scale, positive(), "D starts as initial_scale/sqrt(n) times the identity");
    visit("beta_init", s.beta_init, positive(), "first weight of the entropy term");
    visit("beta_rate", s.beta_rate, between(0, 1), "beta is multiplied by 1 + beta_rate (accepted - target_accept)");
    visit("beta_floor", s.beta_floor, positive(), "least beta");
    visit("rms_decay", s.rms_decay, between(1e-6, 1), "weight of the newest squared gradient in RMSProp");
    schedule_fields(visit, s);
  }

  struct Adaptation {
    Row<Real> d, d_second, work;  ///< `second`: RMSProp's moments
    Rows<Real> u;
    Numbers<double> u_second;
    Scalar<double> beta;
  };
  template <class V>
  static KC_HD void adaptation(V&& visit, Adaptation& a, const Settings& s) {
    visit("scale", a.d, Keep::yes);
    visit("scale_second", a.d_second, Keep::yes);
    visit("directions", a.u, Index(s.rank), Keep::yes);
    visit("directions_second", a.u_second, Index(s.rank), Keep::yes);
    visit("work", a.work, Keep::no);
    visit("beta", a.beta, Keep::yes);
  }
  template <class Team>
  static KC_HD void start_adaptation(const Team& team, const Settings& s, Adaptation& a, Index n) {
    const Real scale = Real(s.initial_scale / sqrt(double(n))), size = Real(1 / sqrt(double(n)));
    team.for_each(n, [&](Index i) { a.d[i] = scale; });
    for (Index k = 0; k < columns(s, n); ++k) {
      const Row<Real> u = a.u.row(k, n);
      const Rng rng{0, std::uint32_t(k), 0};  // the same for every run: what is random is which way a saddle is left
      team.for_each(n,
                    [&](Index i) { u[i] = size * Real(2 * uniform(rng, Purpose::direction, std::uint32_t(i)) - 1); });
    }
    team.single([&] { *a.beta = s.beta_init; });
  }

  struct State : PositionAndGradient<Real> {
    Row<Real> eps, signal_a, signal_b;
    Rows<Real> signal_u;                      ///< S
    Numbers<Real> eps_u, ltg_u, ltgy_u, h_u;  ///< the last r of n + r numbers
  };
  template <class V>
  static KC_HD void state(V&& visit, State& st, const Settings& s) {
    position_fields(visit, st);
    visit("eps", st.eps, Keep::no);
    visit("signal_a", st.signal_a, Keep::no);
    visit("signal_b", st.signal_b, Keep::no);
    visit("signal_u", st.signal_u, Index(s.rank), Keep::no);
    visit("eps_u", st.eps_u, Index(s.rank), Keep::no);
    visit("ltg_u", st.ltg_u, Index(s.rank), Keep::no);
    visit("ltgy_u", st.ltgy_u, Index(s.rank), Keep::no);
    visit("h_u", st.h_u, Index(s.rank), Keep::no);
  }

  template <class Team>
  static KC_HD void propose(const Team& team, const Rng& rng, const Settings& s, const Schedule&, const Adaptation& a,
                            State& st, const Query<Real>& query, Index n) {
    normals(team, rng, Purpose::proposal, st.eps, n);
    times_u(team, s, a, st.g, st.ltg_u, n);
    team.for_each(columns(s, n), [&](Index k) {
      double z[2];
      normal_block(rng.words(Purpose::direction, std::uint32_t(k)), z);
      st.eps_u[k] = Real(z[0]);
      st.h_u[k] = Real(0.5) * st.ltg_u[k] + st.eps_u[k];
    });
    team.sync();
    team.for_each(n, [&](Index i) { query.point[i] = Real(0.5) * a.d[i] * st.g[i] + st.eps[i]; });
    for (Index k = 0; k < columns(s, n); ++k) {
      const Row<Real> u = a.u.row(k, n);
      const Real h = st.h_u[k];
      team.for_each(n, [&](Index i) { query.point[i] += h * u[i]; });
    }
    team.for_each(n, [&](Index i) { query.point[i] = st.x[i] + a.d[i] * query.point[i]; });
    ask(team, query, Needs::gradient);
  }

  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                           State& st, const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    times_u(team, s, a, reply.gradient, st.ltgy_u, n);
    const auto noise = [](Real eps, Real c) { return -(eps + Real(0.5) * c) * c; };
    const double coordinates = team.template sum<Real>(
        n, [&](Index i) { return noise(st.eps[i], Real(0.5) * a.d[i] * (st.g[i] + reply.gradient[i])); });
    const double directions = team.template sum<Real>(
        columns(s, n), [&](Index k) { return noise(st.eps_u[k], Real(0.5) * (st.ltg_u[k] + st.ltgy_u[k])); });
    const double log_r = *reply.lp - *st.lp + coordinates + directions;
    const Decision move = decide(rng, log_r);
    if (at.adapting) write_signal(team, s, a, st, reply, move, log_r, n);
    info.stats[0] = team.template sum<Real>(n, [&](Index i) { return a.d[i]; }) / n;
    settle(team, move, st, query, reply, info, n);
    return Step::done;
  }

  static KC_HD FactorShape signal_shape(const Settings&) { return FactorShape::diagonal; }
  static KC_HD Signal<Real> signal(const Settings&, const State& st, double accepted) {
    Signal<Real> out = outer_signal(accepted, st.signal_a, st.signal_b);
    out.vector = st.signal_u.all();
    return out;
  }
  static KC_HD Index vector_length(const Settings& s, Index n) { return columns(s, n) * Index(padded(std::size_t(n))); }
  /// More than n say nothing new.
  static KC_HD Index columns(const Settings& s, Index n) { return s.rank < n ? s.rank : n; }
  template <class Team, class Source>
  static KC_HD void adapt(const Team& team, const Settings& s, const Schedule& at, const Source& source, Adaptation& a,
                          Index n) {
    const Real beta = Real(*a.beta), rate = Real(rate_at(s, at) * s.relative_rate);
    const Real decay = Real(at.t == 0 ? 1.0 : s.rms_decay);  // the first signal is all that is known of its size
    team.for_each(n, [&](Index i) {
      a.d[i] *= Real(1) + step_of(rate, decay, source(i, i, std::size_t(i)) + beta, a.d_second[i]);
    });
    const Index stride = Index(padded(std::size_t(n)));
    for (Index k = 0; k < columns(s, n); ++k) {
      const Row<Real> u = a.u.row(k, n);
      const auto S = [&](Index i) { return source.vector(k * stride + i); };
      const double second = a.u_second[k];
      double square = team.template sum<double>(n, [&](Index i) { return double(S(i)) * double(S(i)); });
      team.for_each(n, [&](Index i) { a.work[i] = S(i) + beta * u[i]; });
      for (Index j = 0; j < columns(s, n); ++j) {
        const Row<Real> other = a.u.row(j, n);
        const Real along = team.template sum<Real>(n, [&](Index i) { return S(i) * other[i]; });
        square += double(along) * double(along);
        team.for_each(n, [&](Index i) { a.work[i] += along * other[i]; });
      }
      const double moment = decay * square / n + (1 - double(decay)) * second;
      // A column moves by no more than `most` of the scale that L has along it.
      const double wanted = rate / (1 + sqrt(moment)), bearable = most / sqrt(square + 1e-300);
      const Real step = Real(wanted < bearable ? wanted : bearable);
      team.for_each(n, [&](Index i) { u[i] += step * a.work[i]; });
      team.sync();
      team.single([&] { a.u_second[k] = moment; });
    }
    team.single([&] { *a.beta = next_beta(s, at, source.acceptance(), *a.beta); });
  }

 private:
  static constexpr double most = 0.3;

  /// RMSProp: a step of at most rate/sqrt(decay), along `gradient`.
  static KC_INLINE Real step_of(Real rate, Real decay, Real gradient, Real& second) {
    second = decay * gradient * gradient + (Real(1) - decay) * second;
    return rate * gradient / (Real(1) + sqrt(second));
  }

  /// The last r numbers of L^T v.
  template <class Team>
  static KC_HD void times_u(const Team& team, const Settings& s, const Adaptation& a, Row<Real> v, Numbers<Real> out,
                            Index n) {
    for (Index k = 0; k < columns(s, n); ++k) {
      const Row<Real> u = a.u.row(k, n);
      const Real sum = team.template sum<Real>(n, [&](Index i) { return u[i] * (a.d[i] * v[i]); });
      team.single([&] { out[k] = sum; });
    }
    team.sync();
  }

  template <class Team>
  static KC_HD void write_signal(const Team& team, const Settings& s, const Adaptation& a, State& st,
                                 const Reply<Real>& reply, const Decision& move, double log_r, Index n) {
    const bool learn = move.finite && log_r < 0;
    const auto b_u = [&](Index j) { return st.eps_u[j] + Real(0.5) * (st.ltg_u[j] - st.ltgy_u[j]); };
    // Where there is no density the proposal was too long: D shrinks, whatever beta is (cholesky_gradient.hpp).
    const Real retreat = move.finite ? Real(0) : Real(-1 - *a.beta);
    team.for_each(n, [&](Index i) {
      const Real towards = learn ? Real(-0.5) * a.d[i] * (st.g[i] - reply.gradient[i]) : Real(0);
      st.signal_a[i] = learn ? towards : retreat * st.eps[i];
      st.signal_b[i] = st.eps[i] - towards;
    });
    for (Index k = 0; k < columns(s, n); ++k) {
      const Row<Real> u = a.u.row(k, n), S = st.signal_u.row(k, n);
      const Real b = learn ? b_u(k) : Real(0);
      team.for_each(n, [&](Index i) {
        S[i] = learn ? st.signal_a[i] * b : Real(0);
        st.signal_b[i] += b * u[i];
      });
    }
  }
};

}  // namespace kilochain
