#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "host/frontend/summary_table.hpp"
#include "host/frontend/text.hpp"
#include "host/run/run_summary.hpp"
#include "host/statistics/summary.hpp"

namespace kilochain {
namespace {

ParameterSummary parameter(const std::string& name, double bulk, double tail, double rhat) {
  return {name, 1.25, 2.0, 0.01, -1, 0, 4, bulk, tail, rhat};
}

RunSummary run_of(std::vector<ParameterSummary> parameters) {
  RunSummary run;
  run.target = "neal_gaussian", run.sampler = "gad_mala_fast", run.device = "cpu",
  run.real = Precision::double_precision;
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
  EXPECT_EQ(keys(json), (Names{"target",
                               "sampler",
                               "device",
                               "real",
                               "num_chains",
                               "num_warmup",
                               "num_samples",
                               "seconds",
                               "acceptance_rate",
                               "gradient_evaluations",
                               "ess",
                               "min_ess_per_second",
                               "rhat_max",
                               "superchains",
                               "quarantined",
                               "divergences",
                               "finished",
                               "parameters",
                               "converged",
                               "reason"}));
  EXPECT_EQ(json["divergences"], 0);
  EXPECT_EQ(json["converged"], false);  // b's R-hat
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

std::string text_of(const RunSummary& run) {
  std::ostringstream out;
  print_summary(out, run);
  return out.str();
}

TEST(RunSummary, WorkIsWhatTheSamplerAsksFor) {
  RunSummary run = run_of({parameter("a", 100, 80, 1.002)});
  EXPECT_NE(text_of(run).find("; 3000 gradient evaluations\n"), std::string::npos);
  run.sampler = "rwm";
  EXPECT_NE(text_of(run).find("; 3000 density evaluations\n"), std::string::npos);
  run.sampler = "gibbs";
  EXPECT_NE(text_of(run).find("; 3000 iterations of all chains together\n"), std::string::npos);
  run.sampler = "of_another_program";
  run.gradient_evaluations = 1;
  EXPECT_NE(text_of(run).find("; 1 gradient evaluation\n"), std::string::npos);
}

TEST(RunSummary, WhatIsNotKnownIsNotTold) {
  RunSummary run = run_of({});
  run.draws = KeptDraws::none;
  std::string text = text_of(run);
  EXPECT_NE(text.find("\ndraws       none were kept"), std::string::npos) << text;
  for (const char* part : {"nan", "rhat", "ESS", "variable"}) EXPECT_EQ(text.find(part), std::string::npos) << text;
  run = run_of({parameter("a", 100, 80, 1.002)});  // a run that was killed
  run.device.clear();
  run.seconds_total = run.seconds_warmup = run.seconds_sampling = NAN;
  text = text_of(run);
  EXPECT_NE(text.find("(double)\ntime        not known: the run did not come to its end\n"), std::string::npos) << text;
  EXPECT_NE(text.find("min ESS     80\n"), std::string::npos) << text;
  EXPECT_TRUE(to_json(run)["seconds"]["total"].is_null());
}

TEST(RunSummary, ChainsThatStandStill) {
  RunSummary run = run_of({parameter("a", 4, 4, 5.684e15)});
  run.divergences = 2000;
  const std::string text = text_of(run);
  for (const char* part : {"max rhat    5.684e+15  (not below 1.01", "  5.684e+15\n", " of 2000 draws (100 %)"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_EQ(verdict_of(run).reason, "R-hat of a is 5.684e+15, above 1.01");
}

TEST(RunSummary, FiguresWithoutPowersOfTen) {
  for (const auto& [value, text] : {std::pair{0.0951684, "0.0952"},
                                    {5.4611, "5.46"},
                                    {999.4, "999"},
                                    {246587.3, "246587"},
                                    {4.64e-5, "4.64e-05"},
                                    {2.5e12, "2.5e+12"}})
    EXPECT_EQ(cli::figure(value, 3), text);
  EXPECT_EQ(cli::figure(std::nan(""), 3), "nan");
}

TEST(RunSummary, CountsInWords) {
  RunSummary run = run_of({parameter("a", 100, 80, 1.002)});
  run.num_chains = 1;
  for (const auto& [thin, words] : {std::pair{2, "every 2nd kept"},
                                    {3, "every 3rd kept"},
                                    {11, "every 11th kept"},
                                    {21, "every 21st kept"},
                                    {100, "every 100th kept"}}) {
    run.thin = thin;
    EXPECT_NE(text_of(run).find(words), std::string::npos) << text_of(run);
  }
  EXPECT_NE(text_of(run).find(": 1 chain, 100 warm-up"), std::string::npos);
  EXPECT_NE(text_of(run).find("quarantined 0 of 1 chain\n"), std::string::npos);
  run.warmup_converged = false;
  run.warmup_note = "not converged after 20000 iterations: the chains disagree";
  EXPECT_NE(text_of(run).find("warm-up     has NOT converged after 20000 iterations: the chains disagree\n"),
            std::string::npos);
}

}  // namespace
}  // namespace kilochain
