// Densities that are C functions, of this program and of a shared library, and models by their class with data in
// memory.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "examples/posteriors/eight_schools.hpp"
#include "kilochain/run.hpp"
#include "tests/support/runs.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::refusal;
using testing_support::run_quietly;
using testing_support::ScratchFiles;

std::string library() { return KILOCHAIN_BINARY_DIR "/tests/libraries/small_density.so"; }

Options options(const std::string& target, const char* sampler = "nuts") {
  Options o;
  o.target = target;
  o.sampler = sampler;
  o.adapt_scope = Scope::chain;
  o.num_chains = 4;
  o.num_warmup = 200;
  o.num_samples = 400;
  o.device = "cpu";
  o.keep_draws = true;
  return o;
}
Options of_library(const std::string& function, bool chains = false) {
  Options o = options("shared_library");
  o.target_settings = {{"library", library()}, {"function", function}, {"dim", "3"}};
  if (chains) o.target_settings["batched"] = "yes";
  return o;
}

/// x[i] ~ N(i, 1): 4.5 standard errors are a false alarm once in 150 000 times.
void expect_means(const Result& r) {
  ASSERT_EQ(r.summary.parameters.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    const ParameterSummary& p = r.summary.parameters[i];
    EXPECT_LT(std::abs(p.mean - i), 4.5 * p.mcse_mean) << p.name;
  }
}

/// A start has a density 3 times in 10: 64 first draws all have one once in 1e33 runs,
/// a hundred of one chain none as often.
TEST(OwnTarget, StartsWithoutADensityAreDrawnAgain) {
  FunctionDensity f;
  f.one = [](size_t, const double* x, double* gradient, double* lp, void*) {
    *lp = -x[0] * x[0] / 2, gradient[0] = -x[0];
    return x[0] < 0.5 ? 1 : 0;
  };
  f.dim = 1;
  const OwnTarget half("half", f);
  for (const char* sampler : {"rwm", "ensemble_hmc"}) {
    Options o = options(half.name(), sampler);
    o.num_chains = 64;
    if (o.sampler == "ensemble_hmc") o.adapt_scope = Scope::pooled;
    const Result r = run_quietly(o);
    EXPECT_EQ(r.quarantined.size(), 0u) << sampler;
    for (const double x : r.draws) ASSERT_GE(x, 0.5);
  }
}

TEST(SharedLibrary, RunsAFunction) {
  const ScratchFiles files;
  Options o = of_library("log_density");
  o.target_settings["names"] = files.write("names.txt", "alpha\nbeta\n gamma \n\n");
  const Result r = run_quietly(o);
  expect_means(r);
  EXPECT_EQ(r.names[1], "beta");
  EXPECT_TRUE(r.notes.empty());
  ASSERT_EQ(r.lp.size(), 1600u);
  for (std::size_t k = 0; k < r.lp.size(); ++k) {
    double lp = 0;
    for (int i = 0; i < 3; ++i) lp -= (r.draws[3 * k + i] - i) * (r.draws[3 * k + i] - i) / 2;
    ASSERT_EQ(r.lp[k], lp);
  }
  EXPECT_EQ(r.statistics.at("acceptance_rate").size(), 1600u);
}

TEST(SharedLibrary, OneCallForAllChainsGivesTheSameDraws) {
  const Result one = run_quietly(of_library("log_density")), all = run_quietly(of_library("chains", true));
  EXPECT_EQ(one.draws, all.draws);
  EXPECT_EQ(run_quietly(of_library("moody")).draws, run_quietly(of_library("moody_chains", true)).draws);
  Options o = of_library("chains", true);
  o.real = Precision::single_precision;
  expect_means(run_quietly(o));
}

