// Gradient ascent of the generalised speed measure in a proposal's Cholesky factor (Titsias & Dellaportas 2019):
//   F = E min(0, log r) + beta sum_i log L_ii;   grad = source + beta diag(1/L_ii), source = 0 where log r >= 0
//   RMSProp:        G <- kappa grad^2 + (1-kappa) G (kappa = 1 first), L += eta grad/(1+sqrt G)
//   Robbins-Monro:  L += eta/(1+t/(W/4)) grad          Adam: as published, with its two moments
//   relative:       RMSProp in the coordinates log L_ii, L_ij/L_ii: the same for any scale of x_i
//   natural:        RMSProp on A = [L^T grad]_low, the gradient in L <- L (I + A): the same for any linear map of x
// (docs/decisions/0004-pooled-adaptation.md). Then L_ii >= floor, then beta <- max(floor, beta (1 + rho (a - target))),
// the old beta in the gradient. source(i, j, offset): one chain's outer products, or their mean over chains.
// Cost: one pass over L and its moments; natural, dense: n^3/6 multiply-adds.
#pragma once
#include "kernels/adapt/schedule.hpp"
#include "kernels/iteration.hpp"
#include "kernels/linalg/triangular.hpp"

namespace kilochain {

enum class Optimizer : std::int32_t { rmsprop, robbins_monro, adam, relative, natural };
enum class BetaControl : std::int32_t { paper, bounded };

struct FactorSettings : ScheduleSettings {
  double learning_rate, target_accept;
  double relative_rate = 0.05, pooled_speedup = 10;
  Optimizer optimizer = Optimizer::natural;
  FactorShape factor = FactorShape::dense;
  double initial_scale = 0.1, beta_init = 1, beta_rate = 0.02, beta_floor = 1e-4, diagonal_floor = 1e-3,
         rms_decay = 0.1;
  BetaControl beta_control = BetaControl::paper;
  FactorSettings(double rate, double target) : learning_rate(rate), target_accept(target) {}
};

/// Whether signals must be L^T times the plain ones: sum_k (L^T a_k) b_k^T.
KC_INLINE bool wants_whitened(const FactorSettings& s) {
  return s.optimizer == Optimizer::natural && s.factor == FactorShape::dense;
}

template <class V>
void factor_fields(V&& visit, FactorSettings& s) {
  visit("learning_rate", s.learning_rate, positive(), "step of the optimiser on the factor L");
  visit("target_accept", s.target_accept, inside(0, 1), "acceptance rate that beta steers to");
  visit("optimizer", s.optimizer, Names{"rmsprop", "robbins_monro", "adam", "relative", "natural"},
        "rule that turns gradients into steps of L; rmsprop is the paper's. natural costs n^3/6 an iteration");
  visit("relative_rate", s.relative_rate, between(1e-6, 0.2),
        "learning rate of the relative and natural rules: largest relative change of L in an iteration, nearly");
  visit("factor", s.factor, Names{"dense", "diagonal"},
        "shape of L: full lower triangle, or its diagonal, O(n) an iteration");
  visit("pooled_speedup", s.pooled_speedup, positive(),
        "factor on learning_rate when chains are pooled: their average bears larger steps");
  visit("initial_scale", s.initial_scale, positive(), "L starts as initial_scale/sqrt(n) times the identity");
  visit("beta_init", s.beta_init, positive(), "first weight of the entropy term");
  visit("beta_rate", s.beta_rate, between(0, 1), "beta is multiplied by 1 + beta_rate (accepted - target_accept)");
  visit("beta_floor", s.beta_floor, positive(), "least beta");
  visit("diagonal_floor", s.diagonal_floor, positive(), "least diagonal entry of L");
  visit("rms_decay", s.rms_decay, between(1e-6, 1), "weight of the newest squared gradient in RMSProp");
  visit("beta_control", s.beta_control, Names{"paper", "bounded"},
        "paper: beta may grow without bound while L is far too small; bounded: it stays within [1e-2, 1e2] then");
  schedule_fields(visit, s);
}

template <class Real>
struct FactorAdaptation {
  Factor<Real> L, second, first;  ///< moments: null where the optimiser has none
  Scalar<double> beta;
};

template <class V, class Real>
KC_HD void factor_layout(V&& visit, FactorAdaptation<Real>& a, const FactorSettings& s) {
  visit("L", a.L, s.factor, Keep::yes);
  if (s.optimizer != Optimizer::robbins_monro) visit("second_moment", a.second, s.factor, Keep::yes);
  if (s.optimizer == Optimizer::adam || s.optimizer == Optimizer::natural)
    visit("first_moment", a.first, s.factor, Keep::yes);
  visit("beta", a.beta, Keep::yes);
}

/// The start: L = initial_scale / sqrt(n) I, beta = beta_init. Memory must be zero.
template <class Team, class Real>
KC_HD void start_factor(const Team& team, const FactorSettings& s, FactorAdaptation<Real>& a, Index n) {
  constexpr int P = Team::template panel<Real>;
  const Real scale = Real(s.initial_scale / sqrt(double(n)));
  team.for_each(n, [&](Index i) { a.L[diagonal_index<P>(s.factor, i)] = scale; });
  team.single([&] { *a.beta = s.beta_init; });
}

/// The signal of a move to where there is no density: log r = -infinity has no gradient, so L would only ever grow
/// there. It is taken as that of a density which falls like the proposal itself, a = -(1 + beta) L^-T eps, b = eps, in
/// the mean -(1 + beta) diag(1/L_ii): whatever beta is by then, such moves shrink L. b: eps on entry.
template <class Team, class Real>
KC_HD void retreat(const Team& team, const FactorSettings& s, const FactorAdaptation<Real>& adaptation, Row<Real> a,
                   Row<Real> b, Index n) {
  const Real weight = Real(-1 - *adaptation.beta);
  team.for_each(n, [&](Index i) { a[i] = weight * b[i]; });
  team.sync();
  if (!wants_whitened(s)) solve_transposed(team, adaptation.L, a, n);
}

/// The numbers of one step that all entries share.
template <class Real>
struct FactorStep {
  Real rate, decay, bias1, bias2, beta, floor;
};
/// `chains`: behind the source, which is their mean when `pooled`. Schedule::t = 0 is the first adapting iteration.
template <class Real>
KC_HD FactorStep<Real> factor_step(const FactorSettings& s, const Schedule& at, bool pooled, double chains, double beta,
                                   Index n) {
  const double t = double(at.t), quarter = double(at.num_warmup) / 4 + 1e-300;
  const bool natural = s.optimizer == Optimizer::natural, scaled = natural || s.optimizer == Optimizer::relative;
  // n^2/2 numbers cannot follow the noise of C chains: the memory, C/rate chain-iterations, stays above 10 n.
  const double bearable = natural ? 0.1 * chains / n : 1.0;
  FactorStep<Real> step;
  step.rate = Real(rate_at(s, at) *
                   (scaled ? (s.relative_rate < bearable ? s.relative_rate : bearable)
                           : s.learning_rate * (pooled ? s.pooled_speedup : 1.0)) /
                   (s.optimizer == Optimizer::robbins_monro ? 1 + t / quarter : 1.0));
  step.decay = Real(at.t == 0 ? 1.0 : s.rms_decay);
  const bool adam = s.optimizer == Optimizer::adam;
  const double log_09 = -0.10536051565782628,
               log_0999 = -0.0010005003335835335;  // powers of 0.9 and 0.999, without a call
  step.bias1 = Real(adam ? 1 / (1 - math::exp((t + 1) * log_09)) : 1.0);
  step.bias2 = Real(adam ? 1 / (1 - math::exp((t + 1) * log_0999)) : 1.0);
  step.beta = Real(beta), step.floor = Real(scaled ? 1e-30 : s.diagonal_floor);
  return step;
}

KC_INLINE double next_beta(const FactorSettings& s, const Schedule& at, double acceptance, double beta) {
  double next = beta * (1 + schedule_factor(s, at) * s.beta_rate * (acceptance - s.target_accept));
  next = next > s.beta_floor ? next : s.beta_floor;
  if (s.beta_control == BetaControl::bounded) next = next < 1e-2 ? 1e-2 : (next > 1e2 ? 1e2 : next);
  return next;
}

/// The step of a run's entries by every rule but the natural one; `scale`: L_ii of their rows in the relative rule,
/// else 1.
template <class Real, class Run, class Value>
KC_INLINE void step_run(Optimizer optimizer, const FactorStep<Real>& step, Value scale, Value grad, Run run,
                        const FactorAdaptation<Real>& a) {
  Value L = run.load(a.L);
  if (optimizer == Optimizer::adam) {
    const Value m = Real(0.9) * run.load(a.first) + Real(0.1) * grad;
    const Value v = Real(0.999) * run.load(a.second) + Real(0.001) * grad * grad;
    run.store(a.first, m);
    run.store(a.second, v);
    L += step.rate * (m * step.bias1) / (run.rows.sqrt(v * step.bias2) + Real(1e-8));
  } else if (optimizer == Optimizer::robbins_monro) {
    L += step.rate * grad;
  } else {
    const Value g = grad * scale;
    const Value G = step.decay * g * g + (Real(1) - step.decay) * run.load(a.second);
    run.store(a.second, G);
    L += step.rate * scale * g / (Real(1) + run.rows.sqrt(G));
  }
  run.store(a.L, L);
  run.floor_diagonal(a.L, step.floor);
}

/// Entries B of the natural rule's step, from their gradients and second moments.
template <class Real, class Value, class Rows = Lane<Real>>
KC_INLINE Value natural_entry(Real rate, Real decay, Value g, Value& second, Rows rows = {}) {
  second = decay * g * g + (Real(1) - decay) * second;
  return rate * g / (Real(1) + rows.sqrt(second));
}

/// The natural rule's step of a dense factor. `source` holds L^T times the gradient; B = eta A/(1 + sqrt G) is a.first.
template <class Team, class Real, class Source>
KC_HD void step_natural(const Team& team, const Source& source, const FactorStep<Real>& step, FactorAdaptation<Real>& a,
                        Index n) {
  each_run<Real>(team, FactorShape::dense, n, [&](auto run) {
    auto second = run.load(a.second);
    const auto B =
        natural_entry(step.rate, step.decay, run.lower_plus(run.of(source), run.rows.all(step.beta)), second, run.rows);
    run.store(a.second, second);
    run.store(a.first, B);
  });
  multiply_right(team, a.L, a.first, n);
}

/// Takes one step of L and beta from `source`.
template <class Team, class Real, class Source>
KC_HD void adapt_factor(const Team& team, const FactorSettings& s, const Schedule& at, const Source& source,
                        FactorAdaptation<Real>& a, Index n) {
  const FactorStep<Real> step = factor_step<Real>(s, at, Source::pooled, source.chains(), *a.beta, n);
  const Optimizer optimizer = s.optimizer;  // a copy: the loops below write through pointers that could alias it
  const bool natural = optimizer == Optimizer::natural, diagonal = s.factor == FactorShape::diagonal,
             relative = optimizer == Optimizer::relative || natural;
  if (natural && !diagonal)
    step_natural(team, source, step, a, n);
  else
    each_run<Real>(
        team, s.factor, n,
        [&](auto rows, Index first) { return relative ? diagonals<Team>(rows, a.L, first, n) : rows.all(1); },
        [&](auto run, auto scale) {
          const auto entropy = step.beta / run.load(a.L);
          step_run(optimizer, step, scale, run.lower_plus(run.of(source), entropy), run, a);
        });
  team.single([&] { *a.beta = next_beta(s, at, source.acceptance(), *a.beta); });
}

/// What samplers share whose factor is learnt so. Theirs: State with the rows a, b of the signal, propose, update.
template <class Real>
struct LearnsFactor : PlainStart<Real> {
  using Adaptation = FactorAdaptation<Real>;
  template <class V>
  static KC_HD void adaptation(V&& visit, Adaptation& a, const FactorSettings& s) {
    factor_layout(visit, a, s);
  }
  template <class Team>
  static KC_HD void start_adaptation(const Team& team, const FactorSettings& s, Adaptation& a, Index n) {
    start_factor(team, s, a, n);
  }
  static KC_HD FactorShape signal_shape(const FactorSettings& s) { return s.factor; }
  template <class State>
  static KC_HD Signal<Real> signal(const FactorSettings&, const State& st, double accepted) {
    return outer_signal(accepted, st.a, st.b);
  }
  template <class Team, class Source>
  static KC_HD void adapt(const Team& team, const FactorSettings& s, const Schedule& at, const Source& source,
                          Adaptation& a, Index n) {
    adapt_factor(team, s, at, source, a, n);
  }
};

}  // namespace kilochain
