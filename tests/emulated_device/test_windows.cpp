// Windows of draws on the emulated device: each leaves in one copy, behind one event, and the host waits for none of
// its rounds; a phase captures its graph once; what is drawn is what one stretch after the other would have drawn.
#include "host/draws/draws_file.hpp"
#include "host/run/run_state.hpp"
#include "tests/emulated_device/fixture.hpp"
#include "tests/emulated_device/window_bench.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using Bench = WindowBench;
constexpr std::int64_t room = Bench::room;

class EmulatedWindows : public EmulatedDevice {
 protected:
  /// Without whole iterations in one kernel (test_tiles.cpp): here rounds are replayed.
  static const Context& device() {
    static const Context context = [] {
      Context c = EmulatedDevice::device();
      c.fuse = false;
      return c;
    }();
    return context;
  }
};

TEST_F(EmulatedWindows, AWindowIsOneCopyBehindOneEventAndNothingWaitsInside) {
  for (const char* sampler : {"gad_mala_fast", "rwm", "gad_rwm"})  // rounds, each an iteration, that are replayed
    for (const Recorded what : {Recorded::draws, Recorded::statistics}) {
      Bench run(device(), sampler, 0, what);
      run.draw(3);  // the first captures
      constexpr int count = 8;
      const auto before = emulated::counters();
      run.draw(count);
      const auto after = emulated::counters();
      SCOPED_TRACE(std::string(sampler) + ", recorded " + std::to_string(static_cast<int>(what)));
      EXPECT_EQ(after.copies - before.copies, count);
      EXPECT_LE(after.events - before.events, count);
      EXPECT_LE(after.event_waits - before.event_waits, count);
      EXPECT_LE(after.synchronisations - before.synchronisations, count + 1);  // one a window, and the end
      EXPECT_EQ(after.graph_launches - before.graph_launches, count);
      EXPECT_EQ(after.captures, before.captures);
      EXPECT_EQ(after.pageable_copies, before.pageable_copies);
      EXPECT_EQ(after.allocations, before.allocations);
    }
  EXPECT_TRUE(emulated::faults().empty());
}

// The bits of windows under way, in any order of streams and threads, are those of windows that are waited for,
// replayed or not.
TEST_F(EmulatedWindows, WhatIsDrawnDependsOnNeitherWindowsNorGraphs) {
  constexpr int count = 3;
  for (const char* sampler : {"gad_mala_fast", "nuts"}) {
    Context plain = device();
    plain.graphs = false;
    Bench expected(plain, sampler), alone(device(), sampler);
    std::vector<std::vector<float>> draws;
    for (int k = 0; k < count; ++k) {
      draws.push_back(expected.draw(1)[0]);
      EXPECT_EQ(alone.draw(1)[0], draws.back()) << sampler << ", window " << k;
    }
    const auto controls = expected.chains.controls();
    for (std::uint64_t seed : {0, 1, 2}) {
      emulated::set_seed(seed);
      Bench run(device(), sampler);
      EXPECT_EQ(run.draw(count), draws) << sampler << ", seed " << seed;
      const auto last = run.chains.controls();
      for (std::size_t c = 0; c < last.size(); ++c) {
        EXPECT_EQ(last[c].iteration, controls[c].iteration);
        EXPECT_EQ(last[c].gradients, controls[c].gradients);
        EXPECT_EQ(last[c].acceptance_sum, controls[c].acceptance_sum);
      }
    }
  }
}

TEST_F(EmulatedWindows, BatchesOfChainsComeToOneWindow) {
  Bench run(device(), "rwm", 2);
  const auto windows = run.draw(2);
  const auto controls = run.chains.controls();
  ASSERT_EQ(controls.size(), 6u);
  for (const auto& c : controls) EXPECT_EQ(c.iteration, 30 + 2 * room);
  for (const auto& window : windows)
    for (const float v : window) ASSERT_TRUE(std::isfinite(v));
}

// Several windows of a whole run, begun ahead, looked at by another thread and written by a third; and the same draws
// in batches of chains, where each window is waited for.
TEST_F(EmulatedWindows, AWholeRunKeepsTheDrawsThatBatchesOfChainsMake) {
  const testing_support::ScratchFiles files;
  Options o = Bench::of("rwm", 0);
  o.num_chains = 2;
  o.num_warmup = 5;
  o.num_samples = 3100;  // windows of at most 1000 draws
  o.adapt_scope = Scope::chain;
  o.device = "cuda";
  o.keep_draws = true;
  o.output = files.path("draws.nc");
  const std::atomic<bool> go_on{false};
  const Result ahead = run(o, {}, go_on);
  o.chain_batch_size = 1;
  o.overwrite = true;
  const Result batches = run(o, {}, go_on);
  EXPECT_EQ(ahead.draws_written, 3100);
  EXPECT_FALSE(ahead.interrupted);
  EXPECT_EQ(ahead.draws, batches.draws);
  EXPECT_TRUE(emulated::faults().empty());
}

