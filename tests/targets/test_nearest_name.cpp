#include <gtest/gtest.h>

#include "targets/data/nearest_name.hpp"

namespace kilochain {
namespace {

const std::vector<std::string> samplers = {"rwm", "mala", "gad_rwm", "gad_mala_fast", "gad_mala_exact", "hmc"};

TEST(NearestName, FindsTheNameBehindASlip) {
  EXPECT_EQ(nearest_name("gad_mala_fats", samplers), "gad_mala_fast");  // a swap
  EXPECT_EQ(nearest_name("mal", samplers), "mala");                     // a letter missing
  EXPECT_EQ(nearest_name("gadrwm", samplers), "gad_rwm");
  EXPECT_EQ(nearest_name("hmmc", samplers), "hmc");  // a letter too many
  EXPECT_EQ(nearest_name("rvm", samplers), "rwm");   // a wrong letter
}

TEST(NearestName, ASwapCountsOnce) {
  // Two substitutions away from "ba" without swaps, which would tie with "xx" and lose to the earlier name.
  EXPECT_EQ(nearest_name("ab", {"xx", "ba"}), "ba");
}

TEST(NearestName, IgnoresCaseAndHyphens) {
  EXPECT_EQ(nearest_name("GAD-MALA-EXACT", samplers), "gad_mala_exact");
  EXPECT_EQ(nearest_name("num-chains", {"num_chain", "num_chains"}), "num_chains");
}

TEST(NearestName, TheFirstOfEquals) { EXPECT_EQ(nearest_name("x", {"a", "b"}), "a"); }

TEST(NearestName, EmptyWhenNothingIsKnown) {
  EXPECT_EQ(nearest_name("x", {}), "");
  EXPECT_EQ(nearest_name("", {"long_name", "s"}), "s");
}

}  // namespace
}  // namespace kilochain
