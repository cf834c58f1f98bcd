// From a .stan file to a library, with a stanc and a compiler that are small scripts: what they are given,
// what is kept, and what is said when they refuse. tests/statistical/test_stan_programs.cpp has the real ones.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "targets/stan/compile.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::expect_error;
using testing_support::ScratchFiles;

/// A folder in which all is in place, and the environment that names it.
class StanCompile : public ::testing::Test {
 protected:
  StanCompile() {
    std::filesystem::create_directories(files.path("httpstan/include/stan"));
    script("httpstan/stanc", "for a; do case $a in --o=*) echo class > ${a#--o=};; esac; done\n");
    script("compiler", "echo once >> " + files.path("compiled.txt") +
                           "\nwhile [ $# -gt 0 ]; do case $1 in -o) out=$2;; esac; shift; done\ncp " +
                           KILOCHAIN_BINARY_DIR "/tests/libraries/small_stan.so $out\n");
    set("STAN_HOME", files.path("."));
    set("XDG_CACHE_HOME", files.path("cache"));
    set("CXX", files.path("compiler"));
    program = files.write("m.stan", "parameters { real x; } model { x ~ normal(0, 1); }\n");
  }
  void script(const std::string& name, const std::string& body) {
    chmod(files.write(name, "#!/bin/sh\n" + body).c_str(), 0755);
  }
  static void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }
  std::size_t times_compiled() { return files.read("compiled.txt").size() / 5; }
  ScratchFiles files;
  std::string program;
};

TEST_F(StanCompile, OnceForATextAndAgainForAnother) {
  testing::internal::CaptureStderr();
  const std::string library = stan::compiled(program);
  EXPECT_EQ(stan::compiled(program), library);
  EXPECT_EQ(times_compiled(), 1u);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "kilochain: compiling " + program + " (20 s and more, once)\n");
  EXPECT_TRUE(library.starts_with(files.path("cache/kilochain/stan/")));
  testing::internal::CaptureStderr();
  EXPECT_NE(stan::compiled(files.write("m.stan", "parameters { real y; } model { y ~ normal(0, 1); }\n")), library);
  EXPECT_EQ(times_compiled(), 2u);
  stan::compile_to(program, files.path("mine.so"));
  testing::internal::GetCapturedStderr();
  EXPECT_TRUE(std::filesystem::exists(files.path("mine.so")));
}

TEST_F(StanCompile, StancsWordsAreShown) {
  script("httpstan/stanc", "echo \"Syntax error in 'm.stan', line 1\" >&2\nexit 1\n");
  expect_error([&] { stan::compiled(program); }, ExitStatus::data, program,
               ": stanc refuses the program:\nSyntax error in 'm.stan', line 1 (" + files.path("./httpstan/stanc") +
                   " ended with 1). Mend the program?");
  EXPECT_EQ(times_compiled(), 0u);
}

TEST_F(StanCompile, ACompilerThatFailsOrIsNotThere) {
  testing::internal::CaptureStderr();
  script("compiler", "echo error: no such thing\nexit 4\n");
  expect_error([&] { stan::compiled(program); }, ExitStatus::data, program,
               ": the C++ compiler fails:\nerror: no such thing\n (" + files.path("compiler") +
                   " ended with 4). Do compiler and Stan fit each other?");
  set("CXX", "no_such_compiler");
  expect_error(
      [&] { stan::compiled(program); }, ExitStatus::usage, program,
      ": there is no C++ compiler to compile it with (no_such_compiler: No such file or directory). Install g++, or "
      "name one in CXX? A library made elsewhere needs none");
  testing::internal::GetCapturedStderr();
}

TEST_F(StanCompile, ALibraryThatCannotBeWritten) {
  expect_error([&] { stan::compile_to(program, files.path("none/m.so")); }, ExitStatus::output, files.path("none/m.so"),
               ": the library cannot be written (No such file or directory). Is the folder there, and may you write "
               "there?");
  EXPECT_FALSE(std::filesystem::exists(files.path("compiled.txt")));
}

TEST_F(StanCompile, WithoutStanOrAProgram) {
  expect_error([&] { stan::compiled(files.path("none.stan")); }, ExitStatus::data, files.path("none.stan"),
               ": no such Stan program (the file is not there). Is the path right?");
  set("STAN_HOME", files.path("cache"));
  expect_error([&] { stan::compiled(program); }, ExitStatus::usage, "stanc and the headers of Stan are not there",
               " (STAN_HOME is " + files.path("cache") +
                   ", which is no httpstan, CmdStan or BridgeStan). Run scripts/install_stan, or set STAN_HOME to a "
                   "CmdStan or a "
                   "BridgeStan that has been built?");
}

TEST_F(StanCompile, FindsACmdStan) {
  for (const char* folder :
       {"cmdstan/bin", "cmdstan/stan/src", "cmdstan/stan/lib/rapidjson_1.1.0",
        "cmdstan/stan/lib/stan_math/lib/eigen_3.4.0", "cmdstan/stan/lib/stan_math/lib/boost_1.84.0",
        "cmdstan/stan/lib/stan_math/lib/sundials_6.1.1/lib", "cmdstan/stan/lib/stan_math/lib/tbb"})
    std::filesystem::create_directories(files.path(folder));
  script("cmdstan/bin/stanc", "");
  files.write("cmdstan/stan/lib/stan_math/lib/sundials_6.1.1/lib/libsundials_cvodes.a", "");
  const std::string home = files.path("cmdstan");
  set("STAN_HOME", home);
  const stan::Tools tools = stan::find_tools();
  EXPECT_EQ(tools.stanc, home + "/bin/stanc");
  const auto has = [](const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  EXPECT_TRUE(has(tools.includes, home + "/stan/src"));
  EXPECT_TRUE(has(tools.includes, home + "/stan/lib/stan_math/lib/eigen_3.4.0"));
  EXPECT_TRUE(has(tools.link, home + "/stan/lib/stan_math/lib/sundials_6.1.1/lib/libsundials_cvodes.a"));
  EXPECT_TRUE(has(tools.link, "-L" + home + "/stan/lib/stan_math/lib/tbb"));
}

}  // namespace
}  // namespace kilochain
