// How a run ends that cannot go on: a full disk, and a user who will not wait.
#include <sys/resource.h>

#include <fstream>

#include "tests/cli/program.hpp"

namespace kilochain {
namespace {

using namespace testing_support;
using nlohmann::json;

Argv long_run(const std::string& output, const char* num_samples, const char* thin) {
  return {"sample", "--target",     "gaussian", "--preset",      "gauss2d_corr", "--num-chains",
          "4",      "--num-warmup", "100",      "--num-samples", num_samples,    "--thin",
          thin,     "--threads",    "1",        "--output",      output};
}

/// Whether a signal has been sent to the process that no thread of it has taken.
bool pending(pid_t pid, int signal_number) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("ShdPnd:")) return std::stoull(line.substr(7), nullptr, 16) >> (signal_number - 1) & 1;
  return false;
}

TEST(Ends, AFullDiskIsStatus5AndWhatWasWrittenIsReadable) {
  ScratchFiles files;
  const std::string path = files.path("draws.nc");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit{4u << 20, before.rlim_max};  // the child's too
  setrlimit(RLIMIT_FSIZE, &limit);
  const Outcome run = kilochain(files, long_run(path, "1000000", "1"));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(run.status, 5) << run.err;
  EXPECT_TRUE(contains(run.err, "kilochain: " + path)) << run.err;
  EXPECT_TRUE(contains(run.err, "draws of each chain are safely in the file")) << run.err;
  const Outcome again = kilochain(files, {"summary", path, "--json"});
  ASSERT_EQ(again.status, 0) << again.err;
  const json j = json::parse(again.out);
  EXPECT_GT(j["num_samples"].get<std::int64_t>(), 1000);
  EXPECT_LT(j["num_samples"].get<std::int64_t>(), 1000000);
  EXPECT_TRUE(j["parameters"][0]["mean"].is_number());
}

TEST(Ends, ASecondCtrlCKills) {
  ScratchFiles files;
  const std::string path = files.path("draws.nc");
  // Standard output is a full pipe that nobody reads: after the first Ctrl-C the run cannot come to its end.
  ASSERT_EQ(mkfifo(files.path("stdout").c_str(), 0600), 0);
  const int pipe = open(files.path("stdout").c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(pipe, 0);
  const std::string page(4096, ' ');
  while (write(pipe, page.data(), page.size()) > 0) {
  }
  while (write(pipe, page.data(), 1) > 0) {
  }
  Program program(files, long_run(path, "100000000", "100"));
  // The second line of a phase comes seconds after its first: by then draws are in the file.
  ASSERT_TRUE(wait_until(program, [&] { return times_said(program, "sampling") >= 2; })) << program.err();
  program.send(SIGINT);
  ASSERT_TRUE(wait_until(program, [&] { return !pending(program.pid(), SIGINT); })) << program.err();
  program.send(SIGINT);
  EXPECT_EQ(program.wait(), 1000 + SIGINT) << program.err();
  close(pipe);
  EXPECT_EQ(unlink(files.path("stdout").c_str()), 0);
  const int status = kilochain(files, {"summary", path}).status;  // 6: too few draws in the time that there was
  EXPECT_TRUE(status == 0 || status == 6) << "a killed run leaves its draws readable: " << status;
}

}  // namespace
}  // namespace kilochain
