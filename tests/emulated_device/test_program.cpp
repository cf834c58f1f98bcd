// Whole runs of the program on the emulated device: they name it, agree with the CPU's, and end with a message and a file
// that can be read when the device fails.
#include <cmath>
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

TEST(EmulatedProgram, AutoDoesNotChooseIt) {
  const ScratchFiles files;
  EXPECT_EQ(sampled(files, "auto", {"--num-warmup", "20", "--num-samples", "20"})["device"], "cpu");
  EXPECT_TRUE(contains(kilochain(files, {"info"}).out, "emulated on the CPU"));
}

}  // namespace
}  // namespace kilochain
