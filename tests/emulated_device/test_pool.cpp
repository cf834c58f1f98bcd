// The pooled step of a factor over many blocks: what one thread of the host does, to rounding, for awkward dimensions
// and numbers of chains, and the same bits whatever the order of blocks.
#include <cmath>
#include <set>

#include "host/chains/rounds.hpp"
#include "host/registry/registry.hpp"
#include "tests/emulated_device/fixture.hpp"

namespace kilochain {
namespace {

struct Learning {
  std::vector<double> factor;
  double beta;
};

Learning learn(const Context& context, const std::string& sampler, const SettingTexts& settings, Index dim,
               Index chains) {
  const auto target = make_target<double>(context, "funnel", {{"dim", std::to_string(dim)}});
  const auto made = make_chains<double>(context, sampler, settings, chains, target->info(), Scope::pooled);
  Rounds<double> rounds(context, *target, *made, chains);
  std::vector<double> x;
  for (Index k = 0; k < chains * dim; ++k) x.push_back(0.3 * std::sin(1.0 + 0.7 * double(k)));
  rounds.start(x);
  Segment<double> segment;
  segment.seed = 11;
  segment.schedule.adapting = true;
  segment.schedule.num_warmup = 20;
  segment.rate_decays = true;
  segment.scope = Scope::pooled;
  segment.until = 5;
  const std::atomic<bool> go_on{false};
  rounds.run(segment, go_on);
  const Learnt l = made->learnt(0);
  return {l.factor, l.beta};
}

using EmulatedPool = EmulatedDevice;

struct Rule {
  std::string sampler;
  SettingTexts settings;
  double amplifies = 1;  ///< by how much more than others
};
const std::vector<Rule> rules = {
    {"gad_mala_fast", {{"optimizer", "natural"}}},
    {"gad_mala_fast", {{"optimizer", "rmsprop"}}},
    {"gad_mala_fast", {{"optimizer", "natural"}, {"factor", "diagonal"}}},
    {"gad_rwm", {{"optimizer", "relative"}}},
    {"gad_rwm", {{"optimizer", "adam"}}},
    {"fisher_mala", {{"initial_iterations", "0"}}},
    {"entropy_hmc", {}},
    {"entropy_hmc", {{"factor", "diagonal"}}},
    {"adaptive_metropolis", {}},
    {"adaptive_metropolis", {{"variant", "paper"}}},
    {"adaptive_metropolis_haario", {{"initial_period", "2"}}},
    // A window of fewer places than dimensions has a root of epsilon, which amplifies rounding by its inverse.
    {"adaptive_proposal", {{"history", "3"}, {"refresh", "2"}}, 1e3},
    {"gaussian_adaptation", {{"covariance_rate", "0.04"}, {"initial_scale", "0.02"}}},
    {"cma", {{"covariance_rate", "0.04"}, {"initial_scale", "0.02"}}},
};

// Rounding: five steps, each a product of n terms and what the chains made of the last: 1e4 n eps of the factor's size.
TEST_F(EmulatedPool, ManyBlocksLearnWhatOneThreadLearns) {
  for (const Rule& rule : rules)
    for (const auto& [dim, chains] : {std::pair<Index, Index>{2, 3}, {31, 33}, {32, 1}, {33, 70}, {65, 9}, {161, 5}}) {
      if (dim > 65 && rule.settings.count("optimizer")) continue;  // the same blocks again
      const Learning cpu = learn(host(), rule.sampler, rule.settings, dim, chains),
                     gpu = learn(device(), rule.sampler, rule.settings, dim, chains);
      ASSERT_EQ(cpu.factor.size(), gpu.factor.size());
      double size = 0, difference = 0, learnt = 0;
      for (std::size_t k = 0; k < cpu.factor.size(); ++k) {
        const double d = std::abs(cpu.factor[k] - gpu.factor[k]);
        difference = d <= difference ? difference : d;  // a NaN is one
        size = std::max(size, std::abs(cpu.factor[k]));
        if (k % static_cast<std::size_t>(dim + 1) == 0)
          learnt = std::max(learnt, std::abs(cpu.factor[k] - cpu.factor[0]));
      }
      std::string what =
          rule.sampler + ", " + std::to_string(dim) + " dimensions, " + std::to_string(chains) + " chains";
      for (const auto& [name, value] : rule.settings) what += ", " + name + " = " + value;
      EXPECT_LE(difference, rule.amplifies * 1e4 * dim * 2.2e-16 * size) << what;
      EXPECT_GT(learnt, 0) << what;  // the diagonal is no longer constant
      if (std::isfinite(cpu.beta)) {
        EXPECT_NEAR(cpu.beta, gpu.beta, 1e-13) << what;
      }
    }
  EXPECT_TRUE(emulated::faults().empty());
}

TEST_F(EmulatedPool, NoOrderOfBlocksChangesABit) {
  for (const Rule& rule : rules) {
    std::set<std::vector<double>> results;
    for (std::uint64_t seed : {0, 1, 2}) {
      emulated::set_seed(seed);
      results.insert(learn(device(), rule.sampler, rule.settings, 65, 7).factor);
    }
    EXPECT_EQ(results.size(), 1u) << rule.sampler;
  }
}

}  // namespace
}  // namespace kilochain
