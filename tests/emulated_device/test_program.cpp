// Whole runs of the program on the emulated device: they name it, agree with the CPU's, and end with a message and a
// file that can be read when the device fails.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace kilochain {
namespace {

using namespace testing_support;
using nlohmann::json;

const std::string challenger = KILOCHAIN_SOURCE_DIR "/data/challenger.csv";

json sampled(const ScratchFiles& files, const std::string& device, Argv more) {
  Argv all = {"sample",   "--target", "logistic_regression",
              "--data",   challenger, "--num-chains",
              "16",       "--seed",   "3",
              "--device", device,     "--json",
              "--draws",  "moments"};
  all.insert(all.end(), more.begin(), more.end());
  const Outcome o = kilochain(files, all);
  EXPECT_TRUE(o.status == 0 || o.status == 6) << o.err;  // 6: so short a run has not converged
  return json::parse(o.out, nullptr, false);
}

// Statistical: means of 16 chains differ by their Monte Carlo errors, z = 5 (false alarm 6e-7 for each of 12).
TEST(EmulatedProgram, ARunOnTheDeviceAgreesWithTheCpus) {
  const ScratchFiles files;
  for (const char* sampler : {"mala", "gad_mala_fast", "gad_rwm", "nuts"}) {
    const Argv more = {"--sampler", sampler, "--num-warmup", "200", "--num-samples", "200", "--adapt-scope", "pooled"};
    const json cpu = sampled(files, "cpu", more), gpu = sampled(files, "cuda", more);
    ASSERT_TRUE(cpu.is_object() && gpu.is_object()) << sampler;
    EXPECT_EQ(gpu["device"], "cuda (emulated)");
    EXPECT_EQ(gpu["quarantined"], 0);
    for (std::size_t k = 0; k < cpu["parameters"].size(); ++k) {
      const auto &a = cpu["parameters"][k], &b = gpu["parameters"][k];
      const double error = std::hypot(a["mcse_mean"].get<double>(), b["mcse_mean"].get<double>());
      EXPECT_NEAR(a["mean"].get<double>(), b["mean"].get<double>(), 5 * error) << sampler << ", " << a["name"];
    }
  }
}

// Exact answer; z = 5 as above.
TEST(EmulatedProgram, ALibraryOfADensityOfDevicePointers) {
  const ScratchFiles files;
  for (const char* sampler : {"mala", "nuts"}) {
    const Outcome o = kilochain(files, {"sample",
                                        "--target",
                                        "shared_library",
                                        "--library",
                                        KILOCHAIN_BINARY_DIR "/tests/libraries/device_density.so",
                                        "--function",
                                        "on_device",
                                        "--batched",
                                        "device",
                                        "--dim",
                                        "3",
                                        "--device",
                                        "cuda",
                                        "--sampler",
                                        sampler,
                                        "--num-chains",
                                        "9",
                                        "--num-warmup",
                                        "100",
                                        "--num-samples",
                                        "50",
                                        "--json"});
    ASSERT_TRUE(o.status == 0 || o.status == 6) << o.err;
    const json run = json::parse(o.out);
    EXPECT_EQ(run["device"], "cuda (emulated)");
    for (std::size_t k = 0; k < 3; ++k) {
      const auto& p = run["parameters"][k];
      EXPECT_NEAR(p["mean"].get<double>(), double(k), 5 * p["mcse_mean"].get<double>()) << sampler << ", " << k;
    }
  }
}

class EmulatedFailures : public testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"FAIL", "LOSE", "REPORT", "MEMORY"}) unsetenv(variable(name).c_str());
  }
  static std::string variable(const std::string& name) { return "KILOCHAIN_EMULATED_" + name; }
  static Outcome run_with(const std::string& name, std::int64_t value, const std::string& draws) {
    const ScratchFiles files;
    setenv(variable(name).c_str(), std::to_string(value).c_str(), 1);
    Outcome o = kilochain(files, {"sample",
                                  "--target",
                                  "gaussian",
                                  "--target.preset",
                                  "gauss2d_corr",
                                  "--sampler",
                                  "rwm",
                                  "--num-chains",
                                  "4",
                                  "--num-warmup",
                                  "30",
                                  "--num-samples",
                                  draws,
                                  "--seed",
                                  "3",
                                  "--device",
                                  "cuda",
                                  "--output",
                                  files.path("draws.nc"),
                                  "--json"});
    unsetenv(variable(name).c_str());
    if (std::filesystem::exists(files.path("draws.nc"))) {
      const Outcome read = kilochain(files, {"summary", files.path("draws.nc"), "--json"});
      EXPECT_EQ(read.out.empty(), read.status != 0 && read.status != 6) << read.err;
      const json all = json::parse(read.out, nullptr, false);
      o.out = all.is_object() ? all.dump() : "";
    }
    return o;
  }
  static std::int64_t calls_of_a_run(const std::string& draws) {
    const std::string report = run_with("REPORT", 1, draws).err;
    const auto at = report.find("calls ");
    EXPECT_NE(at, std::string::npos) << report;
    return at == std::string::npos ? 0 : std::stoll(report.substr(at + 6));
  }
};