TEST(SharedLibrary, PointsWithoutAValueAreRejectedAndCounted) {
  Options o = of_library("moody");
  o.init = "zeros";
  const Result r = run_quietly(o);
  for (std::size_t k = 0; k < r.draws.size(); k += 3) ASSERT_LE(r.draws[k], 1);
  ASSERT_EQ(r.notes.size(), 1u);
  EXPECT_NE(r.notes[0].find("the first: it returned 7"), std::string::npos) << r.notes[0];
}

/// One normal start in six is refused.
TEST(SharedLibrary, StartsWithoutAValueAreDrawnAgain) {
  for (const char* sampler : {"rwm", "nuts", "ensemble_hmc"}) {
    Options o = of_library("moody");
    o.sampler = sampler, o.num_chains = 64, o.num_samples = 20;
    if (sampler == std::string(ensemble_sampler)) o.adapt_scope = Scope::pooled;
    const Result r = run_quietly(o);
    EXPECT_EQ(r.summary.quarantined, 0) << sampler;
    for (std::size_t k = 0; k < r.draws.size(); k += 3) ASSERT_LE(r.draws[k], 1) << sampler;
    o.chain_batch_size = 16;
    if (sampler == std::string("rwm")) {
      EXPECT_EQ(run_quietly(o).draws, r.draws);
    }
  }
}

TEST(SharedLibrary, Refusals) {
  EXPECT_EQ(refusal(of_library("other"), ExitStatus::usage),
            library() +
                ": the library has no function other (dlsym finds none). Is it exported, under that name, as C has "
                "it? --function names another");
  Options o = of_library("log_density");
  o.target_settings.erase("dim");
  EXPECT_EQ(
      refusal(o, ExitStatus::usage),
      library() + ": the density has no coordinates (dim is not set). Give --dim, the number of its coordinates?");
  const ScratchFiles files;
  o.target_settings["dim"] = "3";
  o.target_settings["names"] = files.write("names.txt", "alpha\nbeta\n");
  EXPECT_EQ(refusal(o, ExitStatus::usage),
            library() + ": the wrong number of names (2 names, dim is 3). Give one name for each coordinate?");
  o = of_library("chains");
  o.target_settings["batched"] = "device";
  EXPECT_EQ(refusal(o, ExitStatus::usage),
            library() + ": the density is for a CUDA device (this run is on the CPU). Run with --device cuda?");
  for (const char* never : {"none", "nan_density"})
    EXPECT_NE(refusal(of_library(never), ExitStatus::data).find("starting point"), std::string::npos) << never;
}

TEST(SharedLibrary, AFirstCallThatDoesNotReturnIsAnError) {
  for (const bool batched : {false, true}) {
    Options o = of_library(batched ? "hanging_chains" : "hang", batched);
    o.target_settings["call_seconds"] = "0.3";
    EXPECT_EQ(refusal(o, ExitStatus::data),
              "the density of " + library() +
                  " has not returned (0.3 s, in its first call). Does it end? A longer limit is --call-seconds, and 0 "
                  "is none");
  }
}

int throws(std::size_t n, const double* x, double* gradient, double* lp, void*) {
  if (x[0] > 1) throw std::runtime_error("too far");
  *lp = 0;
  for (std::size_t i = 0; i < n; ++i) *lp -= x[i] * x[i] / 2, gradient[i] = -x[i];
  return 0;
}

TEST(OwnTarget, AFunctionThatThrowsRejects) {
  FunctionDensity f;
  f.one = throws, f.dim = 2;
  const OwnTarget mine("mine", f);
  Options o = options("mine", "barker");
  o.init = "zeros";
  const Result r = run_quietly(o);
  ASSERT_EQ(r.notes.size(), 1u);
  EXPECT_NE(r.notes[0].find("the first: it threw: too far"), std::string::npos) << r.notes[0];
}

TEST(OwnTarget, IsThereWhileItLives) {
  FunctionDensity f;
  f.one = throws, f.dim = 2;
  {
    const OwnTarget mine("mine", f);
    EXPECT_EQ(find_target("mine").name, "mine");
    EXPECT_THROW(OwnTarget("mine", f), Error);
    EXPECT_THROW(OwnTarget("gaussian", f), Error);
  }
  EXPECT_THROW(find_target("mine"), Error);
}

