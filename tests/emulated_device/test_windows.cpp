// Windows of draws on the emulated device: each leaves in one copy, behind one event, and the host waits for none of its
// rounds; a phase captures its graph once; what is drawn is what one stretch after the other would have drawn.
#include "host/draws/draws_file.hpp"
#include "tests/emulated_device/fixture.hpp"
#include "tests/emulated_device/window_bench.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using Bench = WindowBench;
constexpr std::int64_t room = Bench::room;
/// By rounds, each an iteration, that are replayed; and by loops that the device ends, one for each piece of a window.
struct Drawn {
  const char* sampler;
  bool loops;
};
constexpr Drawn all_drawn[] = {
    {"gad_mala_fast", false}, {"rwm", false}, {"gad_rwm", false}, {"hmc", true}, {"nuts", true}};

std::vector<float> values(DrawsBuffer<float>& buffer) {
  const Window<float> w = buffer.window(room, std::vector<std::int64_t>(6, room));
  return {w.draws.data, w.draws.data + w.draws.planes * w.draws.rows * w.draws.columns};
}

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
  for (const auto& [sampler, loops] : all_drawn)
    for (const Recorded what : {Recorded::draws, Recorded::statistics, Recorded::nothing}) {
      Bench run(device(), sampler);
      DrawsBuffer<float> windows[] = {run.buffer(what), run.buffer(what)};
      const auto once = [&](int k) {
        run.begin(windows[k % 2]);
        if (k > 0) run.batches.take(windows[(k + 1) % 2], room, run.reached - room);
      };
      for (int k = 0; k < 3; ++k) once(k);  // the first captures
      constexpr int count = 8;
      const auto before = emulated::counters();
      for (int k = 3; k < 3 + count; ++k) once(k);
      const auto after = emulated::counters();
      SCOPED_TRACE(std::string(sampler) + ", recorded " + std::to_string(static_cast<int>(what)));
      EXPECT_EQ(after.copies - before.copies, count);
      const int throttles = loops ? 1 : 0;  // rounds of the warm-up count, too
      EXPECT_LE(after.events - before.events, count + throttles);
      EXPECT_LE(after.event_waits - before.event_waits, count + throttles);
      EXPECT_LE(after.synchronisations - before.synchronisations, count + throttles);  // for the window before
      EXPECT_GE(after.graph_launches - before.graph_launches, count);
      if (!loops) EXPECT_EQ(after.graph_launches - before.graph_launches, count);
      EXPECT_EQ(after.captures, before.captures);
      EXPECT_EQ(after.pageable_copies, before.pageable_copies);
      EXPECT_EQ(after.allocations, before.allocations);
      run.batches.take(windows[(2 + count) % 2], room, run.reached);
    }
  EXPECT_TRUE(emulated::faults().empty());
}

// The bits of windows under way, in any order of streams and threads, are those of stretches that are waited for, replayed
// or not, and of batches of chains.
TEST_F(EmulatedWindows, WhatIsDrawnDependsOnNeitherWindowsNorGraphsNorBatches) {
  constexpr int count = 3;
  for (const char* sampler : {"gad_mala_fast", "nuts"}) {
    Context plain = device();
    plain.graphs = false;
    Bench expected(plain, sampler), alone(device(), sampler);
    std::vector<std::vector<float>> draws;
    DrawsBuffer<float> buffer = expected.buffer(), other = alone.buffer();
    for (int k = 0; k < count; ++k) {
      expected.batches.run(expected.segment, expected.reached, expected.reached + room, {&buffer, 1});
      expected.reached += room;
      draws.push_back(values(buffer));
      alone.batches.run(alone.segment, alone.reached, alone.reached + room, {&other, 1});
      alone.reached += room;
      EXPECT_EQ(values(other), draws.back()) << sampler << ", window " << k;
    }
    const auto controls = expected.batches.controls();
    for (std::uint64_t seed : {0, 1, 2}) {
      emulated::set_seed(seed);
      Bench run(device(), sampler);
      DrawsBuffer<float> windows[] = {run.buffer(), run.buffer()};
      std::vector<ChainControl> last;
      for (int k = 0; k <= count; ++k) {
        if (k < count) run.begin(windows[k % 2]);
        if (k == 0) continue;
        last = run.batches.take(windows[(k + 1) % 2], room, run.reached);
        EXPECT_EQ(values(windows[(k + 1) % 2]), draws[static_cast<std::size_t>(k - 1)])
            << sampler << ", window " << k - 1 << ", seed " << seed;
      }
      for (std::size_t c = 0; c < last.size(); ++c) {
        EXPECT_EQ(last[c].iteration, controls[c].iteration);
        EXPECT_EQ(last[c].gradients, controls[c].gradients);
        EXPECT_EQ(last[c].acceptance_sum, controls[c].acceptance_sum);
      }
    }
  }
}

