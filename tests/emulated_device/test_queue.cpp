// How the host and the device go side by side (host/chains/cuda_queue.cuh, host/run/ensemble.cpp): the device never
// runs dry before a run ends, the host never gets far ahead, and each event of theirs that is left out is found out.
#include "host/run/relocate.hpp"
#include "host/run/warmup.hpp"
#include "tests/emulated_device/fixture.hpp"
#include "tests/emulated_device/window_bench.hpp"
#include "tests/gpu/bench.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using EmulatedQueue = EmulatedDevice;
/// Rounds that the host queues one by one, in which the target is a kernel of its own.
Context in_rounds(Context c) {
  c.fuse = c.graphs = false;
  return c;
}
constexpr emulated::Mutant events[] = {emulated::Mutant::event_record, emulated::Mutant::event_wait};

// A sampler that asks often, where no graph loops: how many chains wait is read behind an event, a round late. Only the
// last record of a stretch has nobody who waits for it.
TEST_F(EmulatedQueue, AnEventOfTheLateCounterThatIsForgottenIsFoundOut) {
  constexpr int stretches = 3;
  const Context rounds = in_rounds(device());
  const auto drawn = [&](emulated::Mutant mutant, std::int64_t which) {
    try {
      Bench<float> chains(rounds, "nuts", Case{"gauss2d_corr", 2}, 3, Scope::chain,
                          {{"max_tree_depth", "3"}, {"step_size", "0.2"}});
      chains.start();
      emulated::plant(mutant, which);
      for (int k = 0; k < stretches; ++k) chains.run(2, false);
      return chains.outcome().saved;
    } catch (const Error&) {  // the fault says why
      return std::vector<char>{};
    }
  };
  for (const std::uint64_t seed : {1, 2}) {  // what was not waited for is NaN, or what it was before
    emulated::set_seed(seed);
    const std::vector<char> right = drawn(emulated::Mutant::none, 0);
    ASSERT_FALSE(right.empty());
    ASSERT_TRUE(emulated::faults().empty()) << emulated::faults()[0];
    for (const auto mutant : events) {
      int unseen = 0;
      std::int64_t k = 1;
      for (;; ++k) {
        const std::vector<char> wrong = drawn(mutant, k);
        if (!emulated::struck()) break;
        unseen += emulated::faults().empty() && wrong == right;
        emulated::forget_faults();
      }
      EXPECT_GT(k, 2 * stretches);
      EXPECT_EQ(unseen, mutant == emulated::Mutant::event_record ? stretches : 0)
          << "of " << k - 1 << ", seed " << seed;
      emulated::forget_faults();
    }
  }
}

// Rounds without a graph, two launches each: at most twice Throttle's number of them are queued.
TEST_F(EmulatedQueue, AnEventOfTheThrottleThatIsForgottenLetsTheHostRunTooFarAhead) {
  constexpr std::int64_t rounds = 512;  // of cuda::Throttle
  Context context = device();
  context.graphs = context.fuse = false;
  const auto most_ahead = [&](emulated::Mutant mutant, std::int64_t which) {
    Bench<float> chains(context, "rwm", Case{"gauss2d_corr", 2}, 1, Scope::chain);
    chains.start();
    synchronize(context);
    emulated::forget_faults();
    emulated::plant(mutant, which);
    chains.run(3 * rounds + 100, false);
    const std::int64_t most = emulated::counters().most_ahead;
    synchronize(context);
    return most;
  };
  emulated::set_seed(0);  // nothing runs but what is waited for
  const std::int64_t right = most_ahead(emulated::Mutant::none, 0);
  EXPECT_LE(right, 2 * (2 * rounds) + 8);
  EXPECT_GT(right, 2 * rounds) << "far enough that the device never waits";
  for (const auto mutant : events) {
    int unseen = 0;
    std::int64_t k = 1;
    for (;; ++k) {
      const std::int64_t most = most_ahead(mutant, k);
      if (!emulated::struck()) break;
      unseen += most <= right;
    }
    EXPECT_EQ(k - 1, mutant == emulated::Mutant::event_record ? 3 : 2);
    EXPECT_EQ(unseen, mutant == emulated::Mutant::event_record ? 1 : 0) << "the last record has nobody who waits";
  }
}

