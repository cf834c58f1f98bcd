// Looking at a file: summary --without-chains, diagnose, report, and what a killed run's summary says.
#include <filesystem>
#include <fstream>

#include "host/draws/draws_file.hpp"
#include "tests/cli/program.hpp"

namespace kilochain {
namespace {

using namespace testing_support;
using nlohmann::json;

/// A funnel, with divergences and (few draws) not converged.
std::string funnel(const ScratchFiles& files, const Argv& more = {}) {
  const std::string path = files.path("draws.nc");
  Argv argv = {"sample", "--target",      "funnel", "--sampler", "nuts", "--num-chains", "16",       "--num-warmup",
               "200",    "--num-samples", "100",    "--threads", "1",    "--quiet",      "--output", path};
  argv.insert(argv.end(), more.begin(), more.end());
  EXPECT_LE(kilochain(files, argv).status, 6);
  return path;
}

int check_page(const std::string& page, const std::string& how = "") {
  return WEXITSTATUS(
      std::system(("python3 '" KILOCHAIN_SOURCE_DIR "/tests/cli/check_page.py' '" + page + "' " + how).c_str()));
}

TEST(Look, ASummaryWithoutChains) {
  ScratchFiles files;
  const std::string path = funnel(files);
  const json all = json::parse(kilochain(files, {"summary", path, "--json"}).out);
  const Outcome o = kilochain(files, {"summary", path, "--json", "--without-chains", "3,7-9"});
  const json some = json::parse(o.out);
  EXPECT_EQ(some["num_chains"], 12);
  EXPECT_EQ(some["without_chains"], (json{3, 7, 8, 9}));
  EXPECT_FALSE(all.contains("without_chains"));
  std::vector<double> draws;
  const DrawsReader reader(path);
  reader.read_parameters(0, 1, draws);
  double sum = 0;
  for (int c = 0; c < 16; ++c)
    for (int t = 0; t < 100 && c != 3 && (c < 7 || c > 9); ++t) sum += draws[c * 100 + t];
  EXPECT_NEAR(some["parameters"][0]["mean"].get<double>(), sum / 1200, 1e-12);
  EXPECT_NE(some["parameters"][0]["mean"], all["parameters"][0]["mean"]);
  EXPECT_TRUE(
      contains(kilochain(files, {"summary", path, "--without-chains", "0"}).out, "left out    1 chain, as asked\n"));
  expect_refusal(files, {"summary", path, "--without-chains", "16"}, 2,
                 path + ": no such chain to leave out (chain 16 of 16). Chains are numbered from 0.");
  expect_refusal(files, {"diagnose", path, "--without-chains", "3,x"}, 2,
                 "command line: --without-chains = 3,x (no number of a chain at character 3). Try 3,17,20-29?");
  expect_refusal(files, {"summary", path, "--without-chains", "5-3"}, 2,
                 "command line: --without-chains = 5-3 (5-3 at character 4). Try 3,17,20-29?");
  EXPECT_EQ(kilochain(files, {"summary", path, "--without-chains", "0-15"}).status, 6) << "nothing is left";
}

TEST(Look, ADiagnosisInWordsAndInJson) {
  ScratchFiles files;
  const std::string path = funnel(files);
  const Outcome words = kilochain(files, {"diagnose", path}), o = kilochain(files, {"diagnose", path, "--json"});
  EXPECT_EQ(words.status, 6);
  EXPECT_EQ(o.status, 6);
  for (const char* part :
       {"nuts on funnel: 16 of 16 chains counted\nNot converged: ", "divergent draws in", "E-BFMI      lowest",
        "tree depth  lowest", "where the chains are", "worst parameters of 10"})
    EXPECT_TRUE(contains(words.out, part)) << part << words.out;
  const json d = json::parse(o.out);
  EXPECT_EQ(d["chains"].size(), 16u);
  std::int64_t divergences = 0;
  for (const json& c : d["chains"]) divergences += c["divergences"].get<std::int64_t>();
  EXPECT_EQ(divergences, d["divergences"]);
  EXPECT_GT(divergences, 0);
  for (const json& f : d["findings"])
    EXPECT_EQ(keys_of(f), (std::vector<std::string>{"advice", "chains", "kind", "words"}));
}

TEST(Look, AReportIsOneWholePage) {
  ScratchFiles files;
  const std::string path = funnel(files), page = files.path("report.html");
  const Outcome o = kilochain(files, {"report", path, "--output", page});
  EXPECT_EQ(o.status, 6) << o.err;
  EXPECT_TRUE(contains(o.out, "report: " + page));
  EXPECT_EQ(check_page(page), 0);
  const std::string first = files.read("report.html");
  expect_refusal(
      files, {"report", path, "--output", page}, 2,
      page +
          ": there is a file already (a report never replaces one unasked). Name another with --output, or add "
          "--overwrite?");
  EXPECT_EQ(kilochain(files, {"report", path, "--output", page, "--overwrite"}).status, 6);
  EXPECT_EQ(first, files.read("report.html")) << "the same file gives the same page";
  expect_refusal(files, {"report", path, "--output", files.path("no/report.html")}, 5,
                 files.path("no/report.html") + ": cannot be written (" + std::to_string(first.size()) +
                     " bytes). Is there room, and may you write there?");
  funnel(files, {"--draws", "moments", "--overwrite"});
  EXPECT_EQ(kilochain(files, {"report", path, "--output", page, "--overwrite"}).status, 6);
  EXPECT_TRUE(contains(files.read("report.html"), "the run kept moments only"));
  EXPECT_EQ(check_page(page), 0);
}

TEST(Look, ABrowserDrawsTheReportAndSorts) {
  ScratchFiles files;
  const std::string path = funnel(files), page = files.path("report.html");
  kilochain(files, {"report", path, "--output", page});
  const int status = check_page(page, "--browser");
  if (status == 77) GTEST_SKIP() << "no Chromium";
  EXPECT_EQ(status, 0);
  funnel(files, {"--draws", "moments", "--overwrite"});
  kilochain(files, {"report", path, "--output", page, "--overwrite"});
  EXPECT_EQ(check_page(page, "--browser"), 0) << "of moments";
  EXPECT_LE(kilochain(files, {"sample", "--target", "gaussian", "--target.preset", "neal_gaussian", "--sampler", "rwm",
                              "--num-chains", "1", "--num-warmup", "10", "--num-samples", "3", "--quiet", "--overwrite",
                              "--output", path})
                .status,
            6);
  kilochain(files, {"report", path, "--output", page, "--overwrite"});
  EXPECT_EQ(check_page(page, "--browser"), 0) << "of 3 draws of one chain";
}

/// The command on the page is one that makes the same draws.
TEST(Look, TheCommandOfAReportMakesTheRunAgain) {
  ScratchFiles files;
  const std::string path = funnel(files), page = files.path("report.html");
  kilochain(files, {"report", path, "--output", page});
  const std::string text = files.read("report.html"), key = "\"command\":\"kilochain ";
  const auto from = text.find(key) + key.size();
  std::filesystem::rename(path, files.path("first.nc"));
  const std::string command =
      KILOCHAIN_BINARY_DIR "/kilochain " + text.substr(from, text.find('"', from) - from) + " --quiet > /dev/null";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 6) << command;
  EXPECT_EQ(DrawsReader(path).lp(), DrawsReader(files.path("first.nc")).lp());
}

TEST(Look, ADamagedFileHasNoReport) {
  ScratchFiles files;
  const std::string path = funnel(files);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  for (const Argv& argv : {Argv{"report", path, "--output", files.path("report.html")}, Argv{"diagnose", path}})
    EXPECT_EQ(kilochain(files, argv).status, 3);
  EXPECT_FALSE(std::filesystem::exists(files.path("report.html")));
  expect_refusal(files, {"diagnose", files.path("none.nc")}, 3,
                 files.path("none.nc") + ": no such file of draws (missing file). Is the path right?");
}

TEST(Look, ASummaryOfAKilledRunSaysWhereItGoesOn) {
  ScratchFiles files;
  const std::string path = files.path("draws.nc");
  Program program(
      files, {"sample", "--target", "gaussian", "--preset", "gauss2d_corr", "--num-chains", "4", "--num-warmup", "100",
              "--num-samples", "100000000", "--thin", "100", "--checkpoint-seconds", "600", "--output", path});
  ASSERT_TRUE(wait_until(program, [&] { return times_said(program, "sampling") >= 2; })) << program.err();
  program.send(SIGKILL);
  program.wait();
  const std::int64_t draws = DrawsReader(path).draws_written();
  const Outcome words = kilochain(files, {"summary", path}), o = kilochain(files, {"summary", path, "--json"});
  const json j = json::parse(o.out);
  ASSERT_TRUE(j.contains("resumes_from")) << draws;
  const std::int64_t from = j["resumes_from"];
  EXPECT_LT(from, draws);
  EXPECT_TRUE(contains(words.out, "was saved at " + std::to_string(from) + " draws of each")) << words.out;
  const Outcome on = kilochain(files, {"resume", path, "--num-samples", std::to_string(100 * draws)});
  EXPECT_TRUE(contains(on.err, "the state of the chains after " + std::to_string(from) + " of them")) << on.err;
  EXPECT_FALSE(contains(kilochain(files, {"summary", path}).out, "killed")) << "it has come to its end now";
}

}  // namespace
}  // namespace kilochain