// A device that does not know loops is found out at the first of them; the host goes on with the same bits.
TEST_F(EmulatedWindows, WhereLoopsAreRefusedTheHostGoesOn) {
  Context plain = device();
  plain.graphs = false;
  std::vector<std::vector<float>> drawn;
  for (const Context& context : {device(), plain}) {
    Bench run(context, "nuts");
    DrawsBuffer<float> buffer = run.buffer();
    emulated::forget_faults();
    emulated::plant(emulated::Mutant::graph_loop, 1);
    for (int k = 0; k < 2; ++k) {
      run.batches.run(run.segment, run.reached, run.reached + room, {&buffer, 1});
      run.reached += room;
      drawn.push_back(values(buffer));
    }
    EXPECT_EQ(emulated::struck(), context.graphs);
  }
  EXPECT_EQ(drawn[0], drawn[2]);
  EXPECT_EQ(drawn[1], drawn[3]);
  EXPECT_TRUE(emulated::faults().empty());
}

TEST_F(EmulatedWindows, BatchesOfChainsComeToOneWindow) {
  Bench run(device(), "rwm", 2);
  EXPECT_EQ(run.batches.windows_under_way(), 1);
  DrawsBuffer<float> buffer = run.buffer();
  run.begin(buffer);
  const auto controls = run.batches.take(buffer, room, run.reached);
  ASSERT_EQ(controls.size(), 6u);
  for (const auto& c : controls) EXPECT_EQ(c.iteration, 30 + room);
  for (const float v : values(buffer)) ASSERT_TRUE(std::isfinite(v));
}

// Several windows of a whole run, begun ahead, looked at by another thread and written by a third; and the same draws in
// batches of chains, where each window is waited for.
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
  const Result batches = run(o, {}, go_on);
  EXPECT_EQ(ahead.draws_written, 3100);
  EXPECT_FALSE(ahead.interrupted);
  EXPECT_EQ(ahead.draws, batches.draws);
  EXPECT_TRUE(emulated::faults().empty());
}

// Chains leave the device for a file and come back to another one, at the end of a run and where one is interrupted with windows
// under way: the draws are those of a run that did not stop.
TEST_F(EmulatedWindows, ARunThatIsGoneOnWithKeepsItsBits) {
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
      o.output = files.path("part.nc");
      o.num_samples = interrupted ? 10000 : 17;  // five windows, two of them under way
      std::atomic<bool> stop{false};
      const Result part = run(
          o, [&](const Progress& p) { stop = interrupted && p.phase == "sampling" && p.done > 0; }, stop);
      EXPECT_EQ(part.interrupted, interrupted);
      EXPECT_TRUE(part.resumable);
      const std::int64_t made = part.summary.num_samples;
      o.num_samples = made + 23;
      o.resume = true;
      stop = false;
      EXPECT_EQ(run(o, {}, stop).summary.num_samples, made + 23);
      Options whole = o;
      whole.resume = false;
      whole.output = files.path("whole.nc");
      run(whole, {}, stop);
      EXPECT_EQ(draws_of(o), draws_of(whole));
    }
  EXPECT_TRUE(emulated::faults().empty());
}

// A graph holds addresses. What gave device memory back since, such as a target that made more room, ends it.
TEST_F(EmulatedWindows, AGraphIsCapturedOnceForAPhaseAndAnewWhenMemoryWasGivenBack) {
  Bench run(device(), "gad_mala_fast");
  DrawsBuffer<float> buffer = run.buffer();
  const auto stretch = [&] {
    run.begin(buffer);
    run.batches.take(buffer, room, run.reached);
  };
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
      DrawsBuffer<float> windows[] = {run.buffer(), run.buffer()};
      emulated::plant(mutant, which);
      for (int k = 0; k <= count; ++k) {
        if (k < count) run.begin(windows[k % 2]);
        if (k == 0) continue;
        run.batches.take(windows[(k + 1) % 2], room, run.reached);
        for (const float v : values(windows[(k + 1) % 2])) out.push_back(v);
      }
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
