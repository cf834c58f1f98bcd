// kilochain reproduce: its JSON, its refusals, and that a repeat draws the same alone as beside others.
#include <gtest/gtest.h>

#include <filesystem>

#include "host/registry/registry.hpp"
#include "papers/titsias2019/rows.hpp"
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
  const Outcome o = kilochain(files, {"reproduce", "titsias2019", "--only", "ripley/rwm", "--repeats", "2", "--real",
                                      "float", "--json", "--data-dir", data_folder, "--output", files.path("page")});
  ASSERT_EQ(o.status, 0) << o.err;
  const auto row = nlohmann::json::parse(o.out).at(0);
  EXPECT_EQ(row["real"], "float");
  EXPECT_TRUE(contains(files.read("page/titsias2019_float.md"), "single precision"));
  EXPECT_FALSE(std::filesystem::exists(files.path("page/titsias2019.md")));
}

TEST(Reproduce, Refusals) {
  ScratchFiles files;
  expect_refusal(files, {"reproduce", "titsias2018"}, 2,
                 "command line: unknown paper \"titsias2018\" (titsias2019). Did you mean titsias2019?");
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
  titsias2019::Repeats<double> batch(setup, *target, 0, 4, 7), alone(setup, *target, 2, 1, 7);
  ASSERT_TRUE(batch.warm_up(-1, never) && batch.sample(never));
  ASSERT_TRUE(alone.warm_up(150, never) && alone.warm_up(-1, never) && alone.sample(never));
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
      ASSERT_TRUE(titsias2019::has_sampler(s)) << s.sampler;
      EXPECT_GT(bytes_of_chains(cpu_context(1), s.sampler, s.sampler_settings, 1, 10, Scope::chain,
                                Precision::double_precision)
                    .state,
                0u);
      EXPECT_TRUE(as_printed || s.printed.empty());
    }
}

/// A row that is off must be found: the table's own figures agree, the same with one changed do not.
TEST(Reproduce, AgreementFindsWhatIsOff) {
  const auto& row = titsias2019::titsias2019_rows()[0];
  const auto& m = row.measured.mean;
  titsias2019::RowResult r;
  r.row = &row;
  r.repeats = {{m.acceptance - 0.01, m.ess_min - 90, m.ess_median - 20, m.ess_max - 90},
               {m.acceptance + 0.01, m.ess_min + 90, m.ess_median + 20, m.ess_max + 90}};
  r.seconds = 1;
  EXPECT_TRUE(agreement_of(r).tested);
  EXPECT_TRUE(agreement_of(r).findings.empty());
  for (auto& one : r.repeats) one.acceptance += 0.04;
  ASSERT_EQ(agreement_of(r).findings.size(), 1u);
  EXPECT_FALSE(agreement_of(r).findings[0].reason.empty());  // within the spread of single runs
  for (auto& one : r.repeats) one.ess_median += 200;
  ASSERT_EQ(agreement_of(r).findings.size(), 2u);
  EXPECT_TRUE(agreement_of(r).findings[1].reason.empty());  // ten runs of the authors' code, and no reason known
}

}  // namespace
}  // namespace kilochain
