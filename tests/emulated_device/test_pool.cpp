// The pooled step of a factor over many blocks: what one thread of the host does, to rounding, for awkward dimensions and
// numbers of chains, and the same bits whatever the order of blocks.
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

Learning learn(const Context& context, const std::string& sampler, const std::string& optimizer, Index dim,
               Index chains) {
  const auto target = make_target<double>(context, "funnel", {{"dim", std::to_string(dim)}});
  const auto made = make_chains<double>(context, sampler, {{"optimizer", optimizer}}, chains, dim, Scope::pooled);
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

// Rounding: five steps, each a product of n terms and what the chains made of the last: 1e4 n eps of the factor's size.
TEST_F(EmulatedPool, ManyBlocksLearnWhatOneThreadLearns) {
  for (const char* sampler : {"gad_mala_fast", "gad_rwm"})
    for (const char* optimizer : {"natural", "rmsprop"})
      for (const auto& [dim, chains] : {std::pair<Index, Index>{2, 3}, {31, 33}, {32, 1}, {33, 70}, {65, 9}}) {
        const Learning cpu = learn(host(), sampler, optimizer, dim, chains),
                       gpu = learn(device(), sampler, optimizer, dim, chains);
        ASSERT_EQ(cpu.factor.size(), gpu.factor.size());
        double size = 0, difference = 0;
        for (std::size_t k = 0; k < cpu.factor.size(); ++k) {
          size = std::max(size, std::abs(cpu.factor[k]));
          difference = std::max(difference, std::abs(cpu.factor[k] - gpu.factor[k]));
        }
        EXPECT_LE(difference, 1e4 * dim * 2.2e-16 * size)
            << sampler << ", " << optimizer << ", " << dim << " dimensions, " << chains << " chains";
        EXPECT_NEAR(cpu.beta, gpu.beta, 1e-13);
        EXPECT_GT(std::abs(cpu.factor[static_cast<std::size_t>(dim)]), 0);  // below the diagonal: it has learnt
      }
  EXPECT_TRUE(emulated::faults().empty());
}

TEST_F(EmulatedPool, NoOrderOfBlocksChangesABit) {
  std::set<std::vector<double>> results;
  for (std::uint64_t seed : {0, 1, 2, 3}) {
    emulated::set_seed(seed);
    results.insert(learn(device(), "gad_mala_fast", "natural", 65, 40).factor);
  }
  EXPECT_EQ(results.size(), 1u);
}

}  // namespace
}  // namespace kilochain
