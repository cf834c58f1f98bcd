// kilochain tune as a user runs it: a whole small search, interrupted and resumed, and each wrong input.
#include <filesystem>
#include <sstream>

#include "tests/cli/program.hpp"

namespace kilochain {
namespace {

using namespace testing_support;
using Json = nlohmann::json;

Argv with(Argv words, const Argv& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}
/// Of a 3-dimensional Gaussian by HMC, in a folder of the test's.
Argv search(const std::string& folder, const Argv& more = {}) {
  return with({"tune", "--target", "gaussian_mixture", "--dim", "3", "--means", "0", "--sampler", "hmc", "--num-chains",
               "8", "--num-warmup", "100", "--trial-gradients", "800", "--over", "step_size=0.01:2:log,num_steps=1:8",
               "--output", folder},
              more);
}

/// The table without what a clock measured.
std::vector<Json> table(const ScratchFiles& files, const std::string& folder) {
  std::istringstream lines(files.read(folder + "/trials.jsonl"));
  std::vector<Json> out;
  for (std::string line; std::getline(lines, line);) {
    out.push_back(Json::parse(line));
    out.back().erase("seconds");
  }
  return out;
}

TEST(Tune, AWholeSearch) {
  ScratchFiles files;
  const Outcome o = kilochain(files, search(files.path("t"), {"--evaluations", "14", "--confirm", "2"}));
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_TRUE(contains(o.out, "best of 14 trials: step_size = ")) << o.out;
  EXPECT_TRUE(contains(o.out, " in 2 fresh trials; without tuning ")) << o.out;
  EXPECT_TRUE(contains(o.err, "tune     ") && contains(o.err, "ETA ")) << o.err;
  const auto rows = table(files, "t");
  ASSERT_EQ(rows.size(), 15u) << "a line for the search, and one a trial";
  EXPECT_EQ(rows[0]["search"]["over"], (Json{"step_size=0.01:2:log", "num_steps=1:8"}));
  for (std::size_t k = 1; k < rows.size(); ++k) {
    EXPECT_EQ(rows[k]["trial"], k - 1);
    EXPECT_GE(rows[k]["gradients"], 800);
    const double ess = std::min(rows[k]["ess_mean"].get<double>(), rows[k]["ess_square"].get<double>());
    EXPECT_EQ(rows[k]["score"], ess / rows[k]["gradients"].get<double>());
  }
  const Json surface = Json::parse(files.read("t/surface.json"));
  EXPECT_EQ(surface["slices"].size(), 1u);
  EXPECT_EQ(surface["slices"][0]["mean"].size(), 61u);
  EXPECT_EQ(surface["slices"][0]["sd"][0].size(), 8u) << "each number of steps once";
  // What it writes is what `sample` takes.
  const Outcome drawn = kilochain(files, {"sample", files.path("t/best.toml"), "--policy", files.path("t/policy.csv"),
                                          "--num-warmup", "50", "--num-samples", "200", "--json"});
  EXPECT_TRUE(drawn.status == 0 || drawn.status == 6) << drawn.err;
  EXPECT_EQ(Json::parse(drawn.out)["num_chains"], 8) << "as many as the trials had";
  EXPECT_EQ(Json::parse(drawn.out)["sampler"], "hmc");
  EXPECT_TRUE(contains(files.read("t/best.toml"), "step_rule = \"fixed\"")) << files.read("t/best.toml");
}

TEST(Tune, GoesOnWhereItsTableEnds) {
  ScratchFiles files;
  ASSERT_EQ(kilochain(files, search(files.path("whole"), {"--evaluations", "12", "--confirm", "0"})).status, 0);
  const auto whole = table(files, "whole");
  // Three whole lines, in the middle of a batch, and a piece of the fourth.
  std::istringstream lines(files.read("whole/trials.jsonl"));
  std::string begun, line;
  for (int k = 0; k < 4; ++k) std::getline(lines, line), begun += line + "\n";
  std::filesystem::create_directory(files.path("begun"));
  files.write("begun/trials.jsonl", begun + "{\"trial\":3,\"sett");
  const Outcome o = kilochain(files, search(files.path("begun"), {"--evaluations", "12", "--confirm", "0"}));
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(table(files, "begun"), whole);
  // More evaluations of the same search begin with those that were made.
  ASSERT_EQ(kilochain(files, search(files.path("begun"), {"--evaluations", "16", "--confirm", "0"})).status, 0);
  auto longer = table(files, "begun");
  ASSERT_EQ(longer.size(), 17u);
  longer.resize(whole.size());
  EXPECT_EQ(longer, whole);
}

TEST(Tune, InterruptedItSaysHowToGoOn) {
  ScratchFiles files;
  Program program(files, search(files.path("t"), {"--evaluations", "100000"}));
  ASSERT_TRUE(wait_until(program, [&] { return contains(files.read("t/trials.jsonl"), "\"trial\":5"); }))
      << program.err();
  program.send(SIGINT);
  EXPECT_EQ(program.wait(), 130) << program.err();
  EXPECT_TRUE(contains(program.err(), "interrupted: the same command resumes the search")) << program.err();
  EXPECT_GE(table(files, "t").size(), 7u);
  EXPECT_TRUE(std::filesystem::exists(files.path("t/best.toml")));
}

TEST(Tune, AnySamplersNumbersByOtherObjectives) {
  ScratchFiles files;
  for (const char* objective : {"ess_per_second", "autocorrelation"}) {
    const Outcome o = kilochain(files, {"tune",
                                        "--target",
                                        "gaussian_mixture",
                                        "--dim",
                                        "2",
                                        "--means",
                                        "0",
                                        "--sampler",
                                        "mala",
                                        "--over",
                                        "target_accept=0.1:0.95",
                                        "--objective",
                                        objective,
                                        "--evaluations",
                                        "5",
                                        "--batch",
                                        "2",
                                        "--num-chains",
                                        "4",
                                        "--num-warmup",
                                        "100",
                                        "--trial-warmup",
                                        "50",
                                        "--trial-gradients",
                                        "400",
                                        "--confirm",
                                        "0",
                                        "--covariance",
                                        "matern52",
                                        "--json",
                                        "--quiet",
                                        "--output",
                                        files.path(objective)});
    ASSERT_EQ(o.status, 0) << o.err;
    const Json j = Json::parse(o.out);
    EXPECT_EQ(j["trials"], 5);
    EXPECT_EQ(j["objective"], objective);
    EXPECT_TRUE(j["best"].contains("target_accept"));
    EXPECT_FALSE(std::filesystem::exists(files.path(std::string(objective) + "/policy.csv")))
        << "warm-up's settings cannot be drawn at every step";
  }
}

void refuses_over(const std::string& over, const std::string& text) {
  ScratchFiles files;
  expect_refusal(
      files, {"tune", "--target", "gaussian_mixture", "--sampler", "hmc", "--over", over, "--output", files.path("t")},
      2, text);
  EXPECT_FALSE(std::filesystem::exists(files.path("t")));
}
TEST(TuneBadInput, Boxes) {
  refuses_over("step_size=1:0.1",
               "the range of step_size is empty (step_size from 1 to 0.1). Its lower bound is above its upper one; try "
               "0.1:1?");
  refuses_over("step_size=0:1:log",
               "the range of step_size has no logarithm (step_size from 0 to 1). Raise the lower bound above 0, or "
               "leave out :log?");
  refuses_over(
      "step_size=a:1",
      "command line: --over step_size=a:1 (\"a\" is not a number). Write NAME=LOW:HIGH, or NAME=LOW:HIGH:log?");
  refuses_over("step_size=0.1",
               "command line: --over step_size=0.1 (a range is two numbers, and log or linear behind them). Write "
               "NAME=LOW:HIGH, or NAME=LOW:HIGH:log?");
  refuses_over("step_size",
               "command line: --over step_size (a setting and its range are needed). Write NAME=LOW:HIGH?");
  refuses_over("step_size=0.1:1,step_size=0.1:2", "step_size has two ranges (2 dimensions). Keep one?");
  refuses_over("num_steps=1:2.5", "command line: --over: hmc: num_steps = 2.5 (not a whole number). Try 2?");
  refuses_over("step_size=-1:1", "command line: --over: hmc: step_size = -1 (must be >= 0). Try 0?");
}
TEST(TuneBadInput, Settings) {
  refuses_over("stepsize=0.1:1",
               "command line: --over stepsize=0.1:1 (sampler hmc has no setting stepsize). Did you mean step_size?");
  refuses_over("mass=0:1",
               "command line: --over mass=0:1 (mass is no number: unit|diagonal|dense). Set it, and tune numbers?");
}
TEST(TuneBadInput, Flags) {
  ScratchFiles files;
  const Argv base = {"tune", "--target", "gaussian_mixture", "--sampler", "hmc", "--output", files.path("t")};
  expect_refusal(files, base, 2,
                 "command line: nothing to tune (--over is not given). Try --over NAME=LOW:HIGH? `kilochain samplers "
                 "NAME` lists the settings.");
  const Argv over = with(base, {"--over", "step_size=0.1:1"});
  expect_refusal(
      files, with(over, {"--num-samples", "10"}), 2,
      "command line: --num-samples is not for tune (trials have lengths of their own and keep nothing). Remove "
      "it? `kilochain tune --help` says more.");
  expect_refusal(files, with(over, {"--step-size", "0.3"}), 2,
                 "command line: step_size is set and tuned (step_size = 0.3, and --over step_size=0.1:1). Keep one?");
  expect_refusal(
      files, with(over, {"--objective", "ess"}), 2,
      "command line: --objective = ess (must be one of ess_per_gradient|ess_per_second|autocorrelation). Did "
      "you mean ess_per_second?");
  expect_refusal(files, with(over, {"--evaluations", "0"}), 2,
                 "command line: --evaluations = 0 (must be >= 1 and <= 100000). Try 1?");
  const Outcome unknown = kilochain(files, with(over, {"--evaluation", "3"}));
  EXPECT_EQ(unknown.status, 2);
  EXPECT_TRUE(contains(unknown.err, "command line: unknown flag --evaluation")) << unknown.err;
}
TEST(TuneBadInput, TablesOfOtherSearches) {
  ScratchFiles files;
  ASSERT_EQ(kilochain(files, search(files.path("t"), {"--evaluations", "2", "--confirm", "0"})).status, 0);
  const std::string path = files.path("t/trials.jsonl"), before = files.read("t/trials.jsonl");
  expect_refusal(files, search(files.path("t"), {"--evaluations", "2", "--batch", "3"}), 2,
                 path +
                     ": the table of another search (batch: 4 there, 3 here). Name another folder with --output, or "
                     "remove this one?");
  EXPECT_EQ(files.read("t/trials.jsonl"), before) << "nothing is lost";
  files.write("t/trials.jsonl", before + "{\"trial\":7}\n");
  expect_refusal(files, search(files.path("t")), 3,
                 path + ": a line that is no trial (line 4). Cut the file before that line, or remove it?");
  files.write("t/trials.jsonl", "step_size,score\n");
  expect_refusal(files, search(files.path("t")), 3,
                 path + ": not a table of trials (line 1). Name another folder with --output, or remove this one?");
}

}  // namespace
}  // namespace kilochain