// A warm-up is cut into pieces, so that progress is told. Their records are read while the next piece is under way: no
// wait of the host finds the device idle but the last, nothing is pageable, and each piece is one copy behind one
// event.
TEST_F(EmulatedQueue, RecordsAreReadWithoutStoppingTheStream) {
  for (const bool whole : {false, true})  // iterations in one kernel, or rounds
    for (const bool adapting : {false, true}) {
      Context context = device();
      context.fuse = whole;
      WindowBench run(context, "gad_mala_fast");
      run.segment.schedule.adapting = adapting;
      run.segment.scope = run.options.adapt_scope;
      run.reached = run.chains.run(run.segment, run.reached, run.reached + 2);  // whatever is made at first
      emulated::set_seed(0);
      run.reporter.took(1, 1e4);  // short pieces
      const auto before = emulated::counters();
      const std::int64_t until = run.reached + 12;
      ASSERT_EQ(run.chains.run(run.segment, run.reached, until), until);
      const auto after = emulated::counters();
      SCOPED_TRACE(testing::Message() << (whole ? "whole iterations" : "rounds") << (adapting ? ", pooled" : ""));
      EXPECT_GE(after.copies - before.copies, 8) << "pieces";
      EXPECT_EQ(after.dry_waits - before.dry_waits, 1) << "of " << after.synchronisations - before.synchronisations;
      EXPECT_EQ(after.events - before.events, after.copies - before.copies);
      EXPECT_EQ(after.pageable_copies, before.pageable_copies);
      EXPECT_EQ(after.allocations, before.allocations);
      EXPECT_TRUE(emulated::faults().empty());
      emulated::set_seed(1);
    }
}

// Inside a stretch of a sampler that asks often, too: the host waits for the round before while the next is queued.
TEST_F(EmulatedQueue, TheLateCounterLeavesTheDeviceWork) {
  emulated::set_seed(0);
  const Context rounds = in_rounds(device());
  Bench<float> chains(rounds, "nuts", Case{"gauss2d_corr", 2}, 3, Scope::chain,
                      {{"max_tree_depth", "3"}, {"step_size", "0.2"}});
  chains.start();
  chains.run(2, false);
  const auto before = emulated::counters();
  chains.run(20, false);
  const auto after = emulated::counters();
  EXPECT_GT(after.synchronisations - before.synchronisations, 20);
  EXPECT_EQ(after.dry_waits, before.dry_waits);
  EXPECT_EQ(after.pageable_copies, before.pageable_copies);
  EXPECT_EQ(after.allocations, before.allocations);
  chains.outcome();
}

// Chains that accept nothing are moved to the density by NUTS, all of a device's at once: as many launches for 70 as
// for 6. Nobody's way depends on how many go along.
TEST_F(EmulatedQueue, ManyChainsAreRelocatedAtOnce) {
  const testing_support::ScratchFiles files;
  const auto relocated = [&](std::int64_t num_chains, std::vector<float>& to) {
    Options o = WindowBench::of("rwm", 0);
    o.num_chains = num_chains;
    o.target = "gaussian_mixture", o.target_settings = {{"dim", "2"}, {"means", "0"}};
    o.num_warmup = {};
    Reporter reporter;
    const std::atomic<bool> never{false};
    const auto target = make_target<float>(device(), o.target, o.target_settings);
    Ensemble<float> chains(device(), *target, setup_of(o), reporter, never);
    chains.start([&](Index first, Index count) { return StartingPoints<float>(o, 2).of(first, count); });
    OutputFile file(o, target->info(), Precision::single_precision);
    const Phases<float> run{o, device(), *target, chains, file, reporter, never};
    const std::vector<double> accepted(static_cast<std::size_t>(num_chains), 0);  // nobody did
    const auto before = emulated::counters();
    EXPECT_EQ(relocate<float>(run, accepted).chains, num_chains);
    to = chains.first_positions();
    EXPECT_EQ(relocation_of(o, device(), target->info(), Precision::single_precision).chains, num_chains);
    const Estimate e = estimate_for(o, device(), target->info(), Precision::single_precision);
    EXPECT_TRUE(std::any_of(e.rows.begin(), e.rows.end(),
                            [](const auto& row) { return row.what == "chains that are relocated"; }));
    return emulated::counters().launches - before.launches;
  };
  std::vector<float> few, many;
  const std::int64_t of_few = relocated(6, few), of_many = relocated(70, many);
  // Pieces follow the clock: at most one for each of the 100 iterations, with three launches, and some to begin.
  EXPECT_LT(std::max(of_few, of_many), 3 * 100 + 20);
  many.resize(few.size());
  EXPECT_EQ(few, many);
}

}  // namespace
}  // namespace kilochain
