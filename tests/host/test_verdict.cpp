// When a run is called converged, and what is said when it is not.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "host/run/run_summary.hpp"

namespace kilochain {
namespace {

RunSummary with_rhats(const std::vector<double>& rhats) {
  RunSummary run;
  for (std::size_t k = 0; k < rhats.size(); ++k) {
    run.parameters.emplace_back();
    run.parameters.back().name = "x[" + std::to_string(k) + "]";
    run.parameters.back().rhat = rhats[k];
  }
  return run;
}

void expect_reason(const RunSummary& run, const std::string& reason) {
  const Verdict verdict = verdict_of(run);
  EXPECT_EQ(verdict.reason, reason);
  EXPECT_EQ(verdict.converged, reason.empty());
  const auto j = to_json(run);
  if (verdict.judged) {
    EXPECT_EQ(j["converged"], reason.empty());
  }
  EXPECT_EQ(j["converged"].is_null(), !verdict.judged);
  EXPECT_EQ(j.contains("reason"), !reason.empty());
}

TEST(Verdict, TheWorstRhatDecides) {
  expect_reason(with_rhats({1, 1.0099, 1.01}), "");
  expect_reason(with_rhats({1.2, 1.011, 1.3, 1}), "R-hat of x[2] is 1.3000, above 1.01");
  expect_reason(with_rhats({1, INFINITY}), "R-hat of x[1] is inf, above 1.01");
}

TEST(Verdict, AnUnknownRhatIsWorseThanAnyOther) {
  const std::string text = " has no R-hat: fewer than 4 draws of each chain, or draws that are all equal";
  expect_reason(with_rhats({1, NAN, 3}), "x[1]" + text);
  expect_reason(with_rhats({7, 1, NAN, NAN}), "x[2]" + text);
}

TEST(Verdict, AGeneratedConstantIsNotJudged) {
  RunSummary run = with_rhats({1, NAN});
  run.parameters[1].mean = 3, run.parameters[1].sd = 0;
  EXPECT_FALSE(verdict_of(run).converged);  // a coordinate that stands still
  run.derived = true;
  expect_reason(run, "");
  run.parameters[1].sd = 1;
  EXPECT_FALSE(verdict_of(run).converged);
  run.parameters[1].mean = NAN;  // undefined in some draws, or in all
  EXPECT_FALSE(verdict_of(run).converged);
  run.fixed = {"x[1]"};
  expect_reason(run, "");
  run.parameters[1].rhat = 1.02;  // one that the model was thought to hold fixed
  EXPECT_FALSE(verdict_of(run).converged);
}

TEST(Verdict, TheWarmUpCountsAlone) {
  RunSummary run = with_rhats({1});
  run.warmup_converged = false;
  run.warmup_note = "not converged after 20000 iterations: the sampler still learns";
  expect_reason(run, "the warm-up has not converged after 20000 iterations: the sampler still learns");
  run.warmup_note.clear();
  run.parameters[0].rhat = 2;
  expect_reason(run, "the warm-up has not converged; R-hat of x[0] is 2.0000, above 1.01");
}

TEST(Verdict, NothingDrawnIsNotConvergedUnlessNothingWasToBeKept) {
  RunSummary run;
  expect_reason(run, "nothing was drawn");
  run.draws = KeptDraws::none;
  expect_reason(run, "");
  EXPECT_FALSE(verdict_of(run).judged);
  run.warmup_converged = true;  // an automatic one: there is something to judge
  expect_reason(run, "");
  EXPECT_TRUE(verdict_of(run).judged);
}

TEST(Verdict, ChainsThatAcceptNothingAreTold) {
  RunSummary run = with_rhats({1});
  run.num_chains = 64, run.quarantined = 2;
  std::vector<double> acceptance(62, 0.8);
  set_acceptance(run, acceptance);
  expect_reason(run, "");
  acceptance[3] = 0, acceptance[4] = 1e-4, acceptance[5] = 0.01;
  set_acceptance(run, acceptance);
  expect_reason(run, "2 of 62 chains accepted nothing");
}

// R-hat of chains that agree is sqrt(1 + 2 / e) for e effective draws of each.
TEST(Verdict, ShortChainsThatAgreeAreToldHowManyDrawsAreNeeded) {
  RunSummary run = with_rhats({1.0}), disagree;
  run.num_chains = 1000, run.num_samples = 100, run.thin = 2;
  ParameterSummary& p = run.parameters[0];
  p.ess_bulk = 25e3, p.ess_tail = 30e3;  // 25 of 50
  p.rhat = std::sqrt(1 + 2.0 / 25);
  expect_reason(
      run,
      "R-hat of x[0] is 1.0392, above 1.01, as that of so short chains must be: about 300 draws of each are needed");
  EXPECT_EQ(verdict_of(run).draws_wanted, 300);
  p.rhat = 1.06;  // more than their shortness explains
  expect_reason(run, "R-hat of x[0] is 1.0600, above 1.01");
  p.rhat = 1.2, p.ess_bulk = 3e3;  // few effective draws, because the chains disagree
  expect_reason(run, "R-hat of x[0] is 1.2000, above 1.01");
  p.rhat = 1.0392, p.ess_bulk = NAN;
  expect_reason(run, "R-hat of x[0] is 1.0392, above 1.01");
}

}  // namespace
}  // namespace kilochain
