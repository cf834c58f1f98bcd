// The engine on the emulated device: bits that no order changes, stretches in which the host waits for nothing, an
// error without a leak whichever call fails.
#include <cuda_runtime.h>

#include <iostream>
#include <set>

#include "tests/emulated_device/fixture.hpp"
#include "tests/gpu/bench.hpp"

namespace kilochain {
namespace {

/// Others ask until a trajectory ends.
bool asks_once(const std::string& sampler) {
  return sampler != "hmc" && sampler != "ensemble_hmc" && sampler != "chees_hmc" && sampler != "mams" &&
         sampler != "nuts" && sampler != "tempered_mala" && sampler != "gad_mala_exact" && sampler != "entropy_hmc";
}

constexpr Case small = {"gauss2d_corr", 2};
constexpr Case wide = {"gp51_gaussian", 51};  // more than a panel of the factor

class EmulatedEngine : public EmulatedDeviceWith<std::string> {
 protected:
  static const SamplerEntry& entry() { return find_sampler(GetParam()); }
  static std::vector<char> bits(const std::string& name, const Case& which, Scope scope, std::int64_t warmup = 9,
                                std::int64_t samples = 4) {
    Bench<float> chains(device(), name, which, 5, scope);
    chains.start();
    chains.run(warmup, true);
    if (samples > 0) chains.run(samples, false);
    return chains.outcome().saved;
  }
};

using EmulatedMutants = EmulatedEngine;

TEST_P(EmulatedEngine, NoOrderOfThreadsBlocksAndNodesChangesABit) {
  for (Scope scope : {Scope::chain, Scope::pooled}) {
    std::set<std::vector<char>> results;
    for (std::uint64_t seed : {0, 1, 2, 3}) {
      emulated::set_seed(seed);
      results.insert(bits(entry().name, wide, scope));
    }
    EXPECT_EQ(results.size(), 1u) << entry().name << (scope == Scope::pooled ? ", pooled" : ", alone");
  }
  EXPECT_TRUE(emulated::faults().empty());
}

// A sampler that asks once knows how many rounds there are, so nothing is read back. (The others read how many chains
// wait, a round late.)
TEST_P(EmulatedEngine, TheHostWaitsForNothingInsideAStretch) {
  if (!asks_once(GetParam())) return;
  for (Scope scope : {Scope::chain, Scope::pooled}) {
    Bench<float> chains(device(), entry().name, small, 5, scope);
    chains.start();
    chains.run(20, true);
    const auto before = emulated::counters();
    chains.run(50, false);
    const auto after = emulated::counters();
    EXPECT_EQ(after.synchronisations, before.synchronisations) << entry().name;
    EXPECT_EQ(after.pageable_copies, before.pageable_copies) << entry().name;
    EXPECT_EQ(after.allocations, before.allocations) << entry().name;
    chains.outcome();
  }
}

/// A small run; what it says where it fails.
std::string run_all(const Context& context, const std::string& name, Scope scope) {
  try {
    Bench<float> chains(context, name, small, 3, scope, brief(name, {}));
    const int iterations = asks_once(name) ? 10 : 2;  // enough for a graph, where there is one
    chains.start();
    chains.run(iterations, true);
    chains.run(iterations, false);
    chains.outcome();
    return "";
  } catch (const std::exception& e) {
    return e.what();
  }
}

TEST_P(EmulatedEngine, WhicheverCallFailsThereIsAMessageAndNoLeak) {
  const std::string& name = entry().name;
  ASSERT_EQ(run_all(device(), name, Scope::pooled), "");
  auto at_rest = emulated::living();
  std::int64_t k = 1, found = 0;
  for (;; ++k) {
    emulated::fail_call(k);
    const std::string message = run_all(device(), name, Scope::pooled);
    if (!emulated::failed()) break;
    // A call whose failure changes nothing may go unsaid: a release, or a graph's update, which is made anew.
    found += !message.empty();
    const auto left = emulated::living();
    EXPECT_EQ(left, at_rest) << name << ", call " << k << ": " << message << "\nleft: " << emulated::text(left);
    at_rest = left;  // each leak is told once
    emulated::forget_faults();
  }
  emulated::forget_faults();
  EXPECT_GT(found, k / 2) << name << " made " << k - 1 << " calls";
  std::cout << name << ": " << found << " of " << k - 1 << " failing calls end the run with a message\n";
}

// A graph keeps its arguments. Chains that go on with another target, in warm-up or after it, and with the first one
// again, need another graph each time: whichever update is left out, they stay what they were, or where the one before
// put them.
TEST_F(EmulatedMutants, AStaleGraphIsFoundOut) {
  Context rounds = device();
  rounds.fuse = false;
  const auto drawn = [&](std::int64_t stale) {
    const auto made = [&](const char* means) {
      return make_target<float>(rounds, "gaussian_mixture", {{"dim", "2"}, {"means", means}});
    };
    const auto first = made("0"), second = made("3");
    const auto chains = make_chains<float>(rounds, "gad_mala_fast", {}, 5, first->info(), Scope::pooled);
    Rounds<float> on_first(rounds, *first, *chains, 5), on_second(rounds, *second, *chains, 5);
    const std::atomic<bool> never{false};
    Segment<float> segment;
    segment.seed = 17, segment.scope = Scope::pooled, segment.schedule.num_warmup = 20;
    emulated::plant(emulated::Mutant::graph_update, stale);
    on_first.start(std::vector<float>(10, 0.1f));
    const auto go_on = [&](Rounds<float>& on) {
      segment.until += 20;
      on.run(segment, never);
    };
    segment.schedule.adapting = true;
    go_on(on_first), go_on(on_second);
    segment.phase_start = segment.until, segment.schedule.adapting = false;
    go_on(on_first), go_on(on_second), go_on(on_first);
    return chains->save();
  };
  const std::vector<char> right = drawn(0);
  EXPECT_EQ(drawn(0), right);
  std::int64_t k = 1;
  for (;; ++k) {
    const std::vector<char> wrong = drawn(k);
    if (!emulated::struck()) break;
    EXPECT_NE(wrong, right) << "update " << k;
  }
  EXPECT_EQ(k - 1, 3) << "one of the warm-up's graph, two of the sampling's";
}

INSTANTIATE_TEST_SUITE_P(Registry, EmulatedEngine, testing::ValuesIn(sampler_names()),
                         [](const auto& p) { return p.param; });

}  // namespace
}  // namespace kilochain
