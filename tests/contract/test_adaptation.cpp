// What warm-up learns: the signals of the gad family against the derivative of log r in L (by differences) and the
// printed formulas, closed forms of step sizes, recovery from a start that is far off, which samplers that learn from
// accepted moves only do not manage, and pooled adaptation towards the target's covariance.
#include <gtest/gtest.h>

#include "host/chains/cpu_chains.hpp"
#include "kernels/samplers/adaptive_metropolis.hpp"
#include "kernels/samplers/gad_mala_exact.hpp"
#include "tests/contract/common.hpp"
#include "tests/support/chains.hpp"
#include "tests/support/curved_targets.hpp"
#include "tests/support/mutants.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/packed_factor.hpp"
#include "tests/support/single_chain.hpp"
#include "tests/support/tolerance.hpp"

namespace kilochain::testing_support {
namespace {

using Dense = std::vector<std::vector<double>>;

std::vector<double> times(const Dense& L, const std::vector<double>& v, bool transposed) {
  std::vector<double> y(v.size());
  for (std::size_t i = 0; i < v.size(); ++i)
    for (std::size_t j = 0; j < v.size(); ++j) y[i] += (transposed ? L[j][i] : L[i][j]) * v[j];
  return y;
}
double square(const std::vector<double>& v) {
  double s = 0;
  for (const double e : v) s += e * e;
  return s;
}

/// log r of the moves y = x + L eps and y = x + L (L^T g(x)/2 + eps), by plain loops. gy: what g(y) is taken to be, if
/// given.
double log_r_random_walk(const Oracle& target, const Dense& L, const std::vector<double>& x,
                         const std::vector<double>& eps) {
  std::vector<double> y = times(L, eps, false);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] += x[i];
  return target.lp(y) - target.lp(x);
}
double log_r_langevin(const Oracle& target, const Dense& L, const std::vector<double>& x,
                      const std::vector<double>& eps) {
  std::vector<double> gx, gy;
  const double here = target.lp(x, &gx);
  std::vector<double> h = times(L, gx, true);
  for (std::size_t i = 0; i < x.size(); ++i) h[i] = 0.5 * h[i] + eps[i];
  std::vector<double> y = times(L, h, false);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] += x[i];
  const double there = target.lp(y, &gy);
  std::vector<double> d = times(L, gy, true);
  for (std::size_t i = 0; i < x.size(); ++i) d[i] = h[i] + 0.5 * d[i];
  return there - here - 0.5 * square(d) + 0.5 * square(eps);
}

/// The gradient in L itself is the signal, not that in L <- L (I + A).
template <class Move>
typename Move::Settings plain_gradient() {
  typename Move::Settings s;
  s.optimizer = Optimizer::rmsprop;
  return s;
}

/// A chain with a full random L at a typical point; runs iterations until one has -3 < log r < 0. `check` gets the
/// chain as it was (x, eps, L) and its signal.
template <class Move, class F>
void at_typical_moves(const std::string& target_name, const SettingTexts& texts, F&& check) {
  const auto target = make_target<double>(context, target_name, texts);
  const Index n = target->info().dim;
  SingleChain<Move> chain(context, *target, plain_gradient<Move>());
  PackedFactor<HostTeam, double> L(n, FactorShape::dense, 7);
  Dense dense(static_cast<std::size_t>(n), std::vector<double>(static_cast<std::size_t>(n)));
  const double scale = 0.6 / std::sqrt(static_cast<double>(n));
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j)
      chain.adaptation.L[factor_index<HostTeam::panel<double>>(i, j)] =
          dense[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = scale * L.dense(i, j);
  chain.start(exact_draw(target->info(), 3, 0));
  int checked = 0;
  for (std::int64_t t = 0; t < 400 && checked < 5; ++t) {
    const Rng rng{31, 0, t};
    const std::vector<double> x(chain.state.x.data, chain.state.x.data + n);
    std::vector<double> eps(static_cast<std::size_t>(n) + 64);
    normals(HostTeam{}, rng, Purpose::proposal, Row(eps.data(), eps.size()), n);
    eps.resize(static_cast<std::size_t>(n));
    const int asked = chain.iterate(rng, Schedule{t, 400, 1, true});
    const double p = chain.info.acceptance_rate;
    const ChainSource<double> source{chain.signal()};
    if (p == 1) {
      EXPECT_EQ(asked, 1);
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j <= i; ++j) ASSERT_EQ(source(i, j, 0), 0) << "log r >= 0 has no gradient";
    } else if (p > 0.05) {
      check(Oracle{*target}, dense, x, eps, chain, source, std::log(p), asked);
      ++checked;
    }
  }
  EXPECT_EQ(checked, 5) << "the moves of this test are not typical";
}

