// How a run ends that cannot go on: a full disk, and a user who will not wait.
#include <sys/resource.h>

#include <fstream>

#include "host/draws/draws_file.hpp"
#include "host/registry/registry.hpp"
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

/// Where nobody reads the words, the status is still there, and no file of draws takes the place of a closed stream.
TEST(Ends, StreamsThatCannotBeWritten) {
  ScratchFiles files;
  const auto status_of = [&](const std::string& words) {
    const int raw = std::system(("'" KILOCHAIN_BINARY_DIR "/kilochain' " + words).c_str());
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : 1000 + WTERMSIG(raw);
  };
  const std::string run =
      "sample --target gaussian --target.preset gauss2d_corr --sampler rwm --num-chains 4 --num-warmup 10 "
      "--num-samples 20 "
      "--verbose --overwrite --output '" +
      files.path("draws.nc") + "' > '" + files.path("out") + "' ";
  for (const char* err : {"2>/dev/full", "2>&-", "2>/dev/null"}) {
    EXPECT_EQ(status_of(run + err), 6) << err;
    EXPECT_EQ(status_of(std::string("sample --target lotka ") + err), 2) << err;
    EXPECT_EQ(DrawsReader(files.path("draws.nc")).draws_written(), 20) << err;
  }
  for (const char* words : {"sample --help", "--help", "info", "targets"})
    for (const char* out : {" >/dev/full 2>/dev/null", " >&- 2>/dev/null"})
      EXPECT_EQ(status_of(std::string(words) + out), 5) << words << out;
  expect_refusal(files, {"sample", "--target", "logistic_regression", "--data", "/dev/zero"}, 3,
                 "/dev/zero: neither a file nor a pipe (what it gives may have no end). Is the path right?");
  const Outcome many = kilochain(files, {"sample", "--target", "banana", "--threads", "4096"});
  EXPECT_EQ(many.status, 2);
  EXPECT_TRUE(contains(many.err, "kilochain: threads = 4096 (this process may use ")) << many.err;
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  const rlimit limit{300u << 20, before.rlim_max};  // of which threads want 8 MB each
  setrlimit(RLIMIT_AS, &limit);
  const Outcome small = kilochain(files, {"sample", "--target", "banana", "--threads", "60"});
  setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(small.status, 2);
  EXPECT_TRUE(contains(small.err, "kilochain: threads = 60 (the system starts ")) << small.err;
  expect_refusal(files, {"sample", "--target", "two\nlines\x1b[31m"}, 2,
                 "unknown target \"two\\nlines\\x1b[31m\" (" + std::to_string(targets().size()) +
                     " targets are registered). `kilochain targets` lists all.");
}

TEST(Ends, WordsNameTheProgramThatRan) {
  ScratchFiles files;
  const std::string mine = files.path("my_models"), said = files.path("said");
  ASSERT_EQ(symlink(KILOCHAIN_BINARY_DIR "/kilochain", mine.c_str()), 0);
  const auto words = [&](const std::string& arguments) {
    EXPECT_NE(std::system((mine + " " + arguments + " > " + said + " 2>&1").c_str()), -1);
    return files.read("said");
  };
  EXPECT_EQ(words("sample --target nope").find("my_models: unknown target"), 0u);
  EXPECT_TRUE(contains(files.read("said"), "`my_models targets` lists all."));
  const std::string end = words(
      "sample --target gaussian --preset gauss2d_corr --num-chains 2 --num-warmup 100 --num-samples 20 --quiet "
      "--output " +
      files.path("a.nc"));
  EXPECT_TRUE(contains(end, "`my_models summary " + files.path("a.nc") + "`")) << end;
  EXPECT_FALSE(contains(end, "kilochain summary")) << end;
}

TEST(Ends, DataThatSayNothingAreTold) {
  ScratchFiles files;
  std::string table = "x,far,y\n";
  for (int i = 0; i < 40; ++i)
    table += std::to_string(i % 7) + "e-5," + std::to_string(i % 5) + "," + std::to_string(i % 2) + "\n";
  const Outcome o = kilochain(files, {"sample", "--target", "logistic_regression", "--data",
                                      files.write("a.csv", table), "--standardise", "no", "--quiet"});
  EXPECT_EQ(o.status, 0);
  EXPECT_TRUE(contains(o.out, "note: the data say nothing of 1 of 3 coordinates, which are as their prior: x. "))
      << o.out;
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
