// Target stan through libraries with BridgeStan's interface that are written by hand (tests/external/small_stan.cpp).
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "host/draws/draws_file.hpp"
#include "host/run/run.hpp"
#include "host/run/run_state.hpp"
#include "tests/support/runs.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::refusal;
using testing_support::run_quietly;
using testing_support::ScratchFiles;

std::string library(const std::string& name) { return KILOCHAIN_BINARY_DIR "/tests/libraries/" + name + ".so"; }

Options options(const std::string& data = "", const std::string& name = "small_stan") {
  Options o;
  o.target = "stan";
  o.target_settings = {{"model", library(name)}};
  if (!data.empty()) o.target_settings["data"] = data;
  o.sampler = "nuts";
  o.adapt_scope = Scope::chain;
  o.num_chains = 4;
  o.num_warmup = 300;
  o.num_samples = 500;
  o.seed = 3;
  o.keep_draws = true;
  return o;
}

const std::vector<std::string> names = {"mu",     "sigma",  "m[1,1]", "m[1,2]", "m[1,3]",
                                        "m[2,1]", "m[2,2]", "m[2,3]", "z",      "v"};

TEST(Stan, RecordsParametersAndWhatIsMadeOfThem) {
  const Result r = run_quietly(options());
  ASSERT_EQ(r.names, names);
  for (std::size_t k = 0; k < r.draws.size(); k += names.size()) {
    const double* const d = r.draws.data() + k;
    ASSERT_EQ(d[2], d[0]);  // m[1,1] is mu
    ASSERT_EQ(d[3], 12);
    ASSERT_EQ(d[5], 21);
    ASSERT_EQ(d[7], 23);
    ASSERT_NEAR(d[9], d[1] * d[1], 4 * 2.3e-16 * d[9]);
  }
  EXPECT_TRUE(r.notes.empty());
  EXPECT_TRUE(verdict_of(r.summary).converged) << verdict_of(r.summary).reason;  // constants are not judged
  EXPECT_EQ(r.summary.fixed, (std::vector<std::string>{"m[1,2]", "m[1,3]", "m[2,1]", "m[2,2]", "m[2,3]"}));
  const double mean[] = {1, 3};  // false alarm 1 in 8 000 for both
  for (int k = 0; k < 2; ++k)
    EXPECT_LT(std::abs(r.summary.parameters[k].mean - mean[k]), 4 * r.summary.parameters[k].mcse_mean);
}

TEST(Stan, ShapesAreInTheFile) {
  const ScratchFiles files;
  Options o = options();
  o.output = files.path("small.nc");
  run_quietly(o);
  const auto variables = DrawsReader(o.output).header().variables;
  ASSERT_EQ(variables.size(), 5u);
  EXPECT_EQ(variables[2].first, "m");
  EXPECT_EQ(variables[2].second, 6);
}

TEST(Stan, EachDrawHasRandomNumbersOfItsOwnHoweverItIsMade) {
  const ScratchFiles files;
  Options o = options();
  const Result whole = run_quietly(o);
  std::set<double> z;
  for (std::size_t k = 8; k < whole.draws.size(); k += names.size()) z.insert(whole.draws[k]);
  EXPECT_EQ(z.size(), 4u * 500u);
  o.threads = 1;
  EXPECT_EQ(run_quietly(o).draws, whole.draws);
  o.seed = 4;
  EXPECT_NE(run_quietly(o).draws[8], whole.draws[8]);
  o.seed = 3, o.num_samples = 200, o.output = files.path("small.nc");
  run_quietly(o);
  o.resume = read_run_state(o.output), o.num_samples = 500;
  run_quietly(o);
  std::vector<double> resumed;
  DrawsReader(o.output).read_parameters(8, 1, resumed);
  for (std::size_t k = 0; k < resumed.size(); ++k) ASSERT_EQ(resumed[k], whole.draws[k * names.size() + 8]);
}

TEST(Stan, RecordsParametersAlone) {
  Options o = options();
  o.target_settings["record"] = "parameters";
  EXPECT_EQ(run_quietly(o).names, (std::vector<std::string>{"mu", "sigma"}));
  o.target_settings["record"] = "transformed";
  EXPECT_EQ(run_quietly(o).names.size(), 8u);
}