/// The signal is the derivative of log r in each entry of L, by fourth-order differences: errors below 1e-8 for step
/// 1e-3.
template <class Move, class LogR>
void signal_is_the_derivative(LogR&& log_r) {
  for (const CurvedTarget& c : curved_targets)
    at_typical_moves<Move>(
        c.target, c.settings,
        [&](const Oracle& oracle, const Dense& L, const auto& x, const auto& eps, auto&, const auto& source,
            double log_p, int) {
          EXPECT_NEAR(log_r(oracle, L, x, eps), log_p, 1e-10);
          const double h = 1e-3;
          for (std::size_t i = 0; i < x.size(); ++i)
            for (std::size_t j = 0; j <= i; ++j) {
              const auto moved = [&](double by) {
                Dense M = L;
                M[i][j] += by;
                return log_r(oracle, M, x, eps);
              };
              const double slope = (moved(-2 * h) - 8 * moved(-h) + 8 * moved(h) - moved(2 * h)) / (12 * h);
              ASSERT_NEAR(source(static_cast<Index>(i), static_cast<Index>(j), 0), slope, 1e-7 * (1 + std::abs(slope)))
                  << c.target << " " << i << ", " << j;
            }
        });
}

TEST(GadSignal, RandomWalkIsTheDerivative) { signal_is_the_derivative<GadRwm<double>>(log_r_random_walk); }
TEST(GadSignal, ExactMalaIsTheDerivative) { signal_is_the_derivative<GadMalaExact<double>>(log_r_langevin); }

TEST(GadSignal, ExactMalaAsksTwiceOnlyForAGradient) {
  for (const CurvedTarget& c : curved_targets)
    at_typical_moves<GadMalaExact<double>>(c.target, c.settings,
                                           [&](const auto&, const auto&, const auto&, const auto&, auto&, const auto&,
                                               double, int asked) { EXPECT_EQ(asked, 2); });
}

TEST(GadSignal, FastMalaIsThePrintedFormula) {
  for (const CurvedTarget& c : curved_targets)
    at_typical_moves<GadMalaFast<double>>(c.target, c.settings,
                                          [&](const Oracle& oracle, const Dense& L, const auto& x, const auto& eps,
                                              auto&, const auto& source, double, int) {
                                            std::vector<double> gx, gy;
                                            oracle.lp(x, &gx);
                                            std::vector<double> h = times(L, gx, true);
                                            for (std::size_t i = 0; i < x.size(); ++i) h[i] = 0.5 * h[i] + eps[i];
                                            std::vector<double> y = times(L, h, false);
                                            for (std::size_t i = 0; i < x.size(); ++i) y[i] += x[i];
                                            oracle.lp(y, &gy);
                                            const std::vector<double> back = times(L, gy, true);
                                            for (std::size_t i = 0; i < x.size(); ++i)
                                              for (std::size_t j = 0; j <= i; ++j)
                                                EXPECT_NEAR(source(static_cast<Index>(i), static_cast<Index>(j), 0),
                                                            -0.5 * (gx[i] - gy[i]) * (h[j] - 0.5 * back[j]), 1e-10);
                                          });
}