TEST(OwnTarget, AModelByItsClassWithDataInMemory) {
  const auto schools = OwnTarget::of<EightSchools>("schools", [](Loader& at) {
    return EightSchools::Data{at.put("y", {28, 8, -3, 7, -1, 1, 18, 12}),
                              at.put("sigma", {15, 10, 16, 11, 9, 11, 10, 18})};
  });
  Options o = options("schools");
  o.num_samples = 2000;
  const Result r = run_quietly(o);
  const auto& mu = *std::find_if(r.summary.parameters.begin(), r.summary.parameters.end(),
                                 [](const ParameterSummary& p) { return p.name == "mu"; });
  EXPECT_LT(std::abs(mu.mean - 4.4), 4.5 * mu.mcse_mean + 0.05);  // posteriordb: 4.4 to a digit
}

/// Does not return before it may.
struct Waiting {
  std::atomic<bool> may{false};
  static int density(std::size_t, const double*, double*, double*, void* self) {
    while (!static_cast<Waiting*>(self)->may) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return 1;
  }
};

TEST(OwnTarget, HasALimitOfSecondsForACall) {
  const auto waiting = std::make_shared<Waiting>();
  FunctionDensity f;
  f.one = Waiting::density, f.user_data = waiting.get(), f.dim = 2, f.keeps = waiting;
  const OwnTarget mine("mine", f);
  Options o = options("mine");
  o.target_settings["call_seconds"] = "0.2";
  EXPECT_NE(refusal(o, ExitStatus::data).find("has not returned (0.2 s, in its first call)"), std::string::npos);
  waiting->may = true;
}

/// Asks for a stop at the 20th call. Each takes 4 ms.
struct SlowAndStopping {
  std::atomic<int> calls{0};
  std::atomic<bool> stop{false};
  static int density(std::size_t n, const double* x, double* gradient, double* lp, void* self) {
    auto& me = *static_cast<SlowAndStopping*>(self);
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    if (++me.calls == 20) me.stop = true;
    *lp = 0;
    for (std::size_t i = 0; i < n; ++i) *lp -= x[i] * x[i] / 2, gradient[i] = -x[i];
    return 0;
  }
};

TEST(OwnTarget, AStopDoesNotWaitForTheEndOfALongTrajectory) {
  for (const Scope scope : {Scope::chain, Scope::pooled}) {
    SlowAndStopping slow;
    FunctionDensity f;
    f.one = SlowAndStopping::density, f.user_data = &slow, f.dim = 2;
    const OwnTarget mine("mine", f);
    Options o = options("mine", "hmc");
    o.adapt_scope = scope;
    o.sampler_settings = {{"num_steps", "5000"}};
    const Result r = run(o, nullptr, slow.stop);
    EXPECT_TRUE(r.interrupted);
    EXPECT_EQ(r.draws_written, 0);
    EXPECT_LT(slow.calls, 5000);  // one trajectory of one of the four chains
  }
}

TEST(OwnTarget, TwoRunsAtOnceDoNotDisturbEachOther) {
  FunctionDensity f;
  f.one = throws, f.dim = 2;
  const OwnTarget mine("mine", f);
  const Options a = options("mine"), b = of_library("log_density");
  const Result alone_a = run_quietly(a), alone_b = run_quietly(b);
  Result beside_a, beside_b;
  std::thread other([&] { beside_b = run_quietly(b); });
  beside_a = run_quietly(a);
  other.join();
  EXPECT_EQ(beside_a.draws, alone_a.draws);
  EXPECT_EQ(beside_b.draws, alone_b.draws);
  EXPECT_EQ(beside_a.notes, alone_a.notes);
}

}  // namespace
}  // namespace kilochain
