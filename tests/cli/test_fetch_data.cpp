// scripts/fetch_data is Python and so is its test, with a web server of its own; this runs it among the others.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

TEST(FetchData, KeepsWholeSetsAndRefusesOthers) {
  if (std::system("python3 -c ''") != 0) {
    std::puts("skipped: there is no python3 here");
    GTEST_SKIP();
  }
  EXPECT_EQ(std::system("python3 '" KILOCHAIN_SOURCE_DIR "/tests/cli/test_fetch_data.py'"), 0);
}