/// step = step_0 up^A down^(W - A), A: how often the chain moved in W iterations.
TEST(StepSize, ClosedForm) {
  struct Rule {
    std::string sampler;
    double target, power,
        first;  ///< power of the recorded step in which the rule is multiplicative, and its first value
    SettingTexts settings = {};
  };
  for (const Rule& rule : {Rule{"rwm", 0.25, 2, 0.5 / 3},
                           {"mala", 0.54, 2, 0.5 / 3},
                           {"hmc", 0.7, 1, 0.5 / 3, {{"preset", "HMC-10"}}},
                           {"adaptive_metropolis", 0.25, 2, 0.1 / std::sqrt(3.0)},
                           {"barker", 0.57, 1, 0.5 * std::pow(3.0, -1.0 / 6)}}) {
    const Index n = 3;
    const std::int64_t W = 500;
    const auto target = make_target<double>(context, "gaussian_mixture", {{"dim", "3"}});
    const auto sampler = make_chains<double>(context, rule.sampler, rule.settings, 1, n, Scope::chain);
    const std::vector<double> x = normal_points<double>(1, n, 8);
    start_at(context, *target, *sampler, 1, x);
    Recorded<double> warm(1, n, W), kept(1, n, 1);
    run_phase(context, *target, *sampler, 1, Scope::chain, Phase{0, W, W, true, 9}, &warm);
    run_phase(context, *target, *sampler, 1, Scope::chain, Phase{W, 1, W, false, 9}, &kept);
    int moves = warm.draw(0, 0)[0] != x[0];
    for (std::int64_t t = 1; t < W; ++t) moves += warm.draw(0, t)[0] != warm.draw(0, t - 1)[0];
    const auto& names = find_sampler(rule.sampler).stats;
    const int stat = static_cast<int>(std::find(names.begin(), names.end(), "step_size") - names.begin());
    const double step = std::pow(static_cast<double>(kept.stat(stat, 0, 0)), rule.power),
                 first = std::pow(static_cast<double>(warm.stat(stat, 0, 0)), rule.power);
    const double up = 1 + 0.01 * (1 - rule.target) / rule.target, down = 1 - 0.01;
    EXPECT_GT(moves, 0);
    EXPECT_TRUE(rounding<float>(step, first * std::pow(up, moves) * std::pow(down, W - moves), 8, 1, step))
        << rule.sampler;
    EXPECT_TRUE(rounding<float>(first, rule.first, 4, 1, rule.first)) << rule.sampler << ": first step";
  }
}

/// Whatever the rate, a step stays positive when everything is rejected, and a pooled rate that falls to zero leaves it
/// alone.
TEST(StepSize, StaysPositiveAndFollowsTheSchedule) {
  AcceptanceStep settings{0.57};
  settings.adapt_rate = 0.5;
  for (const double speedup : {1.0, 10.0, 1e6}) {
    settings.step_speedup = speedup;
    double step = 1;
    const PooledSource<double> rejected{nullptr, nullptr, 0, 64};
    for (int t = 0; t < 100; ++t) {
      adapt_acceptance_step(HostTeam{}, settings, Schedule{t, 100, 1, true}, rejected, {&step});
      ASSERT_GT(step, 0);
    }
    const double before = step;
    adapt_acceptance_step(HostTeam{}, settings, Schedule{99, 100, 0, true}, rejected, {&step});
    EXPECT_EQ(step, before);
  }
  for (const SettingInfo& s : find_sampler("barker").settings) EXPECT_NE(s.name, "rate") << "has a rule of its own";
}

/// Mean acceptance after a warm-up that starts with L forty times too large, so that at first every move is rejected.
template <class Move>
double recovered_acceptance(typename Move::Settings settings) {
  const Index chains = 32, n = 4;
  settings.initial_scale = 40;
  settings.optimizer = Optimizer::rmsprop;
  settings.learning_rate = 0.2;
  settings.pooled_speedup = 1;
  const auto target = make_target<double>(context, "gaussian_mixture", {{"dim", "4"}});
  CpuChains<Move, double> sampler(context, chains, n, Scope::pooled, settings);
  start_at<double>(context, *target, sampler, chains, normal_points<double>(chains, n, 8));
  run_phase<double>(context, *target, sampler, chains, Scope::pooled, Phase{0, 2000, 2000, true, 9});
  sampler.reset_counts();
  run_phase<double>(context, *target, sampler, chains, Scope::pooled, Phase{2000, 200, 2000, false, 9});
  double rate = 0;
  for (const auto& c : sampler.controls()) rate += c.acceptance_sum / static_cast<double>(c.counted) / chains;
  return rate;
}

