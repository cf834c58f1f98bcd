// Runs that are stopped in their warm-up: what they leave, and that they go on with the bits of a run that was not
// stopped, wherever the stop was.
#include <gtest/gtest.h>

#include <cmath>

#include "host/draws/draws_file.hpp"
#include "host/report/advice.hpp"
#include "host/run/run_state.hpp"
#include "kilochain/run.hpp"
#include "tests/support/file_draws.hpp"
#include "tests/support/runs.hpp"
#include "tests/support/scratch_files.hpp"
#include "tests/support/stopping.hpp"

namespace kilochain {
namespace {

using testing_support::everything;
using testing_support::run_quietly;
using testing_support::ScratchFiles;
using testing_support::Stopping;

/// Stopped at call `n` of the density, and then resumed; returns how often that was in the warm-up, and -1 when
/// something was drawn before.
int stopped(Stopping& target, Options o, std::int64_t n) {
  target.calls = 0, target.at = n, target.stop = false;
  const Result first = run(o, nullptr, target.stop);
  target.at = -1, target.stop = false;
  if (!first.interrupted || !nothing_drawn(first)) return -1;
  EXPECT_TRUE(first.resumable);
  EXPECT_EQ(status_of(first), 130);
  o.resume = read_run_state(o.output);
  if (!o.resume) return -1;
  EXPECT_FALSE(run(o, nullptr, target.stop).interrupted);
  return resumes_warmup(o) ? 1 : 0;
}

Options options(const std::string& output, const char* sampler, std::optional<std::int64_t> num_warmup) {
  Options o;
  o.target = "mine";
  o.sampler = sampler;
  o.num_chains = 6;
  o.num_warmup = num_warmup;
  o.num_samples = 40;
  o.seed = 11;
  o.device = "cpu";
  o.threads = 1;
  o.output = output;
  return o;
}

/// Starting points.
std::string one_in_the_narrow_place(int chains) {
  std::string starts = "9,9,9\n";
  for (int chain = 1; chain < chains; ++chain) starts += std::to_string(chain % 3 - 1) + ",0.5,-0.5\n";
  return starts;
}

/// Stops at calls that lie ever farther apart, until one is after the warm-up.
Result expect_resumed_is_whole(const char* sampler, std::optional<std::int64_t> num_warmup, Scope scope,
                               const std::string& starts = "") {
  SCOPED_TRACE(std::string(sampler) + (num_warmup ? ", fixed, " : ", automatic, ") + name_of(scope));
  const ScratchFiles files;
  Stopping target;
  Options whole = options(files.path("whole.nc"), sampler, num_warmup);
  if (!starts.empty()) whole.num_chains = 16, whole.init = "file:" + files.write("starts.csv", starts);
  whole.adapt_scope = scope;
  Options part = whole;
  part.output = files.path("part.nc"), part.overwrite = true;
  const Result all = run_quietly(whole);
  int stops = 0;
  for (std::int64_t n = 5;; n += n / 2) {
    const int in_warmup = stopped(target, part, n);
    if (in_warmup < 0) break;
    stops += in_warmup;
    const RunSummary s = summarise_file(part.output);
    EXPECT_TRUE(everything(part.output) == everything(whole.output)) << "stopped at call " << n;
    EXPECT_EQ(s.num_warmup, all.summary.num_warmup) << n;
    EXPECT_EQ(s.gradient_evaluations, all.summary.gradient_evaluations) << n;
    EXPECT_EQ(s.warmup_note, all.summary.warmup_note) << n;
  }
  std::printf("%s: %d stops in a warm-up of %lld iterations\n", sampler, stops,
              static_cast<long long>(all.summary.num_warmup));
  EXPECT_GE(stops, scope == Scope::pooled ? 3 : 1);  // chains alone are stopped between pieces of some time
  return all;
}

TEST(StoppedWarmUp, OfGivenLengthGoesOnWithTheSameBits) {
  for (const Scope scope : {Scope::chain, Scope::pooled})
    for (const char* sampler : {"rwm", "gad_mala_fast", "nuts"}) expect_resumed_is_whole(sampler, 600, scope);
  expect_resumed_is_whole("ensemble_hmc", 300, Scope::pooled);
}

TEST(StoppedWarmUp, AutomaticGoesOnWithTheSameBits) {
  for (const char* sampler : {"gad_mala_fast", "nuts"}) expect_resumed_is_whole(sampler, {}, Scope::pooled);
  expect_resumed_is_whole("nuts", {}, Scope::chain);
}

TEST(StoppedWarmUp, OfTheDefaultGoesOnWithTheSameBits) { expect_resumed_is_whole("ensemble_hmc", {}, Scope::pooled); }

TEST(StoppedWarmUp, GoesOnWithTheSameBitsWhereAChainIsRelocated) {
  const Result r = expect_resumed_is_whole("ensemble_hmc", {}, Scope::pooled, one_in_the_narrow_place(16));
  EXPECT_NE(r.summary.warmup_note.find("1 chain stood"), std::string::npos) << r.summary.warmup_note;
}

/// Stopped, and stopped again in what was resumed.
TEST(StoppedWarmUp, GoesOnMoreThanOnce) {
  const ScratchFiles files;
  Stopping target;
  Options whole = options(files.path("whole.nc"), "ensemble_hmc", {}), part = whole;
  part.output = files.path("part.nc");
  run_quietly(whole);
  const std::int64_t calls = target.calls;
  int times = 0;
  for (Result r;; ++times) {
    target.calls = 0, target.at = calls / 6, target.stop = false;
    r = run(part, nullptr, target.stop);
    if (!r.interrupted || !nothing_drawn(r)) break;
    part.resume = read_run_state(part.output);
  }
  EXPECT_GE(times, 3);
  target.at = -1, target.stop = false;
  if (const auto state = read_run_state(part.output); state->iterations < 40) {
    part.resume = state;
    run_quietly(part);
  }
  EXPECT_TRUE(everything(part.output) == everything(whole.output));
}

/// The last draws are in the file, marked as what they are, and everybody who looks at it says so.
TEST(StoppedWarmUp, LeavesItsLastDraws) {
  for (const char* sampler : {"rwm", "gad_mala_fast", "ensemble_hmc"})
    for (const bool save_warmup : {false, true}) {
      SCOPED_TRACE(std::string(sampler) + (save_warmup ? ", statistics" : ""));
      const ScratchFiles files;
      Stopping target;
      Options o =
          options(files.path("draws.nc"), sampler, save_warmup ? std::optional<std::int64_t>(100000) : std::nullopt);
      o.save_warmup = save_warmup;
      target.at = std::string(sampler) == "ensemble_hmc" ? 5000 : 900;
      const Result r = run(o, nullptr, target.stop);
      ASSERT_TRUE(r.summary.last_of_warmup) << r.summary.warmup_note;
      const LastOfWarmup& last = *r.summary.last_of_warmup;
      EXPECT_GE(last.draws, 4);
      EXPECT_LE(last.to, r.summary.num_warmup);
      EXPECT_FALSE(last.of_scouts);
      EXPECT_EQ(r.draws_written, 0);
      ASSERT_EQ(r.summary.parameters.size(), 3u);
      EXPECT_TRUE(std::isfinite(r.summary.parameters[0].rhat));
      if (!save_warmup) {
        EXPECT_NE(verdict_of(r.summary).reason.find("interrupted"), std::string::npos) << verdict_of(r.summary).reason;
      }
      EXPECT_EQ(DrawsReader(o.output).draws_written(), 0);
      const Diagnosis d = diagnose(o.output);
      ASSERT_TRUE(d.run.last_of_warmup);
      EXPECT_EQ(d.run.last_of_warmup->draws, last.draws);
      EXPECT_EQ(d.run.last_of_warmup->to, last.to);
      EXPECT_EQ(d.chains.size(), 6u);
      EXPECT_EQ(d.run.stuck_chains, r.summary.stuck_chains);
      EXPECT_EQ(d.run.parameters[1].rhat, r.summary.parameters[1].rhat);
      EXPECT_EQ(verdict_of(d.run).reason, verdict_of(r.summary).reason);
      EXPECT_NE(next_step(d).advice.find("`kilochain resume FILE`"), std::string::npos);
      EXPECT_NEAR(d.run.acceptance_mean, r.summary.acceptance_mean, 1e-6);
    }
}

TEST(StoppedWarmUp, AmongItsScoutsLeavesTheirs) {
  const ScratchFiles files;
  Stopping target;
  Options o = options(files.path("draws.nc"), "ensemble_hmc", {});
  o.num_chains = 40;
  o.init = "file:" + files.write("starts.csv", one_in_the_narrow_place(40));  // so that no normal law fits
  target.at = 3000;
  const Result r = run(o, nullptr, target.stop);
  ASSERT_TRUE(r.summary.last_of_warmup);
  EXPECT_TRUE(r.summary.last_of_warmup->of_scouts);
  EXPECT_EQ(diagnose(o.output).chains.size(), 16u);
}

}  // namespace
}  // namespace kilochain
