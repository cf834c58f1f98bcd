// Rounds of matrix products cost what still asks: columns are counted beside what trajectories of uneven length must
// cost;
// draws are the CPU's, and where stretches are cut changes no bit of them.
#include <cmath>
#include <iostream>

#include "tests/emulated_device/fixture.hpp"
#include "tests/gpu/bench.hpp"
#include "tests/gpu/logistic_table.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::ScratchFiles;

class EmulatedAsking : public EmulatedDevice {
 protected:
  template <class Real>
  Bench<Real> chains(const Context& context, const std::string& sampler, Index count, Scope scope,
                     SettingTexts settings = {}) const {
    SettingTexts data = {{"data", write_logistic_table(files_.path("numbers.csv"), 60, 5, false)}};
    if (context.backend == Backend::cuda) data["matmul"] = "float32";
    if (sampler == "nuts") settings.emplace("max_tree_depth", "4");
    return Bench<Real>(context, sampler, make_target<Real>(context, "logistic_regression", data), count, scope,
                       settings);
  }
  ScratchFiles files_;
};

std::vector<std::int64_t> gradients_of(const Bench<float>& b) {
  std::vector<std::int64_t> out;
  for (const auto& c : b.sampler->controls()) out.push_back(c.gradients);
  return out;
}

// 257 chains are two panels of 160 columns. The host reads how many ask a round late: the first two rounds of a stretch
// are of all chains, the others of as many as asked one round before, and the round that finds out that nobody asks is
// queued as well.
TEST_F(EmulatedAsking, RoundsCostWhatStillAsks) {
  constexpr Index count = 257, width = 160;
  auto b = chains<float>(device(), "nuts", count, Scope::pooled, {{"step_size", "0.1"}});
  b.start();
  std::int64_t expected = 0, made = 0, of_all = 0, asked = 0;
  for (int k = 0; k < 5; ++k) {
    const auto before = gradients_of(b);
    const std::int64_t columns = emulated::counters().columns;
    b.run(1, true);
    const auto after = gradients_of(b);  // which waits for all that is queued
    made += emulated::counters().columns - columns;
    std::vector<Index> asking = {count, count};  // in round 0, 1, ...: the first because of what the host knows
    for (std::size_t c = 0; c < before.size(); ++c) {
      const auto rounds = static_cast<std::size_t>(after[c] - before[c]);
      if (asking.size() < rounds + 1) asking.resize(rounds + 1, 0);
      for (std::size_t r = 2; r < rounds + 1; ++r) ++asking[r];
      asked += after[c] - before[c];
    }
    for (const Index known : asking) {
      expected += 2 * ((known + width - 1) / width) * width;  // X W and X^T R
      of_all += 2 * (count + width - 1) / width * width;
    }
  }
  EXPECT_EQ(made, expected);
  EXPECT_LT(made, of_all);
  EXPECT_TRUE(emulated::faults().empty());
  const std::string text = b.target->evaluation();
  EXPECT_NE(text.find("of chains that ask"), std::string::npos);
  std::cout << "columns: " << made << " of " << of_all << "; asked for: " << 2 * asked << "; " << text << "\n";
}

// Rounding that four trajectories amplify by what the dynamics allow, as in tests/gpu/test_samplers.cpp.
TEST_F(EmulatedAsking, DrawsAreTheCpus) {
  for (const std::string sampler : {"nuts", "hmc"})
    for (const Scope scope : {Scope::pooled, Scope::chain})
      for (const Index count : {1, 33}) {
        std::vector<double> x[2];
        for (const bool on_device : {false, true}) {
          auto b = chains<double>(on_device ? device() : host(), sampler, count, scope, {{"step_size", "0.1"}});
          b.start();
          b.run(2, true);
          b.run(2, false);
          x[on_device] = b.outcome().x;
        }
        for (std::size_t i = 0; i < x[0].size(); ++i)
          ASSERT_NEAR(x[0][i], x[1][i], 1e-7 * std::max(1.0, std::abs(x[0][i]))) << sampler << ", " << count;
      }
  EXPECT_TRUE(emulated::faults().empty());
}

TEST_F(EmulatedAsking, WhereStretchesAreCutChangesNoBit) {
  for (const Scope scope : {Scope::pooled, Scope::chain}) {
    std::vector<char> saved[2];
    for (const bool cut : {false, true}) {
      auto b = chains<float>(device(), "nuts", 257, scope, {{"step_size", "0.1"}});  // two panels
      b.start();
      b.run(1, true);
      const auto before = emulated::counters();
      for (int k = 0; k < (cut ? 3 : 1); ++k) b.run(cut ? 1 : 3, false);
      EXPECT_EQ(emulated::counters().allocations, before.allocations);
      saved[cut] = b.outcome().saved;
    }
    EXPECT_EQ(saved[0], saved[1]);
  }
}

}  // namespace
}  // namespace kilochain
