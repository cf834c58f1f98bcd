// The device's branch of every sampler, run by CPU threads (tests/support/fiber_team.hpp): the same iterations as the
// host's branch, to rounding, alone and pooled. What a GPU would compute, where there is none; CUDA itself is
// tests/gpu.
#include <gtest/gtest.h>

#include <random>

#include "host/chains/cpu_chains.hpp"
#include "kernels/samplers/adaptive_metropolis.hpp"
#include "kernels/samplers/adaptive_metropolis_haario.hpp"
#include "kernels/samplers/adaptive_proposal.hpp"
#include "kernels/samplers/barker.hpp"
#include "kernels/samplers/cma.hpp"
#include "kernels/samplers/gad_mala_exact.hpp"
#include "kernels/samplers/gad_mala_fast.hpp"
#include "kernels/samplers/gad_rwm.hpp"
#include "kernels/samplers/gaussian_adaptation.hpp"
#include "kernels/samplers/hmc.hpp"
#include "kernels/samplers/mala.hpp"
#include "kernels/samplers/nuts.hpp"
#include "kernels/samplers/rwm.hpp"
#include "targets/gaussian.hpp"
#include "tests/support/fiber_team.hpp"

namespace kilochain {
namespace {

/// A dense Gaussian in memory, well conditioned.
template <class Real>
struct Model {
  std::vector<Real> mean, precision;
  typename Gaussian<Real>::Data data;
  explicit Model(Index n) {
    const Index row = static_cast<Index>(padded(static_cast<std::size_t>(n) + 1));
    mean.assign(static_cast<std::size_t>(row), Real(0)), precision.assign(static_cast<std::size_t>(n * row), Real(0));
    for (Index i = 0; i < n; ++i) {
      mean[static_cast<std::size_t>(i)] = Real(0.1) * Real(i % 7);
      for (Index j = 0; j < n; ++j)
        precision[static_cast<std::size_t>(i * row + j)] =
            i == j ? Real(1 + i % 3) : (j == i + 1 || i == j + 1 ? Real(0.3) : Real(0));
    }
    data = {mean.data(), precision.data(), 0.0, n, row, false};
  }
};

constexpr Index num_chains = 3;

template <class Real>
std::vector<Real> starting_points(Index n) {
  std::mt19937_64 bits(7);
  std::normal_distribution<double> normal;
  std::vector<Real> x(static_cast<std::size_t>(num_chains * n));
  for (auto& v : x) v = static_cast<Real>(normal(bits));
  return x;
}

template <class Real>
Segment<Real> segment_until(std::int64_t until) {
  Segment<Real> segment;
  segment.seed = 11;
  segment.until = until;
  segment.schedule.adapting = true;
  segment.schedule.num_warmup = 100;
  segment.scope = Scope::chain;
  return segment;
}

/// Positions after `iterations`, by the given team over panels of P rows.
template <class Move, class Real, int P, class Team>
void iterate(const Team& team, const ChainsView<Move, Real>& chains, const Model<Real>& model, std::int64_t iterations,
             Real* scratch) {
  const auto evaluate = [&](Index c) {
    team.sync();  // what the call before wrote is there: whoever calls syncs, as between kernels
    if (chains.exchange.needs[c] != Needs::nothing)
      Gaussian<Real>::evaluate(team, model.data, chains.exchange.needs[c], chains.exchange.query(c),
                               chains.exchange.reply(c), scratch);
    team.sync();
  };
  const Segment<Real> segment = segment_until<Real>(iterations);
  for (Index c = 0; c < num_chains; ++c) {
    auto a = chains.template adaptation<P>(c);
    Move::start_adaptation(team, chains.settings, a, chains.dim);
    evaluate(c);
    start_chain(team, chains, c);
    team.sync();
    bool waits = advance_chain(team, chains, segment, action_propose, c);
    while (waits) {
      evaluate(c);
      waits = advance_chain(team, chains, segment, action_update | action_propose, c);
    }
  }
}

template <class Move, class Real>
void expect_same(Index n, std::int64_t iterations, typename Move::Settings settings, double factor) {
  const Context context = cpu_context(1);
  const Model<Real> model(n);
  ChainMemory<Move, Real, HostTeam::panel<Real>> host(context, num_chains, n, Scope::chain, settings);
  ChainMemory<Move, Real, 32> device(context, num_chains, n, Scope::chain, settings);
  host.place(starting_points<Real>(n)), device.place(starting_points<Real>(n));
  std::vector<Real> scratch(padded(static_cast<std::size_t>(n) + 1));
  iterate<Move, Real, HostTeam::panel<Real>>(HostTeam{}, host.view(), model, iterations, scratch.data());
  FiberTeam::run(
      [&](const FiberTeam& team) { iterate<Move, Real, 32>(team, device.view(), model, iterations, scratch.data()); });
  const auto x = host.positions(), y = device.positions();
  const double bound = factor * n * std::numeric_limits<Real>::epsilon();
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], bound) << "n = " << n << ", entry " << i;
  for (Index c = 0; c < num_chains; ++c) {
    EXPECT_EQ(host.controls()[static_cast<std::size_t>(c)].gradients,
              device.controls()[static_cast<std::size_t>(c)].gradients);
    EXPECT_NEAR(host.controls()[static_cast<std::size_t>(c)].acceptance_sum,
                device.controls()[static_cast<std::size_t>(c)].acceptance_sum, bound * iterations);
  }
}

