// Whole runs of the program: what stands on standard output, on standard error, in the file, and in the exit status.
#include <pty.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>

#include "host/frontend/progress_printer.hpp"
#include "host/registry/registry.hpp"
#include "tests/cli/program.hpp"

namespace kilochain {
namespace {

using namespace testing_support;
using nlohmann::json;

Argv small(const Argv& more) {
  Argv words = {"sample", "--target",     "gaussian",     "--preset",      "gauss2d_corr", "--num-chains",
                "8",      "--num-warmup", "50",           "--num-samples", "100",          "--threads",
                "1",      "--sampler",    "gad_mala_fast"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

constexpr int not_converged = 6;  ///< of 100 draws a chain: R-hat exceeds 1.01 by their shortness alone

/// What a second run may change is taken out.
json without_times(json j) {
  j.erase("seconds");
  j.erase("min_ess_per_second");
  return j;
}

TEST(Sample, PrintsTheSummaryAndWhereTheDrawsAre) {
  ScratchFiles files;
  const std::string path = files.path("draws.nc");
  const Outcome run = kilochain(files, small({"--output", path}));
  EXPECT_EQ(run.status, not_converged) << run.err;
  EXPECT_TRUE(contains(run.out, "not converged: R-hat of ")) << run.out;
  for (const std::string& words : {std::string("gad_mala_fast on gaussian: 8 chains, 50 warm-up + 100 samples"),
                                   std::string("x[0]"), std::string("x[1]"), "draws: " + path})
    EXPECT_TRUE(contains(run.out, words)) << words << "\n" << run.out;
  EXPECT_TRUE(contains(run.err, "warm-up") && contains(run.err, "sampling")) << run.err;
  EXPECT_FALSE(contains(run.err, "\r")) << "a line that is written over is for terminals";
  const Outcome again = kilochain(files, {"summary", path});
  EXPECT_EQ(again.status, not_converged) << again.err;
  EXPECT_TRUE(contains(again.out, "x[1]")) << again.out;
}

TEST(Sample, QuietSaysNothingOnStandardError) {
  ScratchFiles files;
  const Outcome run = kilochain(files, small({"--quiet"}));
  EXPECT_EQ(run.status, not_converged);
  EXPECT_EQ(run.err, "");
  EXPECT_TRUE(contains(run.out, "x[1]"));
}

TEST(Sample, JsonIsOneObjectWithExactlyTheseKeys) {
  ScratchFiles files;
  const std::string path = files.path("draws.nc");
  const Outcome run = kilochain(files, small({"--json", "--verbose", "--output", path}));
  ASSERT_EQ(run.status, not_converged) << run.err;
  const json j = json::parse(run.out);
  EXPECT_EQ(keys_of(j), (Argv{"acceptance_rate",
                              "converged",
                              "device",
                              "divergences",
                              "ess",
                              "finished",
                              "gradient_evaluations",
                              "min_ess_per_second",
                              "num_chains",
                              "num_samples",
                              "num_warmup",
                              "parameters",
                              "quarantined",
                              "real",
                              "reason",
                              "rhat_max",
                              "sampler",
                              "seconds",
                              "superchains",
                              "target"}));
  EXPECT_EQ(keys_of(j["seconds"]), (Argv{"sampling", "total", "warmup"}));
  EXPECT_EQ(keys_of(j["acceptance_rate"]), (Argv{"mean", "q05", "q95"}));
  EXPECT_EQ(keys_of(j["ess"]), (Argv{"max", "median", "min"}));
  ASSERT_EQ(j["parameters"].size(), 2u);
  EXPECT_EQ(keys_of(j["parameters"][0]),
            (Argv{"ess_bulk", "ess_tail", "mcse_mean", "mean", "name", "q05", "q50", "q95", "rhat", "sd"}));
  EXPECT_EQ(j["target"], "gaussian");
  EXPECT_EQ(j["sampler"], "gad_mala_fast");
  EXPECT_EQ(j["num_chains"], 8);
  EXPECT_EQ(j["num_warmup"], 50);
  EXPECT_EQ(j["num_samples"], 100);
  EXPECT_EQ(j["quarantined"], 0);
  EXPECT_EQ(j["converged"], false);
  EXPECT_TRUE(contains(j["reason"], "above 1.01")) << j["reason"];
  for (const char* words : {"configuration", "evaluation: ", "total"})
    EXPECT_TRUE(contains(run.err, words)) << words << " missing in " << run.err;
  const Outcome again = kilochain(files, {"summary", path, "--json"});
  ASSERT_EQ(again.status, not_converged) << again.err;
  EXPECT_EQ(keys_of(json::parse(again.out)), keys_of(j));
  EXPECT_EQ(json::parse(again.out)["parameters"], j["parameters"]) << "the run summarises as the file is summarised";
}

TEST(Sample, AConvergedRunSaysSo) {
  ScratchFiles files;
  const Outcome run = kilochain(files, {"sample", "--target", "gaussian", "--preset", "gauss2d_corr", "--num-chains",
                                        "8", "--num-warmup", "200", "--num-samples", "2000", "--json"});
  EXPECT_EQ(run.status, 0) << run.err << run.out;
  const json j = json::parse(run.out);
  EXPECT_EQ(j["converged"], true);
  EXPECT_FALSE(j.contains("reason"));
}

TEST(Sample, AnUnknownRhatIsNotConverged) {
  ScratchFiles files;
  const Outcome run = kilochain(files, {"sample", "--target", "gaussian", "--preset", "gauss2d_corr", "--num-chains",
                                        "8", "--num-warmup", "200", "--num-samples", "3", "--json"});
  EXPECT_EQ(run.status, not_converged) << run.err;
  EXPECT_EQ(json::parse(run.out)["reason"],
            "x[0] has no R-hat: fewer than 4 draws of each chain, or draws that are all equal");
}

TEST(Sample, TomlGivesTheSameRunAsFlags) {
  ScratchFiles files;
  const std::string toml = files.write(
      "a.toml",
      "num_chains = 8\nnum_warmup = 50\nnum_samples = 100\nthreads = 1\nseed = 5\njson = true\nquiet = true\n"
      "[target]\nname = \"gaussian\"\npreset = \"gauss2d_corr\"\n[sampler]\nname = \"gad_mala_fast\"\ntarget_accept = "
      "0.5\n");
  const Outcome a = kilochain(files, small({"--seed", "5", "--json", "--quiet", "--target-accept", "0.5"})),
                b = kilochain(files, {"sample", toml}), c = kilochain(files, {"sample", toml, "--seed", "6"});
  ASSERT_EQ(a.status + b.status + c.status, 3 * not_converged) << a.err << b.err << c.err;
  EXPECT_EQ(without_times(json::parse(a.out)), without_times(json::parse(b.out)));
  EXPECT_NE(without_times(json::parse(b.out)), without_times(json::parse(c.out))) << "a flag must override the file";
}

TEST(Sample, ChallengerWithEveryDefault) {
  ScratchFiles files;
  const Outcome run = kilochain(files, {"sample", "--target", "logistic_regression", "--data",
                                        KILOCHAIN_SOURCE_DIR "/data/challenger.csv", "--json"});
  ASSERT_EQ(run.status, 0) << run.err;
  const json j = json::parse(run.out);
  EXPECT_EQ(j["sampler"], "ensemble_hmc");
  EXPECT_EQ(j["parameters"].size(), 3u);
  EXPECT_LT(j["rhat_max"].get<double>(), 1.01);
}

TEST(Sample, QuarantinedChainsGiveStatus4) {
  ScratchFiles files;
  // exp(-|x|^2/2) is zero in double beyond 1e154: chain 1 starts where there is no density.
  const std::string start = files.write("start.csv", "0,0\n1e200,0\n0,1\n1,0\n0,0\n1,1\n0,0.5\n0.5,0\n");
  const Outcome run = kilochain(files, small({"--init", "file:" + start, "--output", files.path("draws.nc")}));
  EXPECT_EQ(run.status, 4) << run.err;
  EXPECT_EQ(kilochain(files, {"summary", files.path("draws.nc")}).status, 4);
  EXPECT_TRUE(contains(run.out, "quarantined: chain 1 at iteration 0: ")) << run.out;
  EXPECT_TRUE(contains(run.out, "quarantined 1 of 8 chains")) << run.out;
}

TEST(Sample, CtrlCEndsCleanlyAndTheFileIsReadable) {
  for (const int signal_number : {SIGINT, SIGTERM}) {
    ScratchFiles files;
    const std::string path = files.path("draws.nc");
    Program program(files,
                    {"sample", "--target", "gaussian", "--preset", "gauss2d_corr", "--num-chains", "4", "--num-warmup",
                     "100", "--num-samples", "100000000", "--thin", "100", "--threads", "1", "--output", path});
    ASSERT_TRUE(wait_until(program, [&] { return contains(program.err(), "sampling"); })) << program.err();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // some draws
    program.send(signal_number);
    EXPECT_EQ(program.wait(), 130) << program.err();
    EXPECT_TRUE(contains(program.out(), "interrupted")) << program.out();
    EXPECT_TRUE(contains(program.out(), "x[1]")) << program.out();
    const Outcome again = kilochain(files, {"summary", path, "--json"});
    ASSERT_TRUE(again.status == 0 || again.status == not_converged) << again.err;  // as the time has allowed
    const json j = json::parse(again.out);
    EXPECT_GT(j["num_samples"].get<std::int64_t>(), 0);
    EXPECT_LT(j["num_samples"].get<std::int64_t>(), 100000000);
    EXPECT_TRUE(j["parameters"][0]["mean"].is_number());
  }
}

TEST(Sample, CtrlCInTheWarmUp) {
  ScratchFiles files;
  Program program(files, {"sample", "--target", "gaussian", "--preset", "gauss2d_corr", "--num-chains", "4",
                          "--num-warmup", "1000000000", "--num-samples", "10", "--threads", "1", "--json"});
  ASSERT_TRUE(wait_until(program, [&] { return contains(program.err(), "warm-up"); })) << program.err();
  program.send(SIGINT);
  EXPECT_EQ(program.wait(), 130) << program.err();
  EXPECT_EQ(json::parse(program.out())["num_samples"], 0);
}

TEST(Sample, CtrlCInTheWarmUpSaysThatNothingWasDrawn) {
  for (const char* kept : {"all", "moments"}) {
    const bool all = kept == std::string("all");
    ScratchFiles files;
    const std::string path = files.path("draws.nc");
    Program program(files,
                    {"sample", "--target", "gaussian", "--preset", "gauss2d_corr", "--num-chains", "4", "--num-warmup",
                     "1000000000", "--num-samples", "10", "--threads", "1", "--draws", kept, "--output", path});
    ASSERT_TRUE(wait_until(program, [&] { return times_said(program, "warm-up") >= 2; })) << program.err();
    program.send(SIGINT);
    EXPECT_EQ(program.wait(), 130) << program.err();
    EXPECT_TRUE(contains(program.out(), "interrupted after ") && contains(program.out(), ": nothing was drawn"))
        << program.out();
    EXPECT_TRUE(contains(program.out(), "What follows is of the last ")) << program.out();
    const Outcome again = kilochain(files, {"summary", path});
    EXPECT_EQ(again.status, all ? 6 : 3);
    if (all) {
      EXPECT_TRUE(contains(again.out, "in its warm-up: nothing was drawn")) << again.out;
      const json j = json::parse(kilochain(files, {"summary", path, "--json"}).out);
      EXPECT_EQ(j["parameters"].size(), 0u);
      EXPECT_EQ(j["last_of_warmup"]["parameters"].size(), 2u);
      const Outcome looked = kilochain(files, {"diagnose", path});
      EXPECT_EQ(looked.status, 6);
      EXPECT_TRUE(contains(looked.out, "These are its last draws, not of the posterior")) << looked.out;
    } else {
      EXPECT_EQ(again.out, "");
      EXPECT_TRUE(contains(again.err, "kilochain: " + path + ": nothing was drawn (")) << again.err;
    }
  }
}

TEST(Sample, MomentsAreSummarisedAgainAlike) {
  ScratchFiles files;
  const std::string path = files.path("moments.nc");
  const Outcome run = kilochain(files, small({"--json", "--draws", "moments", "--output", path})),
                again = kilochain(files, {"summary", path, "--json"});
  ASSERT_EQ(run.status, not_converged) << run.err;
  ASSERT_EQ(again.status, not_converged) << again.err;
  EXPECT_EQ(json::parse(again.out), json::parse(run.out));
}

/// Every target that is registered, so that one whose variables have a shape of their own is not forgotten.
TEST(Sample, EveryTargetWritesItsDraws) {
  ScratchFiles files;
  const std::string classes = files.write("classes.csv", "a,b,kind\n1,2,x\n2,1,y\n3,5,z\n4,4,x\n"),
                    labels = files.write("labels.csv", "a,b,y\n1,2,0\n2,1,1\n3,5,0\n4,4,1\n"),
                    weights = files.write("weights.csv", "0.5,-1,2\n1,0.25,0\n"),
                    edges = files.write("edges.csv", "i,j,J\n0,1,1\n1,2,-1\n"), output = files.path("draws.nc");
  const std::map<std::string, Argv> needed = {
      {"gaussian", {"--preset", "gauss2d_corr"}},
      {"logistic_regression", {"--data", labels}},
      {"softmax_regression", {"--data", classes}},
      {"linear_regression", {"--data", labels}},
      {"poisson_regression", {"--data", labels}},
      {"negative_binomial_regression", {"--data", labels}},
      {"stan", {"--model", KILOCHAIN_BINARY_DIR "/tests/libraries/small_stan.so"}},
      {"shared_library", {"--library", KILOCHAIN_BINARY_DIR "/tests/libraries/small_density.so", "--dim", "2"}},
      {"ising", {"--size", "2x3"}},
      {"rbm", {"--weights", weights}},
      {"spin_glass", {"--couplings", edges}}};
  for (const TargetEntry& entry : targets()) {
    Argv words = {
        "sample",   "--target",      entry.name,     "--sampler", entry.family == Family::spins ? "gibbs" : "barker",
        "--output", output,          "--num-chains", "4",         "--num-warmup",
        "20",       "--num-samples", "30",           "--thin",    "4",
        "--json",   "--overwrite"};
    if (const auto more = needed.find(entry.name); more != needed.end())
      words.insert(words.end(), more->second.begin(), more->second.end());
    const Outcome run = kilochain(files, words), again = kilochain(files, {"summary", output, "--json"});
    EXPECT_TRUE(run.status == 0 || run.status == 6) << entry.name << ": " << run.err;
    ASSERT_EQ(again.status, run.status) << entry.name << ": " << again.err;
    for (const char* key : {"parameters", "num_samples"})
      EXPECT_EQ(json::parse(again.out)[key], json::parse(run.out)[key]) << entry.name << " " << key;
  }
}

TEST(Sample, WhatADensityPrintsIsNoResultAndOneThatHangsIsLeft) {
  ScratchFiles files;
  const auto run = [&](const std::string& function, const Argv& more) {
    Argv words = {"sample",
                  "--target",
                  "shared_library",
                  "--library",
                  KILOCHAIN_BINARY_DIR "/tests/libraries/small_density.so",
                  "--function",
                  function,
                  "--dim",
                  "2",
                  "--call-seconds",
                  "0.3",
                  "--num-samples",
                  "30",
                  "--quiet",
                  "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return kilochain(files, words);
  };
  const Argv few = {"--num-chains", "4"};
  const Outcome talks = run("talking", few);
  EXPECT_TRUE(json::accept(talks.out)) << talks.out;
  EXPECT_EQ(talks.err.rfind("here I am\nhere I am\n", 0), 0u) << talks.err;
  for (const Argv& more : {few, Argv{}}) {  // first called in the run, or timed before it
    const Outcome hangs = run("hang", more);
    EXPECT_EQ(hangs.status, 3);
    EXPECT_EQ(hangs.out, "");
    EXPECT_NE(hangs.err.find("small_density.so has not returned (0.3 s, in its first call)"), std::string::npos)
        << hangs.err;
  }
}

TEST(Sample, ReplacesDrawsOnlyWhereItIsTold) {
  ScratchFiles files;
  const std::string path = files.path("draws.nc");
  ASSERT_EQ(kilochain(files, small({"--output", path})).status, not_converged);
  const std::string before = files.read("draws.nc");
  expect_refusal(files, small({"--quiet", "--output", path}), 2,
                 path +
                     ": a file of draws is there already (100 draws of each chain). Go on with it by `kilochain "
                     "resume " +
                     path + "`, or replace it with --overwrite?");
  EXPECT_TRUE(files.read("draws.nc") == before);
  EXPECT_EQ(kilochain(files, small({"--output", path, "--seed", "9", "--overwrite"})).status, not_converged);
  EXPECT_FALSE(files.read("draws.nc") == before);
}

TEST(Sample, FullStandardOutputIsStatus5) {
  EXPECT_EQ(std::system("'" KILOCHAIN_BINARY_DIR "/kilochain' info > /dev/full 2> /dev/null") / 256, 5);
}

TEST(Sample, OnATerminalProgressIsOneLine) {
  int terminal = -1;
  winsize size{24, 60, 0, 0};
  const pid_t pid = forkpty(&terminal, nullptr, nullptr, &size);
  if (pid < 0) GTEST_SKIP() << "no pseudo-terminal can be had here: " << std::strerror(errno);
  if (pid == 0) {
    execl(KILOCHAIN_BINARY_DIR "/kilochain", "kilochain", "sample", "--target", "gaussian", "--preset", "gauss2d_corr",
          "--num-chains", "4", "--num-warmup", "100", "--num-samples", "1000", "--threads", "1", nullptr);
    _exit(127);
  }
  std::string seen;
  char bytes[4096];
  for (ssize_t n; (n = read(terminal, bytes, sizeof bytes)) > 0;) seen.append(bytes, static_cast<std::size_t>(n));
  int raw = 0;
  waitpid(pid, &raw, 0);
  close(terminal);
  EXPECT_TRUE(WIFEXITED(raw) && (WEXITSTATUS(raw) == 0 || WEXITSTATUS(raw) == not_converged)) << seen;
  const std::size_t line = seen.find("\rwarm-up");
  ASSERT_NE(line, std::string::npos) << seen;
  const std::size_t end = seen.find("\033[K", line);
  ASSERT_NE(end, std::string::npos);
  EXPECT_LT(end - line - 1, 60u) << "it must not wrap";
  EXPECT_FALSE(contains(seen.substr(line, end - line), "\n"));
  EXPECT_TRUE(contains(seen, "\r\033[K")) << "the line is cleared in the end";
}

TEST(Sample, ProgressOfAnAutomaticWarmUpHasARangeOfTime) {
  Progress p;
  p.phase = "warm-up", p.done = 2000, p.iterations_per_second = 100, p.waits_for = "the chains disagree";
  p.rhat_max = p.ess_min = NAN;
  EXPECT_EQ(cli::progress_text(p), "warm-up  2000  100 it/s  ETA up to 3 min 00 s  accept 0.000  the chains disagree");
  p.waits_for = "16 scouts";
  EXPECT_FALSE(contains(cli::progress_text(p), "ETA"));
  p.seconds_left = 12;
  EXPECT_TRUE(contains(cli::progress_text(p), "ETA up to 12 s"));
}

TEST(Estimate, FitsOrSaysWhatWould) {
  ScratchFiles files;
  const Outcome fits = kilochain(files, {"estimate", "--target", "gaussian", "--preset", "gauss2d_corr", "--num-warmup",
                                         "10", "--num-samples", "10"});
  EXPECT_EQ(fits.status, 0) << fits.err;
  for (const char* words : {"bytes", "host", "time    about", "It fits."})
    EXPECT_TRUE(contains(fits.out, words)) << words << "\n" << fits.out;
  const Argv large = {"--target",     "gaussian", "--preset",      "neal_gaussian", "--num-chains", "1000000",
                      "--num-warmup", "10",       "--num-samples", "100000000",     "--output",     files.path("a.nc")};
  Argv words = large;
  words.insert(words.begin(), "estimate");
  const Outcome no = kilochain(files, words);
  EXPECT_EQ(no.status, 2) << no.err;
  EXPECT_TRUE(contains(no.out, "DOES NOT FIT") && contains(no.out, "It does not fit.") &&
              contains(no.out, "--draws moments"))
      << no.out;
  words.push_back("--json");
  const json j = json::parse(kilochain(files, words).out);
  EXPECT_FALSE(j["fits"].get<bool>());
  EXPECT_GT(j["bytes"]["disk"].get<double>(), 1e15);
  words.pop_back();
  words[0] = "sample";
  EXPECT_EQ(kilochain(files, words).status, 2);
}

/// A file is as large as was told: within 1.3 times, data, states and summaries included.
TEST(Estimate, TheFileIsAsLargeAsTold) {
  ScratchFiles files;
  std::string table;
  for (int j = 0; j < 40; ++j) table += "c" + std::to_string(j) + ",";
  table += "y\n";
  for (int i = 0; i < 2000; ++i) {
    for (int j = 0; j < 40; ++j) table += std::to_string((i * 7 + j * 13) % (11 + j)) + ",";
    table += std::to_string(i * i % 7 % 2) + "\n";
  }
  const std::string data = files.write("d.csv", table);
  const std::string challenger = testing_support::source_folder() + "/data/challenger.csv";
  const std::vector<Argv> runs = {
      {"--target", "logistic_regression", "--data", data, "--sampler", "gad_mala_fast", "--num-chains", "32"},
      {"--target", "softmax_regression", "--data", data, "--sampler", "mala", "--num-chains", "4", "--real", "float"},
      {"--target", "logistic_regression", "--data", challenger, "--sampler", "nuts", "--num-chains", "100"},
      {"--target", "banana", "--sampler", "nuts", "--num-chains", "500", "--draws", "moments"},
      {"--target", "linear_regression", "--data", challenger, "--groups", "pressure_psi", "--sampler", "hmc",
       "--num-chains", "64"},
      {"--target", "gaussian", "--target.preset", "gp51_gaussian", "--sampler", "hmc", "--num-chains", "256"}};
  for (std::size_t k = 0; k < runs.size(); ++k) {
    Argv words = runs[k];
    const std::string name = std::to_string(k) + ".nc";
    for (const char* more : {"--num-warmup", "20", "--num-samples", "60", "--output"}) words.push_back(more);
    words.push_back(files.path(name));
    words.push_back("--json");
    words.insert(words.begin(), "estimate");
    const Outcome told = kilochain(files, words);
    ASSERT_EQ(told.status, 0) << told.err;
    words[0] = "sample";
    kilochain(files, words);
    const double size = static_cast<double>(files.read(name).size()),
                 ratio = size / json::parse(told.out)["bytes"]["disk"].get<double>();
    std::printf("run %zu: %.0f bytes, %.2f times what was told\n", k, size, ratio);
    EXPECT_GT(ratio, 1 / 1.3) << k;
    EXPECT_LT(ratio, 1.3) << k;
  }
}

/// A small run is mostly the program and its libraries.
TEST(Estimate, TheMemoryIsAsMuchAsTold) {
  ScratchFiles files;
  const Argv run = {"--target",      "banana",    "--sampler",    "mala", "--num-chains", "8",
                    "--num-samples", "100000000", "--num-warmup", "10",   "--threads",    "1"};
  for (const Argv& kept : {Argv{"--draws", "none"}, Argv{"--thin", "100000", "--output", files.path("a.nc")}}) {
    Argv words = run;
    words.insert(words.end(), kept.begin(), kept.end());
    words.insert(words.begin(), "estimate");
    words.push_back("--json");
    const double told = json::parse(kilochain(files, words).out)["bytes"]["host"].get<double>();
    words[0] = "sample", words.pop_back();
    Program program(files, words);
    ASSERT_TRUE(wait_until(program, [&] { return times_said(program, "sampling") >= 2; })) << program.err();
    std::ifstream status("/proc/" + std::to_string(program.pid()) + "/status");
    double taken = 0;
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmHWM:")) taken = std::stod(line.substr(6)) * 1024;
    std::printf("%.1f MB, told %.1f\n", taken / 1e6, told / 1e6);
    EXPECT_GT(taken, told / 1.3) << kept[0];
    EXPECT_LT(taken, told * 1.3) << kept[0];
  }
}

/// Of an automatic length a range is told, which has what comes out.
TEST(Estimate, OfAnAutomaticLengthIsARange) {
  ScratchFiles files;
  const std::string challenger = testing_support::source_folder() + "/data/challenger.csv";
  for (const Argv& run : {Argv{"--target", "logistic_regression", "--data", challenger, "--num-chains", "64"},
                          Argv{"--target", "banana", "--sampler", "nuts", "--num-chains", "16"},
                          Argv{"--target", "gaussian", "--preset", "gauss2d_corr", "--num-chains", "4"}}) {
    Argv words = run;
    for (const char* more : {"--output", "a.nc", "--overwrite", "--json"}) words.push_back(more);
    words[words.size() - 3] = files.path("a.nc");
    words.insert(words.begin(), "estimate");
    const json told = json::parse(kilochain(files, words).out);
    words[0] = "sample";
    kilochain(files, words);
    const auto size = static_cast<double>(files.read("a.nc").size());
    EXPECT_GT(size, told["least"]["disk"].get<double>() / 1.3) << run[1];
    EXPECT_LT(size, told["most"]["disk"].get<double>() * 1.3) << run[1];
    EXPECT_LT(told["least"]["seconds"].get<double>(), told["seconds"].get<double>());
    EXPECT_LT(told["seconds"].get<double>(), told["most"]["seconds"].get<double>());
    words[0] = "estimate", words.pop_back();
    const std::string table = kilochain(files, words).out;
    EXPECT_TRUE(contains(table, ": the length is automatic\n")) << table;
  }
  EXPECT_TRUE(contains(kilochain(files, {"estimate", "--target", "banana"}).out, " chains, because a gradient takes "));
}

/// A dense factor for each chain takes 40 GB: not even the few chains that would be timed have room.
TEST(Estimate, TimesNothingThatDoesNotFit) {
  ScratchFiles files;
  const Outcome o = kilochain(files, {"estimate", "--target", "funnel", "--dim", "100000", "--num-chains", "1000000",
                                      "--adapt-scope", "chain", "--threads", "64", "--sampler", "gad_mala_fast"});
  EXPECT_EQ(o.status, 2) << o.err;
  EXPECT_TRUE(contains(o.out, "DOES NOT FIT") && contains(o.out, "time    not known beforehand")) << o.out;
}

}  // namespace
}  // namespace kilochain
