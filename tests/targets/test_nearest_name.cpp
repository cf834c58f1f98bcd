#include <gtest/gtest.h>

#include "base/nearest_name.hpp"

namespace kilochain {
namespace {

const std::vector<std::string> samplers = {"rwm", "mala", "gad_rwm", "gad_mala_fast", "gad_mala_exact", "hmc"};

TEST(NearestName, FindsTheNameBehindASlip) {
  EXPECT_EQ(near_name("gad_mala_fats", samplers), "gad_mala_fast");  // a swap
  EXPECT_EQ(near_name("mal", samplers), "mala");                     // a letter missing
  EXPECT_EQ(near_name("gadrwm", samplers), "gad_rwm");
  EXPECT_EQ(near_name("hmmc", samplers), "hmc");  // a letter too many
  EXPECT_EQ(near_name("rvm", samplers), "rwm");   // a wrong letter
}

TEST(NearestName, ASwapCountsOnce) {
  // Two substitutions away from "ba" without swaps, which would tie with "xx" and lose to the earlier name.
  EXPECT_EQ(near_name("ab", {"xx", "ba"}), "ba");
}

TEST(NearestName, IgnoresCaseAndHyphens) {
  EXPECT_EQ(near_name("GAD-MALA-EXACT", samplers), "gad_mala_exact");
  EXPECT_EQ(near_name("num-chains", {"num_chain", "num_chains"}), "num_chains");
}

TEST(NearestName, WholeWordsAreNearerThanASlip) {
  EXPECT_EQ(near_name("chains", {"thin", "chain", "num_chains"}), "num_chains");
  EXPECT_EQ(near_name("samples", {"sampler", "num_samples"}), "num_samples");
  EXPECT_EQ(near_name("warmup", {"matmul", "num_warmup", "save_warmup"}), "num_warmup");
  EXPECT_EQ(near_name("hain", {"rain", "num_chains"}), "rain");  // a part of a word is none
  EXPECT_EQ(near_name("chains", {"num_chains", "chains"}), "chains");
}

TEST(NearestName, NoGuessWhereMostLettersDiffer) {
  EXPECT_EQ(near_name("burnin", {"init", "thin"}), "");
  EXPECT_EQ(near_name("tyop", {"typo", "thin"}), "typo");
  EXPECT_EQ(near_name("hcm", samplers), "hmc");
  EXPECT_EQ(near_name("", {"long_name", "s"}), "");
  EXPECT_EQ(near_name("x", {"a"}), "");
  for (const char* unknown : {"lotka", "hmm", "purchased", "linear_regression"})
    EXPECT_EQ(near_name(unknown, {"banana", "rbm", "income", "logistic_regression"}), "") << unknown;
  EXPECT_EQ(near_name("logistc_regresion", {"banana", "logistic_regression"}), "logistic_regression");
  EXPECT_EQ(near_name("regression", {"banana", "logistic_regression"}), "logistic_regression");
  EXPECT_EQ(did_you_mean("--jsn", {"--json", "--help"}, "no guess"), "Did you mean --json?");
  EXPECT_EQ(did_you_mean("--seed", {"--json", "--help"}, "no guess"), "no guess");
}

TEST(NearestName, TheFirstOfEquals) { EXPECT_EQ(near_name("ax", {"a", "x"}), "a"); }

TEST(NearestName, EmptyWhenNothingIsKnown) { EXPECT_EQ(near_name("x", {}), ""); }

}  // namespace
}  // namespace kilochain