TEST(Stan, AgreesInSinglePrecision) {
  Options o = options();
  o.real = Precision::single_precision;
  const Result r = run_quietly(o);
  EXPECT_LT(std::abs(r.summary.parameters[0].mean - 1), 4 * r.summary.parameters[0].mcse_mean);
}

TEST(Stan, RejectionsAreCountedWithTheFirstMessage) {
  const ScratchFiles files;
  Options o = options(files.write("d.json", "{\"does\": \"reject\"}"));
  o.init = "file:" + files.write("start.csv", "1,1\n");
  const Result r = run_quietly(o);
  ASSERT_EQ(r.notes.size(), 1u);
  EXPECT_NE(r.notes[0].find(" proposals were rejected where the density has no value; the first: "
                            "Exception: mu is negative (in 'small.stan', line 7)"),
            std::string::npos)
      << r.notes[0];
  for (std::size_t k = 0; k < r.draws.size(); k += names.size()) ASSERT_GE(r.draws[k], 0);
}

TEST(Stan, WhatALibraryThrowsIsARejection) {
  const ScratchFiles files;
  Options o = options(files.write("d.json", "{\"does\": \"throw\"}"));
  o.init = "file:" + files.write("start.csv", "1,1\n");
  const Result r = run_quietly(o);
  ASSERT_EQ(r.notes.size(), 1u);
  EXPECT_NE(r.notes[0].find("the first: it threw: mu is negative"), std::string::npos) << r.notes[0];
  for (std::size_t k = 0; k < r.draws.size(); k += names.size()) ASSERT_GE(r.draws[k], 0);
}

// Points that have no value stand among others, at the beginning and at the end of what is asked for at once.
TEST(Stan, ManyPointsInOneCallAreThePointsOneByOne) {
  const ScratchFiles files;
  for (const std::string what : {"nothing", "reject", "throw"})
    for (const char* const sampler : {"nuts", "hmc", "adaptive_metropolis"}) {
      Options one = options(files.write("d.json", "{\"does\": \"" + what + "\"}"));
      one.init = "file:" + files.write("start.csv", "1,1\n");
      one.sampler = sampler, one.num_chains = 37, one.num_samples = 100;
      Options many = one;
      many.target_settings["model"] = library("small_stan_of_many_points");
      const Result a = run_quietly(one), b = run_quietly(many);
      EXPECT_EQ(a.draws, b.draws) << what << ", " << sampler;
      EXPECT_EQ(a.notes, b.notes) << what << ", " << sampler;
    }
}

// A sixth of the mass lies where a call makes a million steps: in the warm-up none is made, and all draws are there.
TEST(Stan, DearCallsAreGivenUpInTheWarmUpAlone) {
  const ScratchFiles files;
  Options o = options(files.write("d.json", "{\"does\": \"dear\"}"));
  o.target_settings["model"] = library("small_stan_of_many_points");
  const Result r = run_quietly(o);
  ASSERT_EQ(r.notes.size(), 1u);
  EXPECT_NE(r.notes[0].find("the first: given up in the warm-up"), std::string::npos) << r.notes[0];
  EXPECT_LT(std::abs(r.summary.parameters[0].mean - 1), 4 * r.summary.parameters[0].mcse_mean);
}

TEST(Stan, FailedQuantitiesLeaveTheParameters) {
  const ScratchFiles files;
  const Result r = run_quietly(options(files.write("d.json", "{\"does\": \"fail\"}")));
  int failed = 0;
  for (std::size_t k = 0; k < r.draws.size(); k += names.size()) {
    ASSERT_EQ(std::isnan(r.draws[k + 8]), r.draws[k] > 2);
    ASSERT_FALSE(std::isnan(r.draws[k + 1]));
    failed += r.draws[k] > 2;
  }
  ASSERT_EQ(r.notes.size(), 1u);
  EXPECT_EQ(r.notes[0], std::to_string(failed) +
                            " draws have parameters alone: their other quantities failed; the first: Exception: z is "
                            "out of range (in 'small.stan', line 20)");
}