// No call's failure is a crash or a hang: the run is right all the same, or says what failed and how to go on.
TEST_F(EmulatedFailures, EndWithAMessageAndAStatus) {
  const std::int64_t calls = calls_of_a_run("40");
  ASSERT_GT(calls, 50);
  int told = 0;
  for (std::int64_t k = 1; k <= calls; k += 1 + k / 5) {
    const Outcome o = run_with("FAIL", k, "40");
    if (o.status == 0 || o.status == 6) continue;  // a release, say
    ++told;
    EXPECT_TRUE(o.status == 8 || (o.status == 2 && contains(o.err, "--device cpu?"))) << k << ": " << o.err;
    EXPECT_TRUE(contains(o.err, "kilochain: ") && contains(o.err, "?")) << k << ": " << o.err;
    if (contains(o.err, "out of memory")) {
      EXPECT_TRUE(contains(o.err, "--chain-batch-size")) << o.err;
    }
  }
  EXPECT_GT(told, 10);
}

TEST_F(EmulatedFailures, ALostDeviceLeavesTheWindowsBeforeIt) {
  const std::int64_t calls = calls_of_a_run("4000");
  const Outcome o = run_with("LOSE", calls * 4 / 5, "4000");
  EXPECT_EQ(o.status, 8) << o.err;
  EXPECT_TRUE(contains(o.err, "the CUDA device failed")) << o.err;
  EXPECT_TRUE(contains(o.err, "safe in the --output file")) << o.err;
  EXPECT_FALSE(o.out.empty()) << "the file can be read: " << o.err;
}

TEST_F(EmulatedFailures, TooSmallADeviceIsRefusedBeforeTheRun) {
  const Outcome o = run_with("MEMORY", 300000, "4000");
  EXPECT_EQ(o.status, 2) << o.err;
  EXPECT_TRUE(contains(o.err, "device") && contains(o.err, "--chain-batch-size")) << o.err;
}

// Ctrl-C while draws stay on the device: what was drawn is summed up, and the status says that it is not all.
TEST(EmulatedProgram, CtrlCWhileDrawsStayOnTheDevice) {
  const ScratchFiles files;
  const std::string path = files.path("draws.nc");
  Program program(
      files,
      {"sample",  "--target",     "gaussian", "--target.preset", "gauss2d_corr", "--sampler", "rwm",  "--num-chains",
       "100",     "--num-warmup", "1",        "--num-samples",   "100000000",    "--device",  "cuda", "--draws",
       "moments", "--output",     path,       "--verbose"});
  // The first 655 draws of each chain are the host's.
  ASSERT_TRUE(wait_until(program, [&] { return contains(program.err(), "sampling"); })) << program.err();
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  program.send(SIGINT);
  EXPECT_EQ(program.wait(), 130) << program.err();
  EXPECT_TRUE(contains(program.out(), "interrupted")) << program.out();
  EXPECT_TRUE(contains(program.out(), "x[1]")) << program.out();
  EXPECT_FALSE(contains(program.err(), "emulated device:")) << program.err();
  const Outcome again = kilochain(files, {"summary", path, "--json"});
  EXPECT_TRUE(again.status == 0 || again.status == 6) << again.err;
  EXPECT_GT(json::parse(again.out)["num_samples"].get<std::int64_t>(), 0);
}

TEST(EmulatedProgram, AutoDoesNotChooseIt) {
  const ScratchFiles files;
  EXPECT_EQ(sampled(files, "auto", {"--num-warmup", "20", "--num-samples", "20"})["device"], "cpu");
  EXPECT_TRUE(contains(kilochain(files, {"info"}).out, "emulated on the CPU"));
}

}  // namespace
}  // namespace kilochain
