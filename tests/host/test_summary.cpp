#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "diagnostics_series.hpp"
#include "host/frontend/summary_table.hpp"
#include "host/run/run_summary.hpp"
#include "host/statistics/ess.hpp"
#include "host/statistics/rhat.hpp"
#include "host/statistics/summary.hpp"

namespace kilochain {
namespace {

using test::Draws;

void expect_near(double ours, double theirs, std::int64_t n) { EXPECT_NEAR(ours, theirs, test::rounding(n, theirs)); }

TEST(Summary, AgreesWithKnownAnswers) {
  for (const auto& answer : test::known_answers("cases")) {
    SCOPED_TRACE(test::name_of_case(answer));
    const Draws<double> x = test::series_of_case(answer);
    const std::int64_t n = x.series().size();
    const ParameterSummary summary = summarise("x", x.series());
    EXPECT_NEAR(summary.mean, answer["mean"], test::rounding(n, answer["sd"]));
    expect_near(summary.sd, answer["sd"], n);
    expect_near(summary.q05, answer["q05"], n);
    EXPECT_NEAR(summary.q50, answer["q50"], test::rounding(n, answer["sd"]));
    expect_near(summary.q95, answer["q95"], n);
    expect_near(summary.mcse_mean, answer["mcse_mean"], n);
    expect_near(summary.ess_bulk, answer["ess_bulk"], n);
    expect_near(summary.ess_tail, answer["ess_tail"], n);
    if (x.chains > 1) expect_near(summary.rhat, answer["rhat"], n);
  }
}

/// The shared work gives what the single functions give.
TEST(Summary, IsTheSumOfItsParts) {
  for (const std::int64_t draws : {4, 5, 31, 33, 400}) {
    const Draws<double> x = test::mapped(test::sine_walk(0.7, 3, draws), "round");
    const ParameterSummary summary = summarise("x", x.series());
    EXPECT_EQ(summary.ess_bulk, ess_bulk(x.series()));
    EXPECT_EQ(summary.ess_tail, ess_tail(x.series()));
    EXPECT_EQ(summary.mcse_mean, mcse_mean(x.series()));
    expect_near(summary.rhat, rhat(x.series()), 3 * draws);
  }
}

TEST(Summary, ConstantBrokenAndShortSeries) {
  Draws<double> x(2, 10);
  for (double& v : x.values) v = 0.1;
  ParameterSummary summary = summarise("constant", x.series());
  EXPECT_EQ(summary.mean, 0.1);
  EXPECT_EQ(summary.sd, 0);
  EXPECT_EQ(summary.q95, 0.1);
  EXPECT_TRUE(std::isnan(summary.ess_bulk) && std::isnan(summary.ess_tail) && std::isnan(summary.rhat));
  x.at(1, 3) = std::nan("");
  EXPECT_TRUE(std::isnan(summarise("broken", x.series()).mean));
  summary = summarise("short", test::sine_walk(0.5, 2, 3).series());
  EXPECT_TRUE(std::isfinite(summary.mean) && std::isfinite(summary.q50) && std::isnan(summary.rhat));
}

/// [chain, draw, dim] with a quarantined chain left out is the same as each parameter of the other chains alone.
TEST(Summary, ManyParametersAtOnce) {
  constexpr std::int64_t kChains = 4, kDraws = 50, kDim = 3;
  const Draws<double> all = test::sine_walk(0.6, kChains, kDraws * kDim);
  const std::int64_t excluded[] = {1};
  const auto summaries = summarise_draws({"a", "b", "c"}, all.values.data(), kChains, kDraws, excluded);
  ASSERT_EQ(summaries.size(), 3u);
  for (std::int64_t d = 0; d < kDim; ++d) {
    Draws<double> one(kChains - 1, kDraws);
    for (std::int64_t k = 0; k < 3; ++k) {
      const std::int64_t c = k == 0 ? 0 : k + 1;
      for (std::int64_t i = 0; i < kDraws; ++i) one.at(k, i) = all.values[(c * kDraws + i) * kDim + d];
    }
    const ParameterSummary expected = summarise("x", one.series());
    EXPECT_EQ(summaries[d].mean, expected.mean);
    EXPECT_EQ(summaries[d].ess_bulk, expected.ess_bulk);
    EXPECT_EQ(summaries[d].rhat, expected.rhat);
  }
  EXPECT_EQ(summaries[2].name, "c");
}

ParameterSummary parameter(const std::string& name, double bulk, double tail, double rhat) {
  return {name, 1.25, 2.0, 0.01, -1, 0, 4, bulk, tail, rhat};
}

RunSummary run_of(std::vector<ParameterSummary> parameters) {
  RunSummary run;
  run.target = "neal_gaussian", run.sampler = "gad_mala_fast", run.device = "cpu", run.real = "double";
  run.num_chains = 10, run.num_warmup = 100, run.num_samples = 200;
  run.seconds_warmup = 1, run.seconds_sampling = 3, run.seconds_total = 4;
  run.gradient_evaluations = 3000;
  run.parameters = std::move(parameters);
  return run;
}

TEST(RunSummary, JsonHasExactlyTheKeysPromised) {
  RunSummary run = run_of({parameter("a", 100, 80, 1.002), parameter("b", 60, 90, 1.02), parameter("c", 70, 70, 1)});
  set_acceptance(run, {0.5, 0.6, 0.7});
  const nlohmann::json json = to_json(run);
  const auto keys = [](const nlohmann::json& object) {
    std::set<std::string> names;
    for (const auto& item : object.items()) names.insert(item.key());
    return names;
  };
  using Names = std::set<std::string>;
  EXPECT_EQ(keys(json), (Names{"target", "sampler", "device", "real", "num_chains", "num_warmup", "num_samples",
                               "seconds", "acceptance_rate", "gradient_evaluations", "ess", "min_ess_per_second",
                               "rhat_max", "quarantined", "parameters"}));
  EXPECT_EQ(keys(json["seconds"]), (Names{"warmup", "sampling", "total"}));
  EXPECT_EQ(keys(json["acceptance_rate"]), (Names{"mean", "q05", "q95"}));
  EXPECT_EQ(keys(json["ess"]), (Names{"min", "median", "max"}));
  EXPECT_EQ(keys(json["parameters"][0]),
            (Names{"name", "mean", "sd", "mcse_mean", "q05", "q50", "q95", "ess_bulk", "ess_tail", "rhat"}));
  EXPECT_EQ(json["ess"]["min"], 60);
  run.divergences = 3;
  EXPECT_EQ(to_json(run)["divergences"], 3);
  EXPECT_EQ(json["ess"]["median"], 70);
  EXPECT_EQ(json["ess"]["max"], 100);
  EXPECT_EQ(json["min_ess_per_second"], 15);
  EXPECT_EQ(json["rhat_max"], 1.02);
  EXPECT_DOUBLE_EQ(json["acceptance_rate"]["mean"], 0.6);
  EXPECT_DOUBLE_EQ(json["acceptance_rate"]["q05"], 0.51);
}

TEST(RunSummary, AParameterWithoutDiagnosticsIsNotOverlooked) {
  const double nan = std::nan("");
  const nlohmann::json json = to_json(run_of({parameter("a", 100, 80, 1.002), parameter("b", nan, nan, nan)}));
  EXPECT_TRUE(json["rhat_max"].is_null());
  EXPECT_TRUE(json["min_ess_per_second"].is_null());
  EXPECT_TRUE(json["parameters"][1]["ess_bulk"].is_null());
  EXPECT_NE(json.dump().find("null"), std::string::npos);
  EXPECT_TRUE(to_json(run_of({}))["ess"]["min"].is_null());
}

TEST(Table, WorstFirstAlignedAndCut) {
  std::vector<ParameterSummary> parameters = {parameter("good", 900, 900, 1), parameter("bad", 500, 20, 1.001),
                                              parameter("worse", 20, 500, 1.3), parameter("stuck", NAN, NAN, NAN)};
  const auto ordered = worst_first(parameters);
  EXPECT_EQ(ordered[0].name, "stuck");
  EXPECT_EQ(ordered[1].name, "worse");
  EXPECT_EQ(ordered[2].name, "bad");
  std::istringstream lines(format_table(parameters, 3));
  std::string header, line;
  std::getline(lines, header);
  EXPECT_EQ(header.find("variable"), 0u);
  for (int i = 0; i < 3; ++i) {
    std::getline(lines, line);
    EXPECT_EQ(line.size(), header.size());
  }
  std::getline(lines, line);
  EXPECT_EQ(line, "... 1 more, all at least as good");
  EXPECT_EQ(format_table(parameters).find("more"), std::string::npos);
}

TEST(RunSummary, TextTellsWhatMatters) {
  RunSummary run = run_of({parameter("a", 100, 80, 1.002)});
  set_acceptance(run, {0.5, 0.6, 0.7});
  run.quarantined = 2;
  run.warmup_converged = false;
  run.warmup_note = "1000 iterations were not enough";
  std::ostringstream out;
  print_summary(out, run);
  for (const char* part : {"gad_mala_fast on neal_gaussian", "has NOT converged: 1000 iterations", "5% 0.510",
                           "quarantined 2 of 10", "per second 20 with warm-up, 26.67 without", "ess_tail", "\na "}) {
    EXPECT_NE(out.str().find(part), std::string::npos) << part << "\n" << out.str();
  }
}

}  // namespace
}  // namespace kilochain