// Rounding: 256 n eps after 20 iterations of steps below 1; these seeds meet no accept decision that rounding could
// turn.
constexpr double rounding = 256;
constexpr Index awkward[] = {1, 2, 31, 32, 33, 65};

template <class Move>
class DeviceBranch : public testing::Test {};
using Moves = testing::Types<Rwm<double>, Mala<double>, GadRwm<double>, GadMalaFast<double>, GadMalaExact<double>,
                             AdaptiveMetropolis<double>, Barker<double>, AdaptiveProposal<double>,
                             AdaptiveMetropolisHaario<double>, GaussianAdaptation<double>, Cma<double>>;
TYPED_TEST_SUITE(DeviceBranch, Moves);

TYPED_TEST(DeviceBranch, SameIterationsAsTheHost) {
  for (Index n : awkward) expect_same<TypeParam, double>(n, 20, {}, rounding);
}

TEST(DeviceBranchSettings, DiagonalFactors) {
  GadMalaFast<double>::Settings s;
  s.factor = FactorShape::diagonal;
  for (Index n : awkward) expect_same<GadMalaFast<double>, double>(n, 20, s, rounding);
}
TEST(DeviceBranchSettings, OtherOptimizers) {
  for (Optimizer o : {Optimizer::adam, Optimizer::robbins_monro}) {
    GadMalaFast<double>::Settings s;
    s.optimizer = o;
    for (Index n : awkward) expect_same<GadMalaFast<double>, double>(n, 20, s, rounding);
  }
}
TEST(DeviceBranchSettings, WalksThatRefreshAndLeaveTheirFirstPeriod) {
  AdaptiveProposal<double>::Settings window;
  window.history = 12, window.refresh = 6;
  AdaptiveMetropolisHaario<double>::Settings soon;
  soon.initial_period = 5;
  for (const FactorShape f : {FactorShape::dense, FactorShape::diagonal}) {
    window.factor = soon.factor = f;
    // A window of fewer places than dimensions has a root of epsilon, which amplifies rounding by its inverse, 1e3.
    for (Index n : awkward) expect_same<AdaptiveProposal<double>, double>(n, 20, window, 1e3 * rounding);
    for (Index n : awkward) expect_same<AdaptiveMetropolisHaario<double>, double>(n, 20, soon, rounding);
  }
}
TEST(DeviceBranchSettings, DiagonalWalks) {
  GaussianAdaptation<double>::Settings g;
  Cma<double>::Settings c;
  g.factor = c.factor = FactorShape::diagonal;
  for (Index n : awkward) expect_same<GaussianAdaptation<double>, double>(n, 20, g, rounding);
  for (Index n : awkward) expect_same<Cma<double>, double>(n, 20, c, rounding);
}
TEST(DeviceBranchSettings, PrintedAdaptiveMetropolis) {
  AdaptiveMetropolis<double>::Settings s;
  s.variant = AmVariant::paper;
  for (Index n : awkward) expect_same<AdaptiveMetropolis<double>, double>(n, 20, s, rounding);
}
TEST(DeviceBranchSettings, TrajectoriesOfOneLength) {
  Hmc<double>::Settings s;
  s.mass = Mass::unit;
  s.step_rule = StepRule::multiplicative;
  for (Index n : awkward) expect_same<Hmc<double>, double>(n, 20, s, rounding);
}
TEST(DeviceBranchSettings, LearntMasses) {
  for (Mass m : {Mass::diagonal, Mass::dense}) {
    Hmc<double>::Settings s;
    s.mass = m;
    s.step_rule = StepRule::multiplicative;
    s.num_steps_jitter = 0;
    s.num_steps = 3;
    // Of 100 iterations of warm-up, 92: past the end of a window, whose new mass amplifies rounding by its condition.
    for (Index n : {2, 33}) expect_same<Hmc<double>, double>(n, 92, s, 1e6);
  }
}
TEST(DeviceBranchSettings, DualAveraging) {
  Hmc<double>::Settings s;
  s.step_rule = StepRule::dual_averaging;
  s.mass = Mass::unit;
  s.num_steps = 3;
  for (Index n : awkward) expect_same<Hmc<double>, double>(n, 20, s, 1e4);  // its first steps are ten times too long
}
TEST(DeviceBranchSettings, Trees) {
  for (Mass m : {Mass::unit, Mass::dense}) {
    Nuts<double>::Settings s;
    s.mass = m;
    for (Index n : awkward) expect_same<Nuts<double>, double>(n, 20, s, 1e5);  // trajectories of many steps
  }
}

}  // namespace
}  // namespace kilochain
