// Adaptive Metropolis in Cholesky form: y = x + sqrt(delta) L eps (Haario et al. 2001, Andrieu & Thoms 2008).
//   after the decision, x' the new state: mu <- mu + rho_mu (x' - mu), v = L^-1 (x' - mu),
//   L <- L + rho [L (v v^T - I)]_low
//   variant authors: rho = 0.0005/(1 + t/(W/4)), rho_mu = 0.01, L_0 = I, delta_0 = 0.1/sqrt(n), delta steered to 0.25
//   variant paper: L <- L + rho L [v v^T - I]_low with the mu before its update, rho = rho_mu = 0.001/(1 + t/4000),
//   L_0 = 0.1/sqrt(n) I, no delta. mu starts at x_0. Team-uniform; bitwise the same under any batch split.
// Cost: one pass over L; while adapting a triangular solve and an update more (paper: n^3/6).
#pragma once
#include "kernels/adapt/acceptance_step.hpp"
#include "kernels/adapt/cholesky_covariance.hpp"
#include "kernels/iteration.hpp"

namespace kilochain {

enum class AmVariant : std::int32_t { authors, paper };

template <class Real>
struct AdaptiveMetropolis : PlainStart<Real> {
  static constexpr About about = {
      .meaning = "Adaptive Metropolis, Cholesky form: proposal shaped by the chain's covariance",
      .stats = {"step_size"},
      .needs = always(Needs::value),
      .asks = Asks::once,
      .adaptive = true,
      .signals_vector = true,
  };
  static constexpr Moves moves = Moves::by_factor;

  struct Settings : AcceptanceStep {
    AmVariant variant = AmVariant::authors;
    FactorShape factor = FactorShape::dense;
    double factor_rate = 0, mean_rate = 0, initial_scale = 0, initial_variance = 0, diagonal_floor = 1e-3,
           pooled_speedup = 10;
    Settings() : AcceptanceStep{0.25} {}
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    acceptance_step_fields(visit, s);
    visit("variant", s.variant, Names{"authors", "paper"},
          "update rule and constants: what the 2019 paper's authors ran, or what it prints (no scale delta)");
    visit("factor", s.factor, Names{"dense", "diagonal"},
          "shape of L: full lower triangle, or its diagonal, O(n) an iteration");
    visit("factor_rate", s.factor_rate, between(0, 0.5), "first rate of L; 0 takes 0.0005 (authors) or 0.001 (paper)");
    visit("mean_rate", s.mean_rate, between(0, 0.5),
          "rate of the mean; 0 takes 0.01 (authors) or the rate of L (paper)");
    visit("initial_scale", s.initial_scale, at_least(0),
          "L starts as this times the identity; 0 takes 1 (authors) or 0.1/sqrt(n) (paper)");
    visit("initial_variance", s.initial_variance, at_least(0),
          "delta at the start; 0 takes 0.1/sqrt(n) (authors) or 1 (paper)");
    visit("diagonal_floor", s.diagonal_floor, positive(), "least diagonal entry of L");
    visit("pooled_speedup", s.pooled_speedup, positive(),
          "factor on factor_rate when chains are pooled: their average bears larger steps");
  }

  struct State : Position<Real> {
    Row<Real> eps, a, b, mean;  ///< a, b: the outer product of the signal; mean: mu after this iteration
  };
  template <class V>
  static KC_HD void state(V&& visit, State& st, const Settings&) {
    position_fields(visit, st);
    visit("eps", st.eps, Keep::no);
    visit("signal_a", st.a, Keep::no);
    visit("signal_b", st.b, Keep::no);
    visit("signal_mean", st.mean, Keep::no);
  }
  struct Adaptation {
    Factor<Real> L;
    Row<Real> mean;
    Scalar<double> variance;
  };
  template <class V>
  static KC_HD void adaptation(V&& visit, Adaptation& a, const Settings& s) {
    visit("L", a.L, s.factor, Keep::yes);
    visit("mean", a.mean, Keep::yes);
    visit("variance", a.variance, Keep::yes);
  }
  template <class Team>
  static KC_HD void start_adaptation(const Team& team, const Settings& s, Adaptation& a, Index n) {
    constexpr int P = Team::template panel<Real>;
    const bool paper = s.variant == AmVariant::paper;
    const double thin = 0.1 / sqrt(double(n));
    const Real scale = Real(s.initial_scale > 0 ? s.initial_scale : paper ? thin : 1.0);
    team.for_each(n, [&](Index i) { a.L[diagonal_index<P>(s.factor, i)] = scale; });
    team.single([&] { *a.variance = s.initial_variance > 0 ? s.initial_variance : paper ? 1.0 : thin; });
  }

