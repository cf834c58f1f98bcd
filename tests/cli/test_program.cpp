// Help, lists and what is refused before a run is thought of.
#include <fstream>
#include <sstream>

#include "base/exit_status.hpp"
#include "host/frontend/keys.hpp"
#include "tests/cli/program.hpp"
#include "tests/support/folders.hpp"

namespace kilochain {
namespace {

using namespace testing_support;

TEST(Program, NoCommandShowsHelp) {
  ScratchFiles files;
  const Outcome none = kilochain(files, {}), help = kilochain(files, {"--help"});
  EXPECT_EQ(none.status, 2);
  EXPECT_EQ(help.status, 0);
  EXPECT_EQ(none.out, help.out);
  for (const char* command : {"sample", "summary", "samplers", "targets", "info", "estimate", "generate", "reproduce"})
    EXPECT_TRUE(contains(help.out, command)) << command;
  EXPECT_EQ(kilochain(files, {"--version"}).out.rfind("kilochain ", 0), 0u);
}

std::string text_of(const std::string& page) {
  std::ifstream file(source_folder() + page);
  return {std::istreambuf_iterator<char>(file), {}};
}
/// The rows "| number | text |" of a page, from `heading` to the next one.
std::vector<std::pair<std::string, std::string>> rows_of(const std::string& page, const std::string& heading) {
  std::vector<std::pair<std::string, std::string>> rows;
  std::istringstream lines(page.substr(page.find("# " + heading)));
  std::string line;
  for (std::getline(lines, line); std::getline(lines, line) && !line.starts_with("#");) {
    if (!line.starts_with("| ") || !std::isdigit(line[2])) continue;
    const std::size_t bar = line.find(" | ");
    rows.emplace_back(line.substr(2, bar - 2), line.substr(bar + 3, line.find(" |", bar + 3) - bar - 3));
  }
  return rows;
}

TEST(Program, ExitStatusesAreOneTable) {
  std::vector<std::pair<std::string, std::string>> table, numbers;
  for (const StatusRow& row : status_rows) table.emplace_back(std::to_string(exit_code(row.status)), row.sentence);
  EXPECT_EQ(rows_of(text_of("/README.md"), "Exit statuses"), table);
  const auto page = rows_of(text_of("/docs/statuses.md"), "Exit statuses");
  ASSERT_EQ(page.size(), table.size());
  ScratchFiles files;
  const std::string help = kilochain(files, {"--help"}).out;
  for (std::size_t k = 0; k < table.size(); ++k) {
    EXPECT_EQ(page[k].first, table[k].first);
    EXPECT_TRUE(contains(help, table[k].first)) << table[k].first;
    EXPECT_TRUE(contains(help, table[k].second)) << table[k].second;
  }
}

TEST(Program, HelpOfSampleListsEveryCommonFlag) {
  ScratchFiles files;
  const Outcome help = kilochain(files, {"sample", "--num-chains", "3", "--help"});
  EXPECT_EQ(help.status, 0);
  for (const Key& key : common_keys())
    EXPECT_TRUE(contains(help.out, "\n  " + flag_of(key.info.name) + " ")) << key.info.name;
  for (const char* words :
       {"kilochain samplers NAME", "kilochain targets NAME", "relative to the directory that the program runs in"})
    EXPECT_TRUE(contains(help.out, words)) << words;
  EXPECT_EQ(kilochain(files, {"estimate", "--help"}).status, 0);
  for (const char* command : {"summary", "samplers", "targets", "info", "generate", "reproduce"})
    EXPECT_EQ(kilochain(files, {command, "--help"}).status, 0) << command;
}

TEST(Program, ListsWhatIsRegisteredWithEverySetting) {
  ScratchFiles files;
  const std::string sampler_table = kilochain(files, {"samplers"}).out,
                    all_samplers = kilochain(files, {"samplers", "--verbose"}).out;
  for (const SamplerEntry& e : samplers()) {
    EXPECT_TRUE(contains(sampler_table, "  " + e.name + " ")) << e.name;
    EXPECT_TRUE(contains(all_samplers, e.name + ": " + e.meaning));
    const std::string one = kilochain(files, {"samplers", e.name}).out;
    for (const SettingInfo& s : e.settings)
      EXPECT_TRUE(contains(one, flag_of(s.name) + " ")) << e.name << " " << s.name;
  }
  const std::string target_table = kilochain(files, {"targets"}).out;
  for (const TargetEntry& e : targets()) {
    EXPECT_TRUE(contains(target_table, "  " + e.name + " ")) << e.name;
    const std::string one = kilochain(files, {"targets", e.name}).out;
    for (const SettingInfo& s : e.settings)
      EXPECT_TRUE(contains(one, flag_of(s.name) + " ")) << e.name << " " << s.name;
  }
}

TEST(Program, InfoNamesBuildDevicesAndLibraries) {
  ScratchFiles files;
  const Outcome info = kilochain(files, {"info"});
  EXPECT_EQ(info.status, 0);
  for (const char* row : {"version ", "build ", "real types ", "threads ", "vectors ", "CUDA ", "libraries ",
                          "evaluation ", "NetCDF ", "fmt "})
    EXPECT_TRUE(contains(info.out, row)) << row;
}

TEST(Program, RefusesWrongCommandsAndFlags) {
  ScratchFiles files;
  expect_refusal(files, {"sumary"}, 2,
                 "command line: unknown command \"sumary\" (sample, resume, summary, diagnose, report, samplers, "
                 "targets, info, estimate, "
                 "tune, generate, stan, reproduce). Did you mean summary?");
  expect_refusal(files, {"--target"}, 2,
                 "command line: unknown flag --target (a command comes first). Try kilochain sample --target?");
  expect_refusal(files, {"summary", "x.nc", "--jsn"}, 2,
                 "command line: unknown flag --jsn (kilochain summary). Did you mean --json?");
  for (const char* guess : {"lotka", "run", "fit"})
    EXPECT_TRUE(contains(kilochain(files, {guess}).err, "reproduce). `kilochain --help` says what each does."))
        << guess;
  expect_refusal(files, {"sample", "--target", "gaussian", "--preset", "banana"}, 2,
                 "gaussian: unknown preset \"banana\" (known: gauss2d_corr, gp51_gaussian, neal_gaussian). Choose one "
                 "of these?");
  expect_refusal(files, {"summary"}, 2,
                 "command line: FILE is required (kilochain summary). `kilochain summary --help` says what it takes.");
  expect_refusal(files, {"summary", "x.nc", "--rows", "0"}, 2, "command line: --rows = 0 (must be > 0). Try 20?");
  expect_refusal(files, {"info", "x"}, 2,
                 "command line: unexpected argument x (kilochain info). `kilochain info --help` says what it takes.");
  expect_refusal(files, {"info", "--x"}, 2,
                 "command line: unknown flag --x (kilochain info). `kilochain info --help` says what it takes.");
  expect_refusal(
      files, {"generate"}, 2,
      "command line: --output is required (kilochain generate). `kilochain generate --help` says what it takes.");
  expect_refusal(files, {"generate", "--output", files.path("x.csv"), "--rows", "-1"}, 2,
                 "command line: --rows = -1 (must be > 0). Try 1000?");
  expect_refusal(files, {"estimate", "--num-chains", "x", "--target", "gaussian"}, 2,
                 "command line: --num-chains = x (not a number). Write --num-chains = a number >= 0 and <= 16777216?");
}

TEST(Program, GenerateWritesTheSameFileForTheSameSeed) {
  ScratchFiles files;
  const auto generate = [&](const char* name, const char* seed) {
    const Outcome o =
        kilochain(files, {"generate", "--rows", "50", "--features", "3", "--seed", seed, "--output", files.path(name)});
    EXPECT_EQ(o.status, 0) << o.err;
    return files.read(name);
  };
  const std::string a = generate("a.csv", "1");
  EXPECT_EQ(a.rfind("x1,x2,x3,y\n", 0), 0u);
  EXPECT_EQ(a, generate("b.csv", "1"));
  EXPECT_NE(a, generate("c.csv", "2"));
}

}  // namespace
}  // namespace kilochain
