// kilochain reproduce: its JSON, its refusals, and that a repeat draws the same alone as beside others.
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <set>
#include <stdexcept>
#include <tuple>

#include "host/registry/registry.hpp"
#include "papers/reproduction.hpp"
#include "papers/titsias2019/agreement.hpp"
#include "tests/cli/program.hpp"

namespace kilochain {
namespace {

using namespace testing_support;
const char* const data_folder = KILOCHAIN_SOURCE_DIR "/../shared/data";

TEST(Reproduce, JsonOfARow) {
  if (!std::filesystem::exists(data_folder)) GTEST_SKIP() << "no data sets in " << data_folder;
  ScratchFiles files;
  const Outcome o = kilochain(files, {"reproduce", "titsias2019", "--only", "ripley/gad_mala_fast", "--repeats", "2",
                                      "--json", "--data-dir", data_folder, "--output", files.path("page")});
  ASSERT_EQ(o.status, 0) << o.err;
  const auto rows = nlohmann::json::parse(o.out);
  ASSERT_EQ(rows.size(), 1u);
  const auto& row = rows[0];
  EXPECT_EQ(keys_of(row),
            (std::vector<std::string>{"acceptance", "ess_max", "ess_median", "ess_min", "measured",
                                      "min_ess_per_second", "min_ess_per_second_sd", "published", "real", "repeats",
                                      "sampler", "seconds", "seconds_batched", "source", "table", "target"}));
  EXPECT_EQ(row["source"], "titsias2019");
  EXPECT_EQ(row["table"], 3);
  EXPECT_EQ(row["target"], "ripley");
  EXPECT_EQ(row["sampler"], "gad_mala_fast");
  EXPECT_EQ(row["repeats"], 2);
  EXPECT_EQ(row["published"]["ess_min"], 8328.4);
  EXPECT_EQ(row["measured"]["repeats"], 10);
  EXPECT_LE(row["ess_min"], row["ess_median"]);
  EXPECT_LE(row["ess_median"], row["ess_max"]);
  EXPECT_TRUE(std::filesystem::exists(files.path("page/titsias2019.md")));
  EXPECT_EQ(nlohmann::json::parse(files.read("page/titsias2019.json"))[0]["per_repeat"]["ess_min"].size(), 2u);
}

/// In single precision the row says so, and its page lies beside that of double precision.
TEST(Reproduce, InSinglePrecision) {
  if (!std::filesystem::exists(data_folder)) GTEST_SKIP() << "no data sets in " << data_folder;
  ScratchFiles files;
  const Outcome o =
      kilochain(files, {"reproduce", "titsias2019", "--only", "ripley/rwm", "--repeats", "2", "--real", "float",
                        "--json", "--data-dir", data_folder, "--quiet", "--output", files.path("page")});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_FALSE(contains(o.err, "[1/1]")) << "--quiet: no progress";
  const auto row = nlohmann::json::parse(o.out).at(0);
  EXPECT_EQ(row["real"], "float");
  EXPECT_TRUE(contains(files.read("page/titsias2019_float.md"), "single precision"));
  EXPECT_FALSE(std::filesystem::exists(files.path("page/titsias2019.md")));
}

TEST(Reproduce, Refusals) {
  ScratchFiles files;
  expect_refusal(
      files, {"reproduce", "titsias2018"}, 2,
      "command line: unknown paper \"titsias2018\" (mahendran2011, milgo, titsias2019). Did you mean titsias2019?");
  expect_refusal(files, {"reproduce", "titsias2019", "--table", "8"}, 2,
                 "command line: --table 8 (must be >= 1 and <= 7). Try 1?");
  expect_refusal(files, {"reproduce", "titsias2019", "--only", "gad_mala_fat"}, 2,
                 "command line: --only gad_mala_fat (no row of the chosen tables has that sampler or target). Did you "
                 "mean gad_mala_fast?");
  expect_refusal(files, {"reproduce", "titsias2019", "--real", "flot"}, 2,
                 "command line: --real flot (must be float or double). Did you mean float?");
  expect_refusal(files, {"reproduce", "titsias2019", "--figure", "1", "--real", "float"}, 2,
                 "command line: --figure with --real float (figures are computed in double). Leave --real out?");
  const std::string empty = files.path("");
  const Outcome o = kilochain(files, {"reproduce", "titsias2019", "--table", "3", "--data-dir", empty});
  EXPECT_EQ(o.status, 3);
  EXPECT_TRUE(contains(o.err, "scripts/fetch_data")) << o.err;
}

/// The repeats of a row are chains of one batch: batching must not change what any of them draws.
TEST(Reproduce, ARepeatDrawsTheSameAloneAndInABatch) {
  titsias2019::Setup setup{"gaussian", "gad_mala_fast", {{"preset", "neal_gaussian"}}, {{"optimizer", "rmsprop"}}, 200,
                           50,         "normal"};
  const Context context = cpu_context(1);
  const auto target = make_target<double>(context, setup.target, setup.target_settings);
  const std::atomic<bool> never{false};
  titsias2019::Repeats<double> batch(setup, *target, 0, 4, 7, never), alone(setup, *target, 2, 1, 7, never);
  ASSERT_TRUE(batch.warm_up(-1) && batch.sample());
  ASSERT_TRUE(alone.warm_up(150) && alone.warm_up(-1) && alone.sample());
  EXPECT_EQ(batch.learnt(2).factor, alone.learnt(0).factor);
  EXPECT_EQ(batch.learnt(2).beta, alone.learnt(0).beta);
  EXPECT_NE(batch.learnt(1).beta, alone.learnt(0).beta);
  for (const Index i : {0, 57, 99}) EXPECT_EQ(batch.draws(2, i), alone.draws(0, i));
}

TEST(Reproduce, EverySetupIsAccepted) {
  if (!std::filesystem::exists(data_folder)) GTEST_SKIP() << "no data sets in " << data_folder;
  const auto data = titsias2019::DataFolder::find(data_folder);
  for (const auto& row : titsias2019::titsias2019_rows())
    for (const bool as_printed : {false, true}) {
      const titsias2019::Setup s = titsias2019::setup_of(row.target, row.sampler, as_printed, data, "labels");
      ASSERT_NO_THROW(find_sampler(s.sampler));
      TargetInfo target;
      target.dim = 10;
      EXPECT_GT(bytes_of_chains(cpu_context(1), s.sampler, s.sampler_settings, 1, target, Scope::chain,
                                Precision::double_precision)
                    .state,
                0u);
      EXPECT_TRUE(as_printed || s.printed.empty());
    }
}

/// Status 7 says that a figure deviates and is not known to; single repeats do both.
TEST(Reproduce, StatusSaysWhetherEveryDeviationIsKnown) {
  if (!std::filesystem::exists(data_folder)) GTEST_SKIP() << "no data sets in " << data_folder;
  for (const char* seed : {"1", "2", "3", "4"}) {
    ScratchFiles files;
    const Outcome o = kilochain(files, {"reproduce", "titsias2019", "--only", "ripley/mala", "--repeats", "1", "--seed",
                                        seed, "--data-dir", data_folder, "--output", files.path("page")});
    const auto row = nlohmann::json::parse(files.read("page/titsias2019.json")).at(0);
    bool open = false;
    for (const auto& finding : row["findings"]) open = open || finding["reason"] == "";
    EXPECT_EQ(o.status, open ? 7 : 0) << row["findings"];
    EXPECT_EQ(contains(o.err, "deviates: ripley/mala/"), open) << o.err;
    EXPECT_EQ(contains(files.read("page/titsias2019.md"), "NOT EXPLAINED"), open);
  }
}

using titsias2019::agreement_of;
using titsias2019::Repeat;

const titsias2019::PaperRow& row_of(const std::string& target, const std::string& sampler) {
  for (const auto& row : titsias2019::titsias2019_rows())
    if (row.target == target && row.sampler == sampler) return row;
  throw std::runtime_error("no row " + target + " " + sampler);
}

/// Repeats whose means are the authors' own.
std::vector<Repeat> as_the_authors(const titsias2019::PaperRow& row, int pairs) {
  const auto& m = row.measured.mean;
  std::vector<Repeat> out;
  for (int k = 0; k < pairs; ++k)
    for (const int sign : {-1, 1})
      out.push_back(
          {m.acceptance + sign * 0.01, m.ess_min + sign * 90, m.ess_median + sign * 20, m.ess_max + sign * 90});
  return out;
}

/// A row that is off must be found, and nothing excuses it: the authors' own figures agree, one that is moved does not.
/// One job of 60 beside four of 10, on two threads: when the short ones are done, one thread works on alone,
/// and what is told does not grow then.
TEST(Reproduce, TimeLeftCountsThreadsThatHaveNothingToDo) {
  using papers::seconds_left;
  EXPECT_EQ(seconds_left({{60}, {10}, {10}, {10}, {10}}, 2), -1);
  EXPECT_DOUBLE_EQ(seconds_left({{60, 1. / 6, 10}, {10, 1, 10}, {10}, {10}, {10}}, 2), 50);
  EXPECT_DOUBLE_EQ(seconds_left({{60, 4. / 6, 40}, {10, 1, 10}, {10, 1, 10}, {10, 1, 10}, {10, 1, 10}}, 2), 20);
  EXPECT_DOUBLE_EQ(seconds_left({{60, 0.5, 30}, {40}, {40}, {40}}, 2), 75);
  // A weight that was guessed six times too small is found out by the job itself.
  EXPECT_DOUBLE_EQ(seconds_left({{10, 0.1, 6}, {10, 0.6, 6}}, 2), 54);
}

TEST(Reproduce, AgreementFindsWhatIsOff) {
  const auto& row = row_of("neal_gaussian", "gad_mala_fast");
  auto repeats = as_the_authors(row, 5);
  EXPECT_TRUE(agreement_of(row, repeats, "").tested);
  EXPECT_TRUE(agreement_of(row, repeats, "").deviations.empty());
  for (Repeat& one : repeats) one.acceptance += 0.04;
  ASSERT_EQ(agreement_of(row, repeats, "").deviations.size(), 1u);
  EXPECT_EQ(agreement_of(row, repeats, "").deviations[0].name, "neal_gaussian/gad_mala_fast/acceptance");
  EXPECT_FALSE(agreement_of(row, repeats, "").explained()) << "no reason but one that a person wrote";
  for (Repeat& one : repeats) one.ess_median += 200;
  EXPECT_EQ(agreement_of(row, repeats, "").deviations.size(), 2u);
  EXPECT_TRUE(agreement_of(row, repeats, "no floor under beta").explained()) << "told to differ";
  repeats[0].ess_max = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(agreement_of(row, repeats, "").deviations.size(), 3u) << "NaN agrees with nothing";
}

/// The mean of two repeats is known less well than that of ten.
TEST(Reproduce, AgreementOfFewRepeatsHasAWiderBand) {
  const auto& row = row_of("neal_gaussian", "gad_mala_fast");
  for (const auto& [pairs, off, deviates] : {std::tuple{5, 0.031, true}, {1, 0.031, false}, {1, 0.068, true}}) {
    auto repeats = as_the_authors(row, pairs);
    for (Repeat& one : repeats) one.acceptance += off;
    EXPECT_EQ(agreement_of(row, repeats, "").deviations.size(), deviates ? 1u : 0u) << 2 * pairs << " " << off;
  }
}

/// A listed figure is explained while it deviates, and named when it does not.
TEST(Reproduce, KnownDeviationsAreFiguresOfRows) {
  std::set<std::string> seen;
  for (const auto& known : titsias2019::known_deviations()) {
    SCOPED_TRACE(known.name);
    EXPECT_TRUE(seen.insert(known.name).second) << "twice";
    EXPECT_FALSE(known.reason.empty());
    const std::size_t first = known.name.find('/'), second = known.name.rfind('/');
    const auto& row = row_of(known.name.substr(0, first), known.name.substr(first + 1, second - first - 1));
    auto repeats = as_the_authors(row, 5);
    EXPECT_EQ(agreement_of(row, repeats, "").stale, std::vector<std::string>{known.name});
    for (Repeat& one : repeats) one.acceptance += 0.05;
    const auto off = agreement_of(row, repeats, "");
    ASSERT_EQ(off.deviations.size(), 1u);
    EXPECT_EQ(off.deviations[0].name, known.name);
    EXPECT_TRUE(off.explained() && off.stale.empty());
  }
}

}  // namespace
}  // namespace kilochain
