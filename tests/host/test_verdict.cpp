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
  EXPECT_EQ(j["converged"], reason.empty());
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
}

}  // namespace
}  // namespace kilochain
