// A paper registers itself as a subcommand with flags of its own; libraries that other projects link bring none.
#include <gtest/gtest.h>

#include <CLI/App.hpp>
#include <memory>

#include "base/exit_status.hpp"
#include "host/frontend/papers.hpp"
#include "host/frontend/program.hpp"

namespace kilochain::cli {
namespace {

int status_of(std::vector<std::string> words) {
  words.insert(words.begin(), "kilochain");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return run_program(static_cast<int>(words.size()), argv.data());
}

/// One test, because a paper that is registered stays.
TEST(Papers, NoneUntilOneRegistersThenEachWithFlagsOfItsOwn) {
  EXPECT_TRUE(registered_papers().empty()) << "this test links what other projects link";
  EXPECT_EQ(status_of({"reproduce", "late2020"}), 2) << "no paper, no such command";
  int late = 0, early = 0;
  const RegisterPaper second({"late2020", "A Late Paper", [&](CLI::App& command) {
                                const auto table = std::make_shared<int>(1);
                                command.add_option("--table", *table, "which one");
                                return [&late, table] { return late = *table, exit_code(ExitStatus::deviates); };
                              }});
  const RegisterPaper first(
      {"early2019", "An Early Paper", [&](CLI::App&) { return [&early] { return ++early, 0; }; }});
  ASSERT_EQ(registered_papers().size(), 2u);
  EXPECT_EQ(registered_papers().begin()->first, "early2019") << "by name, whatever the linker's order";
  EXPECT_EQ(status_of({"reproduce", "late2020", "--table", "3"}), exit_code(ExitStatus::deviates));
  EXPECT_EQ(late, 3);
  EXPECT_EQ(status_of({"reproduce", "early2019"}), 0);
  EXPECT_EQ(early, 1);
  EXPECT_EQ(status_of({"reproduce", "early2019", "--table", "3"}), 2) << "that flag is the other paper's";
  EXPECT_EQ(status_of({"reproduce", "erly2019"}), 2);
  EXPECT_EQ(status_of({"reproduce"}), 2);
  EXPECT_EQ(early, 1);
}

}  // namespace
}  // namespace kilochain::cli
