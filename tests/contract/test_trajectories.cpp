// Hamiltonian trajectories: they retrace themselves, their energy error is of second order in the step, and NUTS builds
// trees of the sizes that it reports, deeper where the step is smaller, and tells divergences.
#include <gtest/gtest.h>

#include "host/chains/cpu_chains.hpp"
#include "host/registry/settings.hpp"
#include "kernels/samplers/hmc.hpp"
#include "kernels/samplers/nuts.hpp"
#include "tests/contract/common.hpp"
#include "tests/support/chains.hpp"
#include "tests/support/single_chain.hpp"

namespace kilochain::testing_support {
namespace {

const SettingTexts curved = {{"dim", "5"}, {"bend", "0.3"}, {"variance", "2"}};

Hmc<double>::Settings hmc_settings(int steps, double size) {
  Hmc<double>::Settings s;
  s.num_steps = steps;
  s.step_size = size;
  s.mass = Mass::unit;
  return s;
}

TEST(HmcSettings, PresetsAreThePapersAndExplicitSettingsWin) {
  for (const auto& [name, steps] : {std::pair{"HMC-5", 5}, {"HMC-10", 10}, {"HMC-20", 20}}) {
    const auto s = parse_settings<Hmc<double>>("hmc", {{"preset", name}}, Scope::pooled);
    EXPECT_EQ(s.num_steps, steps) << name;
    EXPECT_EQ(s.mass, Mass::unit);
    EXPECT_EQ(s.step_rule, StepRule::multiplicative);
    EXPECT_FALSE(s.num_steps_jitter) << "none, with unit mass";
  }
  EXPECT_EQ(parse_settings<Hmc<double>>("hmc", {{"preset", "HMC-20"}, {"num_steps", "7"}}, Scope::pooled).num_steps, 7);
  const auto plain = parse_settings<Hmc<double>>("hmc", {}, Scope::pooled);
  EXPECT_EQ(plain.num_steps, 10);
  EXPECT_EQ(plain.mass, Mass::diagonal);
  EXPECT_EQ(plain.step_rule, StepRule::dual_averaging);
  EXPECT_EQ(parse_settings<Hmc<double>>("hmc", {{"num_steps_jitter", "0"}}, Scope::pooled).num_steps_jitter, 0.0);
}

TEST(Trajectories, RetraceThemselves) {
  const auto target = make_target<double>(context, "banana", curved);
  for (const auto& [mass, plain] :
       {std::pair{Mass::unit, false}, {Mass::diagonal, false}, {Mass::dense, false}, {Mass::dense, true}}) {
    auto settings = hmc_settings(20, 0.1);
    settings.mass = mass;
    SingleChain<Hmc<double>> chain(context, *target, settings);
    if (plain) *chain.adaptation.plain = 1, std::fill_n(chain.adaptation.diagonal.data, chain.n, 0.7);
    const std::vector<double> x = exact_draw(target->info(), 5, 0);
    chain.start(x);
    const auto go = [&] {  // K steps from the momentum that stands in state.r, as update and propose take them
      kick(chain.team, mass, chain.adaptation, 0.05, chain.state.g, chain.state.r, chain.state.work, chain.n);
      Row<double> q = chain.state.x;
      for (int k = 0; k < 20; ++k) {
        drift(chain.team, mass, chain.adaptation, 0.1, q, chain.state.r, chain.query.point, chain.state.work, chain.n);
        q = chain.query.point;
        *chain.query.needs = Needs::gradient;
        chain.ask();
        kick(chain.team, mass, chain.adaptation, k + 1 < 20 ? 0.1 : 0.05, chain.reply.gradient, chain.state.r,
             chain.state.work, chain.n);
      }
      std::copy_n(chain.query.point.data, chain.n, chain.state.x.data);
      std::copy_n(chain.reply.gradient.data, chain.n, chain.state.g.data);
    };
    normals(chain.team, Rng{3, 0, 0}, Purpose::momentum, chain.state.r, chain.n);
    const std::vector<double> r(chain.state.r.data, chain.state.r.data + chain.n);
    go();
    EXPECT_GT(std::abs(chain.state.x[0] - x[0]), 1e-3) << "went nowhere";
    for (Index i = 0; i < chain.n; ++i) chain.state.r[i] = -chain.state.r[i];
    go();
    for (Index i = 0; i < chain.n; ++i) {
      EXPECT_NEAR(chain.state.x[i], x[static_cast<std::size_t>(i)], 1e-12);
      EXPECT_NEAR(-chain.state.r[i], r[static_cast<std::size_t>(i)], 1e-12);
    }
  }
}

// A metric that the host sets and that is a diagonal is used as one. Beside it the same with correlations of 1e-40,
// which no product sees: the draws agree to rounding, and the first alone is told to be plain.
TEST(Trajectories, OfADiagonalMetricAreThoseOfItsMatrix) {
  constexpr Index chains = 8, n = 33;
  const auto target = make_target<double>(context, "gaussian_mixture", {{"dim", "33"}, {"means", "1"}});
  const auto drawn = [&](double beside) {
    Hmc<double>::Settings settings;
    settings.mass = Mass::dense;
    CpuChains<Hmc<double>, double> sampler(context, chains, n, Scope::pooled, settings);
    start_at<double>(context, *target, sampler, chains, normal_points<double>(chains, n, 8));
    Metric metric;
    metric.step_size = 0.3;
    metric.factor.assign(n * n, 0.0);
    for (Index i = 0; i < n; ++i) {
      metric.factor[i * n + i] = 0.5 + 0.02 * i;
      for (Index j = 0; j < i; ++j) metric.factor[i * n + j] = beside;
    }
    sampler.set_metric(metric);
    EXPECT_EQ(*sampler.view().adaptation<HostTeam::panel<double>>(0).plain, beside == 0);
    Recorded<double> out(chains, n, 3);
    run_phase<double>(context, *target, sampler, chains, Scope::pooled, Phase{0, 3, 0, false, 9}, &out);
    return sampler.positions();
  };
  const std::vector<double> plain = drawn(0), full = drawn(1e-40);
  for (std::size_t i = 0; i < plain.size(); ++i)
    ASSERT_NEAR(plain[i], full[i], 1e-12) << i;  // 30 steps of 33 coordinates, each rounded otherwise
}

TEST(Trajectories, EnergyErrorIsOfSecondOrder) {
  const auto target = make_target<double>(context, "banana", curved);
  const auto error = [&](int steps, double size, std::int64_t t) {
    SingleChain<Hmc<double>> chain(context, *target, hmc_settings(steps, size));
    chain.start(exact_draw(target->info(), 5, static_cast<std::uint32_t>(t)));
    EXPECT_EQ(chain.iterate(Rng{3, 0, t}, Schedule{}), steps);
    EXPECT_EQ(chain.info.stats[2], steps);
    return chain.info.stats[1];
  };
  for (std::int64_t t = 0; t < 10; ++t) {
    const double coarse = error(10, 0.02, t), fine = error(20, 0.01, t);
    EXPECT_NEAR(coarse / fine, 4, 0.15) << "trajectory " << t;  // 4 + O(step^2)
  }
}

TEST(Trajectories, TreesAreAsReported) {
  const Index chains = 32, n = 5;
  const auto target = make_target<double>(context, "gaussian_mixture", {{"dim", "5"}, {"means", "0"}});
  double before = 0;
  for (const char* step : {"1", "0.25", "0.0625"}) {
    const auto sampler =
        make_chains<double>(context, "nuts", {{"step_size", step}, {"mass", "unit"}}, chains, n, Scope::chain);
    start_at<double>(context, *target, *sampler, chains, normal_points<double>(chains, n, 8));
    Recorded<double> out(chains, n, 50);
    run_phase<double>(context, *target, *sampler, chains, Scope::chain, Phase{0, 50, 0, false, 9}, &out);
    double length = 0, steps_in_all = 0;
    for (Index c = 0; c < chains; ++c) {
      for (std::int64_t t = 0; t < 50; ++t) {
        const double depth = out.stat(0, c, t), steps = out.stat(1, c, t);
        EXPECT_LE(steps, std::ldexp(1, static_cast<int>(depth) + 1) - 1);
        EXPECT_GE(steps, std::ldexp(1, static_cast<int>(depth)) - 1);
        EXPECT_EQ(out.stat(4, c, t), depth >= 10);
        length += steps / (50.0 * chains);
        steps_in_all += steps;
      }
    }
    double asked = 0;
    for (const auto& c : sampler->controls()) asked += static_cast<double>(c.gradients);
    EXPECT_EQ(asked, steps_in_all) << "one gradient a step";
    EXPECT_GT(length, 2 * before) << "a quarter of the step, about four times the steps";
    before = length;
  }
}

TEST(Trajectories, DepthIsLimitedAndDivergencesAreTold) {
  const auto target = make_target<double>(context, "gaussian_mixture", {{"dim", "2"}, {"means", "0"}});
  const auto run = [&](const SettingTexts& settings) {
    const auto sampler = make_chains<double>(context, "nuts", settings, 1, 2, Scope::chain);
    start_at<double>(context, *target, *sampler, 1, {0.5, -0.5});
    Recorded<double> out(1, 2, 20);
    run_phase<double>(context, *target, *sampler, 1, Scope::chain, Phase{0, 20, 0, false, 9}, &out);
    return out;
  };
  const auto shallow = run({{"step_size", "0.001"}, {"max_tree_depth", "3"}});
  const auto wild = run({{"step_size", "1000"}});
  for (std::int64_t t = 0; t < 20; ++t) {
    EXPECT_EQ(shallow.stat(0, 0, t), 3);
    EXPECT_EQ(shallow.stat(1, 0, t), 7);
    EXPECT_EQ(shallow.stat(4, 0, t), 1);
    EXPECT_FALSE(shallow.diverging[static_cast<std::size_t>(t)]);
    EXPECT_TRUE(wild.diverging[static_cast<std::size_t>(t)]);
    EXPECT_EQ(wild.stat(1, 0, t), 1);
    EXPECT_EQ(wild.draw(0, t)[0], 0.5);
  }
  EXPECT_EQ(shallow.diverged, std::vector<std::int64_t>(4, 0));
  EXPECT_EQ(wild.diverged, (std::vector<std::int64_t>{1, 2, 3, 4})) << "the first that there is room for";
}

/// A divergence is where the energy error exceeded its bound: for one leapfrog step from a known point that is the
/// step's end, q + e (p + e/2 g), wherever the draw stays.
TEST(Trajectories, DivergencesAreKeptWhereTheyHappened) {
  const auto target = make_target<double>(context, "gaussian_mixture", {{"dim", "2"}, {"means", "0"}});
  for (const char* name : {"nuts", "hmc"}) {
    SettingTexts settings = {{"step_size", "1000"}, {"mass", "unit"}};
    if (std::string(name) == "hmc") settings["num_steps"] = "1";
    const auto sampler = make_chains<double>(context, name, settings, 3, 2, Scope::chain);
    start_at<double>(context, *target, *sampler, 3, {0.5, -0.5, 0.25, 1, 0, 0});
    Recorded<double> out(3, 2, 2);
    run_phase<double>(context, *target, *sampler, 3, Scope::chain, Phase{0, 2, 0, false, 9}, &out);
    for (Index c = 0; c < 3; ++c) {
      EXPECT_EQ(out.diverged[4 * static_cast<std::size_t>(c)], 1);
      const double* q = out.draw(c, 0);
      const double* at = out.diverged_at.data() + 8 * c;
      for (int i = 0; i < 2; ++i) {
        const double p = (at[i] - q[i]) / 1000 - 500 * -q[i];  // a forward step; a backward one has the opposite sign
        EXPECT_LT(std::abs(p), 6) << name << ": not a momentum of N(0, 1)";
        EXPECT_NE(at[i], q[i]);
      }
    }
  }
}

/// Trees are deep where the funnel is wide. Stopped after so many gradients, more chains stand where trees are long;
/// after so many draws of each chain, the law is as it was. z of the mean of v ~ N(0, 1) over 4 096 chains: false alarm
/// 6e-7.
TEST(Nuts, SameNumberOfDrawsIsUnbiasedWhereSameNumberOfRoundsIsNot) {
  const Index chains = 4096, n = 3;
  const auto target = make_target<double>(context, "funnel", {{"dim", "3"}, {"scale", "1"}});
  const auto z_of_v = [&](const Chains<double>& sampler) {
    const auto x = sampler.positions();
    double sum = 0;
    for (Index c = 0; c < chains; ++c) sum += x[static_cast<std::size_t>(c * n)];
    return std::abs(sum) / std::sqrt(static_cast<double>(chains));
  };
  const auto begun = [&] {
    auto sampler =
        make_chains<double>(context, "nuts", {{"step_size", "0.1"}, {"mass", "unit"}}, chains, n, Scope::chain);
    start_at<double>(context, *target, *sampler, chains, exact_points<double>(target->info(), chains, 21));
    return sampler;
  };
  const auto draws = begun();
  run_phase<double>(context, *target, *draws, chains, Scope::chain, Phase{0, 10, 0, false, 22});
  EXPECT_LT(z_of_v(*draws), 5);

  const auto rounds = begun();
  Segment<double> segment;
  segment.seed = 22;
  segment.until = 1 << 20;
  rounds->advance(0, chains, action_propose, segment);
  for (int round = 0; round < 400; ++round) {
    target->evaluate(rounds->exchange(kilochain::Phase::sampling), 0, chains);
    rounds->advance(0, chains, action_update | action_propose, segment);
  }
  std::printf("z of E v: %.2f after 10 draws of each chain, %.2f after 400 rounds\n", z_of_v(*draws), z_of_v(*rounds));
  EXPECT_GT(z_of_v(*rounds), 10);
}

/// Stan's warm-up on a badly scaled Gaussian: acceptance near 0.8 and the moments of 100 scales.
TEST(Nuts, WarmsUpOnBadScales) {
  const Index chains = 8, n = 100;
  const auto target = make_target<double>(context, "gaussian", {{"preset", "neal_gaussian"}});
  const auto sampler = make_chains<double>(context, "nuts", {}, chains, n, Scope::chain);
  start_at<double>(context, *target, *sampler, chains, normal_points<double>(chains, n, 8));
  run_phase<double>(context, *target, *sampler, chains, Scope::chain, Phase{0, 600, 600, true, 9});
  sampler->reset_counts();
  Recorded<double> out(chains, n, 300);
  run_phase<double>(context, *target, *sampler, chains, Scope::chain, Phase{600, 300, 600, false, 9}, &out);
  double rate = 0;
  for (const auto& c : sampler->controls()) rate += c.acceptance_sum / static_cast<double>(c.counted) / chains;
  EXPECT_GT(rate, 0.7);
  EXPECT_LT(rate, 0.95);
  // NUTS draws of a Gaussian's means are nearly independent or better; of squares, more than a quarter of them count:
  // the sd of a variance is then below sqrt(2 x 4/2400) = 0.058 of it, 100 comparisons at 5 sd: 6e-5.
  for (Index i = 0; i < n; ++i) {
    double square = 0;
    for (Index c = 0; c < chains; ++c)
      for (std::int64_t t = 0; t < 300; ++t) square += out.draw(c, t)[i] * out.draw(c, t)[i] / (300.0 * chains);
    EXPECT_NEAR(square / target->info().exact.variance[static_cast<std::size_t>(i)], 1, 0.29) << i;
  }
}

}  // namespace
}  // namespace kilochain::testing_support