  static KC_HD double factor_rate(const Settings& s, const Schedule& at) {
    const bool paper = s.variant == AmVariant::paper;
    const double first = s.factor_rate > 0 ? s.factor_rate : paper ? 0.001 : 0.0005;
    const double period = paper ? 4000 : double(at.num_warmup) / 4 + 1e-300;
    const double rate = rate_at(s, at) * first / (1 + double(at.t) / period);
    return rate < 0.5 ? rate : 0.5;
  }
  static KC_HD double mean_rate(const Settings& s, const Schedule& at) {
    if (s.mean_rate == 0 && s.variant == AmVariant::paper) return factor_rate(s, at);
    const double rate = rate_at(s, at) * (s.mean_rate > 0 ? s.mean_rate : 0.01);
    return rate < 0.5 ? rate : 0.5;
  }

  template <class V>
  static KC_HD void products(V&& visit, const Settings&, bool, const State& st, const Query<Real>& query,
                             const Reply<Real>&) {
    visit(Before::place, Times::lower, st.eps, query.direction);
  }
  template <class Team>
  static KC_HD void draw(const Team& team, const Rng& rng, const Settings&, const Schedule&, const Adaptation&,
                         State& st, const Query<Real>&, Index n) {
    normals(team, rng, Purpose::proposal, st.eps, n);
  }
  template <class Team>
  static KC_HD void place(const Team& team, const Settings&, const Schedule&, const Adaptation& a, State& st,
                          const Query<Real>& query, Index n) {
    const Real scale = Real(sqrt(*a.variance));
    team.for_each(n, [&](Index i) { query.point[i] = st.x[i] + scale * query.direction[i]; });
    ask(team, query, Needs::value);
  }
  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                           State& st, const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    const Decision move = decide(rng, *reply.lp - *st.lp);
    info.stats[0] = sqrt(*a.variance);
    if (at.adapting) {
      // The first mean is this chain's starting point, which only the chain knows when the adaptation is pooled.
      const bool paper = s.variant == AmVariant::paper;
      const Real rate = Real(mean_rate(s, at));
      team.for_each(n, [&](Index i) {
        const Real next = move.accept ? query.point[i] : st.x[i], old = at.t == 0 ? st.x[i] : a.mean[i];
        st.mean[i] = old + rate * (next - old);
        st.a[i] = st.b[i] = next - (paper ? old : st.mean[i]);
      });
      solve_lower(team, a.L, st.b, n);
      if (paper) {
        team.for_each(n, [&](Index i) { st.a[i] = st.b[i]; });
      } else {  // a factor that is far too narrow would be thrown as far beyond in one step, and lost
        const double length = team.template sum<Real>(n, [&](Index i) { return st.b[i] * st.b[i]; }),
                     most = 10.0 * n + 20;
        if (length > most) team.for_each(n, [&](Index i) { st.b[i] *= Real(most / length); });
      }
    }
    settle(team, move, st, query, reply, info, n);
    return Step::done;
  }

  static KC_HD FactorShape signal_shape(const Settings& s) { return s.factor; }
  static KC_HD Signal<Real> signal(const Settings&, const State& st, double accepted) {
    Signal<Real> out = outer_signal(accepted, st.a, st.b);
    out.vector = st.mean;
    return out;
  }
  template <class Team, class Source>
  static KC_HD void adapt(const Team& team, const Settings& s, const Schedule& at, const Source& source, Adaptation& a,
                          Index n) {
    team.for_each(n, [&](Index i) { a.mean[i] = source.vector(i); });
    const double wanted = factor_rate(s, at) * (Source::pooled ? s.pooled_speedup : 1.0),
                 rate = wanted < 0.5 ? wanted : 0.5;
    if (s.variant == AmVariant::paper) {
      track_covariance_printed(team, rate, s.diagonal_floor, source, a.L, n);
    } else {
      track_covariance(team, rate, s.diagonal_floor, source, a.L, n);
      adapt_acceptance_step(team, s, at, source, a.variance);
    }
  }
};

}  // namespace kilochain
