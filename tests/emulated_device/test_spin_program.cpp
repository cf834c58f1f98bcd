// Whole runs of spin models on the emulated device: the file and the summary are the CPU's.
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace kilochain {
namespace {

using namespace testing_support;
using nlohmann::json;

json sampled(const ScratchFiles& files, const std::string& device, const Argv& more) {
  Argv all = {
      "sample", "--num-chains", "4",        "--num-warmup", "3",        "--num-samples",           "8", "--seed",
      "5",      "--json",       "--device", device,         "--output", files.path(device + ".nc")};
  all.insert(all.end(), more.begin(), more.end());
  const Outcome o = kilochain(files, all);
  EXPECT_TRUE(o.status == 0 || o.status == 6) << o.err;  // 6: so short a run has not converged
  return json::parse(o.out, nullptr, false);
}

// Integers: the same draws, so the same summary to the last digit.
TEST(EmulatedSpinProgram, ARunOnTheDeviceIsTheCpus) {
  const ScratchFiles files;
  const std::vector<Argv> runs = {
      {"--target", "ising", "--size", "6x6", "--hamming", "18", "--beta", "0.44", "--sampler", "intracluster",
       "--preset", "im_expert", "--choice", "lists"},
      {"--target", "ising", "--size", "6x6", "--hamming", "18", "--beta", "0.44", "--sampler", "intracluster",
       "--preset", "im_expert", "--choice", "rows"},
      {"--target", "ising", "--size", "8x12", "--beta", "0.3", "--sampler", "metropolis", "--draws", "energy"},
      {"--target", "ising", "--size", "5x4", "--beta", "0.3", "--sampler", "gibbs", "--chain-batch-size", "2"},
      {"--target", "ising", "--size", "4x4", "--beta", "0.6", "--sampler", "tempering", "--of", "gibbs", "--rungs", "3",
       "--beta-min", "0.2", "--real", "float"},
      {"--target", "ising", "--size", "4x4", "--beta", "0.3", "--sampler", "dmala", "--init", "zeros", "--thin", "2"}};
  for (const Argv& run : runs) {
    const json cpu = sampled(files, "cpu", run), gpu = sampled(files, "cuda", run);
    ASSERT_TRUE(cpu.is_object() && gpu.is_object()) << run[7];
    EXPECT_EQ(gpu["device"], "cuda (emulated)");
    EXPECT_EQ(gpu["quarantined"], 0);
    EXPECT_EQ(cpu["parameters"], gpu["parameters"]) << run[7];
    EXPECT_FALSE(cpu["parameters"].empty());
  }
}

TEST(EmulatedSpinProgram, TheEstimateKnowsTheDevicesMemory) {
  const ScratchFiles files;
  const Outcome o =
      kilochain(files, {"estimate", "--target", "ising", "--size", "12x12", "--sampler", "gibbs", "--num-chains", "100",
                        "--num-warmup", "10", "--num-samples", "20", "--device", "cuda"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_NE(o.out.find("state of the chains"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("device"), std::string::npos) << o.out;
}

}  // namespace
}  // namespace kilochain
