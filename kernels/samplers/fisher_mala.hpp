// Fisher adaptive MALA (Titsias 2023): MALA preconditioned by the inverse Fisher matrix of the gradients that it sees.
//   the move: factor_langevin.hpp, L L^T = sigma^2 A n/tr A
//   s = sqrt(alpha(x, y)) (g(y) - g(x)), A^-1 = damping I + sum s s^T (kernels/adapt/inverse_fisher.hpp)
//   sigma^2 <- sigma^2 (1 + 0.015 (alpha - 0.574)); the first 500 iterations learn sigma alone
// Pooled: the signals of all chains in one sum, and 100 iterations for sigma, whose rate is ten times as large; never
// more than a fifth of the warm-up. Team-uniform; bitwise the same under any batch split.
// Cost: two passes over L, four more while adapting; pooled, n^3/3 each time the sum has grown by a tenth.
#pragma once
#include <optional>

#include "kernels/adapt/acceptance_step.hpp"
#include "kernels/adapt/inverse_fisher.hpp"
#include "kernels/samplers/factor_langevin.hpp"

namespace kilochain {

template <class Real>
struct FisherMala : FactorLangevin<Real> {
  using Adaptation = FisherAdaptation<Real>;
  static constexpr About about = {
      .meaning = "MALA preconditioned by the inverse Fisher matrix, learnt from gradients (Titsias 2023)",
      .stats = {"step_size"},
      .needs = always(Needs::gradient),
      .asks = Asks::once,
      .adaptive = true,
      .signals_vector = true,
  };

  struct Settings : VarianceSettings {
    double damping = 10;
    std::optional<double> initial_iterations;
    Scope scope = Scope::chain;
    Settings() : VarianceSettings{0.574} { adapt_rate = 0.015 * 0.574; }  // 0.015 on a - target
  };
  template <class V>
  static void settings(V&& visit, Settings& s) {
    visit("damping", s.damping, positive(), "A^-1 starts as this times the identity");
    visit("initial_iterations", s.initial_iterations, between(0, 1e6),
          "iterations that learn the step alone, at most a fifth of the warm-up; auto: 500, pooled 100");
    acceptance_step_fields(visit, s);
    visit("initial_variance", s.initial_variance, at_least(0), "sigma^2 of the proposal at the start; 0 takes 0.5/n");
  }
  static void resolve(Settings& s, Scope scope) { s.scope = scope; }

  struct State : LangevinState<Real> {
    Scalar<double> probability;
  };
  template <class V>
  static KC_HD void state(V&& visit, State& st, const Settings&) {
    langevin_fields(visit, st);
    visit("probability", st.probability, Keep::no);
  }
  template <class V>
  static KC_HD void adaptation(V&& visit, Adaptation& a, const Settings& s) {
    fisher_layout(visit, a, s.scope == Scope::pooled);
  }
  template <class Team>
  static KC_HD void start_adaptation(const Team& team, const Settings& s, Adaptation& a, Index n) {
    start_fisher(team, s.damping, s.first_step(n), s.scope == Scope::pooled, a, n);
  }

  template <class Team>
  static KC_HD Step update(const Team& team, const Rng& rng, const Settings& s, const Schedule& at, const Adaptation& a,
                           State& st, const Query<Real>& query, const Reply<Real>& reply, Info& info, Index n) {
    const Decision move = decide(rng, FactorLangevin<Real>::log_ratio(team, a, st, reply, n));
    if (at.adapting) {
      const Real root = Real(sqrt(move.probability));
      const bool learns = root > Real(0), whiten = s.scope == Scope::chain;
      team.for_each(n, [&](Index i) {
        st.a[i] = !learns ? Real(0) : root * (whiten ? st.ltgy[i] - st.ltg[i] : reply.gradient[i] - st.g[i]);
      });
      if (!whiten) {  // a sum over chains must outlast a gradient of one whose square is no number
        const double square = team.template sum<double>(n, [&](Index i) { return double(st.a[i]) * double(st.a[i]); });
        if (!(square < 1e24)) team.for_each(n, [&](Index i) { st.a[i] = Real(0); });
      }
      team.single([&] { *st.probability = move.probability; });
    }
    info.stats[0] = sqrt(*a.variance);
    return FactorLangevin<Real>::finish(team, move, st, query, reply, info, n);
  }

  static KC_HD FactorShape signal_shape(const Settings& s) {
    return s.scope == Scope::pooled ? FactorShape::dense : FactorShape::diagonal;
  }
  static KC_HD Signal<Real> signal(const Settings&, const State& st, double) {
    Signal<Real> out = outer_signal(*st.probability, st.a, st.a);
    out.vector = st.a;
    return out;
  }
  template <class Team, class Source>
  static KC_HD void adapt(const Team& team, const Settings& s, const Schedule& at, const Source& source, Adaptation& a,
                          Index n) {
    const double fifth = double(at.num_warmup) / 5, wanted = s.initial_iterations ? *s.initial_iterations
                                                             : Source::pooled     ? 100.0
                                                                                  : 500.0;
    const double variance = next_acceptance_step(s, at, source, *a.variance);
    if (double(at.t) < (wanted < fifth ? wanted : fifth))
      start_again(team, s, variance, a, n);
    else if constexpr (Source::pooled)
      add_signals(team, source, variance, a, n);
    else
      add_signal(team, source, variance, a, n);
  }

 private:
  /// The step alone; R is I/sqrt(damping) all the while.
  template <class Team>
  static KC_HD void start_again(const Team& team, const Settings& s, double variance, Adaptation& a, Index n) {
    constexpr int P = Team::template panel<Real>;
    const Real sd = Real(sqrt(variance));
    team.sync();
    team.for_each(n, [&](Index i) { a.L[factor_index<P>(i, i)] = sd; });
    team.single([&] {
      *a.variance = variance;
      if (s.scope == Scope::chain) *a.unit = 1 / sqrt(variance * s.damping);
    });
  }
};

}  // namespace kilochain