TEST(Adaptation, LearnsFromRejectedMoves) {
  EXPECT_NEAR(recovered_acceptance<GadRwm<double>>({}), 0.25, 0.12);
  EXPECT_NEAR(recovered_acceptance<GadMalaFast<double>>({}), 0.55, 0.15);
  EXPECT_NEAR(recovered_acceptance<GadMalaExact<double>>({}), 0.55, 0.15);
  EXPECT_NEAR(recovered_acceptance<GadMalaLowRank<double>>({}), 0.55, 0.15);
}
TEST(Mutants, LearningFromAcceptedMovesOnly) {
  EXPECT_LT(recovered_acceptance<GadRwmLearnsFromAccepted<double>>({}), 0.02);
  EXPECT_LT(recovered_acceptance<GadMalaLearnsFromAccepted<double>>({}), 0.02);
}

/// Pooled adaptive Metropolis finds the covariance: correlation 0.99 of L L^T within 0.005, scales within 10 %.
TEST(Adaptation, AdaptiveMetropolisFindsTheCovariance) {
  const Index chains = 64, n = 2;
  const auto target = make_target<double>(context, "gaussian", {{"preset", "gauss2d_corr"}});
  CpuChains<AdaptiveMetropolis<double>, double> sampler(context, chains, n, Scope::pooled, {});
  start_at<double>(context, *target, sampler, chains, exact_points<double>(target->info(), chains, 1));
  run_phase<double>(context, *target, sampler, chains, Scope::pooled, Phase{0, 4000, 4000, true, 9});
  const auto a = sampler.view().adaptation<HostTeam::panel<double>>(0);
  constexpr int P = HostTeam::panel<double>;
  const double l00 = a.L[factor_index<P>(0, 0)], l10 = a.L[factor_index<P>(1, 0)], l11 = a.L[factor_index<P>(1, 1)];
  EXPECT_NEAR(l00, 1, 0.1);
  EXPECT_NEAR(std::hypot(l10, l11), 1, 0.1);
  EXPECT_NEAR(l10 / std::hypot(l10, l11), 0.99, 0.005);
}

/// HMC learns the variances (diagonal) or the covariance (dense), alone and pooled, within 20 % of each standard
/// deviation.
TEST(Adaptation, HmcLearnsItsMass) {
  constexpr int P = HostTeam::panel<double>;
  for (const Scope scope : {Scope::chain, Scope::pooled})
    for (const Mass mass : {Mass::diagonal, Mass::dense}) {
      Hmc<double>::Settings settings;
      settings.mass = mass;
      settings.step_rule = StepRule::dual_averaging;
      settings.num_steps_jitter = 0.5;
      const Index chains = 16, n = 2;
      const auto target = make_target<double>(context, "gaussian", {{"preset", "gauss2d_corr"}});
      CpuChains<Hmc<double>, double> sampler(context, chains, n, scope, settings);
      start_at<double>(context, *target, sampler, chains, normal_points<double>(chains, n, 8));
      run_phase<double>(context, *target, sampler, chains, scope, Phase{0, 1000, 1000, true, 9});
      const auto a = sampler.view().adaptation<P>(0);
      if (mass == Mass::diagonal) {
        EXPECT_NEAR(a.F[0], 1, 0.2);
        EXPECT_NEAR(a.F[1], 1, 0.2);
      } else {
        EXPECT_NEAR(a.F[factor_index<P>(0, 0)], 1, 0.2);
        EXPECT_NEAR(a.F[factor_index<P>(1, 0)], 0.99, 0.2);
        EXPECT_NEAR(a.F[factor_index<P>(1, 1)], std::sqrt(1 - 0.99 * 0.99), 0.03);
      }
      sampler.reset_counts();
      run_phase<double>(context, *target, sampler, chains, scope, Phase{1000, 200, 1000, false, 9});
      double rate = 0;
      for (const auto& c : sampler.controls()) rate += c.acceptance_sum / static_cast<double>(c.counted) / chains;
      EXPECT_GT(rate, 0.6);
      EXPECT_LT(rate, 0.97);
    }
}

}  // namespace
}  // namespace kilochain::testing_support