TEST(Stan, RefusesLibrariesOfAnotherKind) {
  EXPECT_EQ(refusal(options("", "none"), ExitStatus::usage),
            library("none") + ": no such library (the file is not there). Is the path right?");
  EXPECT_EQ(refusal(options("", "small_stan_without_construct"), ExitStatus::usage),
            library("small_stan_without_construct") +
                ": the library has no function bs_model_construct (dlsym finds none). Is it a Stan program's, made by "
                "`kilochain stan compile` or by BridgeStan 2?");
  EXPECT_EQ(refusal(options("", "small_stan_of_version_1"), ExitStatus::usage),
            library("small_stan_of_version_1") +
                ": the library has another interface version (BridgeStan 1, not 2). Compile the program again, with "
                "`kilochain stan compile` or BridgeStan 2?");
  const std::string no_room = refusal(options("", "small_stan_of_much_room"), ExitStatus::usage);
  EXPECT_NE(no_room.find("cannot allocate memory in static TLS block). This process has many compiled programs"),
            std::string::npos)
      << no_room;
  const ScratchFiles files;
  Options o = options();
  o.target_settings["model"] = files.write("text.so", "no library");
  EXPECT_NE(refusal(o, ExitStatus::usage).find("text.so: the library cannot be loaded ("), std::string::npos);
  o.target_settings.erase("model");
  EXPECT_EQ(refusal(o, ExitStatus::usage),
            "target stan has no program (model is not set). Give --model FILE.stan, or a library that was made of it?");
}

TEST(Stan, RefusesAnotherNumberOfParametersThanTheDataSay) {
  const ScratchFiles files;
  EXPECT_EQ(refusal(options(files.write("d.json", "{\"does\": \"more\"}")), ExitStatus::data),
            library("small_stan") +
                ": the library does not know how many parameters it has (11 values, 10 names, with these data). Are "
                "library and data of one program? Compile it again?");
}

TEST(Stan, ALibraryWithoutThreadsWantsOne) {
  Options o = options("", "small_stan_of_one_thread");
  o.threads = 2;
  EXPECT_EQ(refusal(o, ExitStatus::usage),
            library("small_stan_of_one_thread") +
                ": the library was compiled without STAN_THREADS (its density cannot be called by 2 threads side by "
                "side). Run with --threads 1, or compile it with STAN_THREADS=true?");
  o.threads = 1;
  EXPECT_EQ(run_quietly(o).draws_written, 500);
}

TEST(Stan, RefusedDataAreToldInStansWords) {
  const ScratchFiles files;
  const std::string path = files.write("d.json", "{\"bad\": 1}");
  EXPECT_EQ(refusal(options(path), ExitStatus::data),
            path +
                ": the Stan program does not take these data (Exception: variable does not exist; variable name=J (in "
                "'small.stan', line 2)). Are all of its data there?");
  EXPECT_NE(refusal(options(files.path("none.json")), ExitStatus::data).find("none.json: there is no such file ("),
            std::string::npos);
}

TEST(Stan, ADensityThatIsNeverANumberCannotStart) {
  const ScratchFiles files;
  EXPECT_NE(refusal(options(files.write("d.json", "{\"does\": \"nan\"}")), ExitStatus::data).find("starting point"),
            std::string::npos);
}

TEST(Stan, ACallThatDoesNotReturnIsTold) {
  const ScratchFiles files;
  Options o = options(files.write("d.json", "{\"does\": \"hang\"}"));
  o.target_settings["call_seconds"] = "0.3";
  EXPECT_EQ(refusal(o, ExitStatus::data),
            "the density of " + library("small_stan") +
                " has not returned (0.3 s, in its first call). Does it end? A longer limit is --call-seconds, and 0 is "
                "none");
}

TEST(Stan, PrintedWordsGoToStandardErrorAndEnd) {
  const ScratchFiles files;
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  run_quietly(options(files.write("d.json", "{\"does\": \"print\"}")));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  const std::string words = testing::internal::GetCapturedStderr();
  EXPECT_EQ(words.rfind("mu is known\nmu is known\n", 0), 0u);
  EXPECT_LT(words.size(), 5000u);
}

}  // namespace
}  // namespace kilochain