// Chains leave the device for a file and come back to another one, at the end of a run and where one is interrupted
// with windows under way: the draws are those of a run that did not stop.
TEST_F(EmulatedWindows, ARunThatIsResumedKeepsItsBits) {
  const testing_support::ScratchFiles files;
  const auto draws_of = [](const Options& o) {
    std::vector<double> all;
    const DrawsReader reader(o.output);
    reader.read_parameters(0, std::ssize(reader.header().names), all);
    return all;
  };
  for (const char* sampler : {"rwm", "gad_mala_fast", "nuts"})
    for (const bool interrupted : {false, true}) {
      if (interrupted && sampler != std::string("rwm")) continue;
      SCOPED_TRACE(std::string(sampler) + (interrupted ? ", interrupted" : ""));
      Options o = Bench::of(sampler, 0);
      o.num_chains = 3;
      o.num_warmup = 20;
      o.thin = 2;
      o.device = "cuda";
      o.output = files.path("part.nc"), o.overwrite = true;
      o.num_samples = interrupted ? 10000 : 17;  // five windows, two of them under way
      std::atomic<bool> stop{false};
      const Result part = run(
          o, [&](const Progress& p) { stop = interrupted && p.phase == "sampling" && p.done > 0; }, stop);
      EXPECT_EQ(part.interrupted, interrupted);
      EXPECT_TRUE(part.resumable);
      const std::int64_t made = part.summary.num_samples;
      o.num_samples = made + 23;
      o.resume = read_run_state(o.output);
      stop = false;
      EXPECT_EQ(run(o, {}, stop).summary.num_samples, made + 23);
      Options whole = o;
      whole.resume = nullptr;
      whole.output = files.path("whole.nc");
      run(whole, {}, stop);
      EXPECT_EQ(draws_of(o), draws_of(whole));
    }
  EXPECT_TRUE(emulated::faults().empty());
}

// A graph holds addresses. What gave device memory back since, such as a target that made more room, ends it.
TEST_F(EmulatedWindows, AGraphIsCapturedOnceForAPhaseAndAnewWhenMemoryWasGivenBack) {
  Bench run(device(), "gad_mala_fast");
  const auto stretch = [&] { run.draw(1); };
  const auto first = emulated::counters();
  stretch();
  EXPECT_EQ(emulated::counters().captures - first.captures, 1);
  stretch(), stretch();
  EXPECT_EQ(emulated::counters().captures - first.captures, 1);
  { const Buffer<float> other(device(), 10); }
  stretch();
  EXPECT_EQ(emulated::counters().captures - first.captures, 2);
}

// Without its event, whichever it is, a window would leave before it is drawn: the bits differ, or a race of streams is
// found, at the latest when all is given back.
TEST_F(EmulatedWindows, AForgottenEventIsFoundOut) {
  constexpr int count = 4;
  const auto drawn = [](emulated::Mutant mutant, std::int64_t which) {
    std::vector<float> out;
    try {
      Bench run(device(), "rwm");
      emulated::plant(mutant, which);
      for (const auto& window : run.draw(count)) out.insert(out.end(), window.begin(), window.end());
    } catch (const Error&) {  // the fault says why
    }
    return out;
  };
  const std::vector<float> right = drawn(emulated::Mutant::none, 0);
  ASSERT_TRUE(emulated::faults().empty()) << emulated::faults()[0];
  for (const auto mutant : {emulated::Mutant::event_record, emulated::Mutant::event_wait}) {
    std::int64_t k = 1;
    for (;; ++k) {
      const std::vector<float> wrong = drawn(mutant, k);
      if (!emulated::struck()) break;
      const auto faults = emulated::faults();
      const bool raced = !faults.empty() && faults[0].find("race of streams") != std::string::npos;
      EXPECT_TRUE(raced || wrong != right) << "mutant " << static_cast<int>(mutant) << ", call " << k;
      emulated::forget_faults();
    }
    EXPECT_EQ(k - 1, count) << "one for each window";
    emulated::forget_faults();
  }
}

}  // namespace
}  // namespace kilochain
