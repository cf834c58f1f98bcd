// kilochain resume, and --max-seconds: runs that end early and go on.
#include <filesystem>

#include "host/draws/draws_file.hpp"
#include "tests/cli/program.hpp"

namespace kilochain {
namespace {

using namespace testing_support;
using nlohmann::json;

Argv run_to(const std::string& output, const char* num_samples, Argv more = {}) {
  Argv argv = {"sample", "--target",     "gaussian", "--preset",      "gauss2d_corr", "--num-chains",
               "4",      "--num-warmup", "100",      "--num-samples", num_samples,    "--thin",
               "100",    "--device",     "cpu",      "--output",      output};
  argv.insert(argv.end(), more.begin(), more.end());
  return argv;
}

std::vector<double> draws_of(const std::string& path) {
  std::vector<double> all;
  const DrawsReader reader(path);
  reader.read_parameters(0, std::ssize(reader.header().names), all);
  return all;
}

TEST(ResumeCommand, ARunThatIsKilledGoesOnWithTheSameDraws) {
  for (const int how : {SIGKILL, SIGTERM}) {
    ScratchFiles files;
    const std::string path = files.path("draws.nc"), whole = files.path("whole.nc");
    {
      Program program(files, run_to(path, "100000000", {"--checkpoint-seconds", "1"}));
      ASSERT_TRUE(wait_until(program, [&] { return times_said(program, "sampling") >= 2; })) << program.err();
      program.send(how);
      EXPECT_EQ(program.wait(), how == SIGKILL ? 1000 + SIGKILL : 130) << program.err();
      if (how == SIGTERM) {
        EXPECT_TRUE(contains(program.out(), "`kilochain resume " + path + "` continues it")) << program.out();
      }
    }
    const std::int64_t before = DrawsReader(path).draws_written(), wanted = (before + 1000) * 100;
    ASSERT_GT(before, 0);
    std::printf("killed after %lld draws\n", static_cast<long long>(before));
    const Outcome on = kilochain(files, {"resume", path, "--num-samples", std::to_string(wanted), "--json", "--quiet"});
    ASSERT_TRUE(on.status == 0 || on.status == 6) << on.err;
    EXPECT_FALSE(contains(on.err, "HDF5")) << on.err;
    EXPECT_EQ(json::parse(on.out)["num_samples"], wanted);
    ASSERT_LE(kilochain(files, run_to(whole, std::to_string(wanted).c_str())).status, 6);
    EXPECT_TRUE(draws_of(path) == draws_of(whole));
  }
}

TEST(ResumeCommand, TheTimeIsLimited) {
  ScratchFiles files;
  const std::string path = files.path("draws.nc");
  const Outcome run = kilochain(files, run_to(path, "100000000", {"--max-seconds", "3"}));
  EXPECT_EQ(run.status, 9) << run.out << run.err;
  EXPECT_TRUE(
      contains(run.out, "the time is over (--max-seconds 3): these are the draws until then; `kilochain resume " +
                            path + "` continues it"))
      << run.out;
  const std::int64_t before = DrawsReader(path).draws_written();
  const Outcome more = kilochain(files, {"resume", path, "--max-seconds", "3", "--json"});
  EXPECT_EQ(more.status, 9);
  EXPECT_EQ(json::parse(more.out)["finished"], false);
  EXPECT_GT(DrawsReader(path).draws_written(), before);
  const Outcome none = kilochain(
      files, {"sample", "--target", "gaussian", "--preset", "neal_gaussian", "--num-chains", "64", "--num-warmup",
              "100000000", "--num-samples", "10", "--max-seconds", "3", "--output", files.path("none.nc")});
  EXPECT_EQ(none.status, 9) << none.out;
  EXPECT_TRUE(contains(none.out, "the time is over (--max-seconds 3) after ")) << none.out;
  EXPECT_TRUE(contains(none.out, " warm-up iterations: nothing was drawn; `kilochain resume ")) << none.out;
  EXPECT_TRUE(contains(none.out, "stopped     in its warm-up: nothing was drawn. What follows is of the last "));
  EXPECT_TRUE(contains(none.out, "max rhat")) << none.out;
  const std::int64_t reached =
      json::parse(kilochain(files, {"summary", files.path("none.nc"), "--json"}).out)["num_warmup"].get<std::int64_t>();
  const Outcome again = kilochain(files, {"resume", files.path("none.nc"), "--max-seconds", "3", "--json"});
  EXPECT_EQ(again.status, 9) << again.out;
  EXPECT_TRUE(contains(again.err, "the warm-up is resumed after iteration " + std::to_string(reached) + "\n"))
      << again.err;
  EXPECT_GT(json::parse(again.out)["num_warmup"].get<std::int64_t>(), reached);
}

/// Killed, a warm-up is where its last state was saved; nothing but that is there.
TEST(ResumeCommand, AWarmUpThatIsKilledGoesOn) {
  ScratchFiles files;
  const std::string path = files.path("draws.nc");
  {
    Program program(files, {"sample", "--target", "gaussian", "--target.preset", "gauss2d_corr", "--num-chains", "4",
                            "--num-warmup", "100000000", "--num-samples", "10", "--sampler", "rwm",
                            "--checkpoint-seconds", "1", "--output", path});
    ASSERT_TRUE(wait_until(program, [&] { return times_said(program, "warm-up") >= 2; })) << program.err();
    program.send(SIGKILL);
    EXPECT_EQ(program.wait(), 1000 + SIGKILL);
  }
  const Outcome looked = kilochain(files, {"summary", path});
  EXPECT_EQ(looked.status, 3);
  EXPECT_TRUE(contains(looked.err, "Go on with it by `kilochain resume " + path + "`?")) << looked.err;
  const Outcome on = kilochain(files, {"resume", path, "--max-seconds", "2"});
  EXPECT_EQ(on.status, 9) << on.out << on.err;
  EXPECT_TRUE(contains(on.err, "the warm-up is resumed after iteration ")) << on.err;
}

TEST(ResumeCommand, SaysWhatItCannotDo) {
  ScratchFiles files;
  const std::string path = files.path("draws.nc");
  const Outcome first = kilochain(files, run_to(path, "1000", {"--json"})),
                done = kilochain(files, {"resume", path, "--json"});
  ASSERT_TRUE(first.status == 0 || first.status == 6) << first.err;
  EXPECT_EQ(done.status, first.status);
  EXPECT_EQ(json::parse(done.out)["parameters"], json::parse(first.out)["parameters"]);
  EXPECT_EQ(json::parse(done.out)["finished"], true);
  EXPECT_TRUE(contains(done.err,
                       "nothing is left to draw: 1000 of 1000 iterations of each chain are there; "
                       "--num-samples 2000 draws more"))
      << done.err;
  expect_refusal(files, {"resume", path, "--num-samples", "500"}, 2,
                 path +
                     ": nothing is left to draw (500 iterations of each chain are wanted in all, 1000 are there). "
                     "Ask for more in all, such as --num-samples 2000?");
  expect_refusal(files, {"resume", path, "--seed", "2"}, 2,
                 "command line: unknown flag --seed (kilochain resume). `kilochain resume --help` says what it takes.");
  expect_refusal(files, {"resume", files.path("missing.nc")}, 3,
                 files.path("missing.nc") + ": no such file of draws (missing file). Is the path right?");
  expect_refusal(files, {"resume", path, "--num-samples", "many"}, 2,
                 "command line: --num-samples = many (not a number). Write --num-samples = a number >= 1 and <= "
                 "1099511627776?");
}

/// What a program says and how it ends, beside another one that writes to the test's files.
void expect_refused_beside(const Argv& arguments, int status, const std::string& text) {
  std::string command = KILOCHAIN_BINARY_DIR "/kilochain", said;
  for (const std::string& word : arguments) command += " '" + word + "'";
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  for (char buffer[256]; std::fgets(buffer, sizeof buffer, pipe);) said += buffer;
  const int raw = pclose(pipe);
  EXPECT_EQ(WIFEXITED(raw) ? WEXITSTATUS(raw) : -1, status);
  EXPECT_EQ(said, "kilochain: " + text + "\n");
}

/// One file for two runs is a slip of a job script: the one that came later is refused, and the other's draws are safe.
TEST(ResumeCommand, AFileThatIsBeingWrittenIsLeftAlone) {
  ScratchFiles files;
  const std::string path = files.path("draws.nc");
  {
    Program program(files, run_to(path, "100000000"));
    ASSERT_TRUE(wait_until(program, [&] { return times_said(program, "sampling") >= 2; })) << program.err();
    expect_refused_beside(
        run_to(path, "1000"), 2,
        path + ": the draws cannot be written there (another program has it open). Choose another --output?");
    for (const char* command : {"summary", "resume"})
      expect_refused_beside(
          {command, path}, 3,
          path +
              ": the file of draws cannot be read yet (a run is writing it). Wait for its end, or look at a "
              "copy of the file?");
    program.send(SIGHUP);
    EXPECT_EQ(program.wait(), 130) << program.err();
  }
  EXPECT_GT(DrawsReader(path).draws_written(), 0);
}

TEST(ResumeCommand, ARunWhoseFileIsRemovedSaysSo) {
  ScratchFiles files;
  const std::string path = files.path("draws.nc");
  Program replaced(files, run_to(path, "100000000"));
  ASSERT_TRUE(wait_until(replaced, [&] { return times_said(replaced, "sampling") >= 2; })) << replaced.err();
  std::filesystem::remove(path);
  replaced.send(SIGUSR1);
  EXPECT_EQ(replaced.wait(), 5);
  EXPECT_TRUE(contains(replaced.err(), path + ": the file of draws is gone")) << replaced.err();
}

}  // namespace
}  // namespace kilochain
