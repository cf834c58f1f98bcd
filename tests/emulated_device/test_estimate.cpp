// `kilochain estimate` against what a run takes: the device memory that it foretells is what is allocated, or a little
// more.
#include <algorithm>

#include "host/run/run.hpp"
#include "tests/emulated_device/fixture.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using EmulatedEstimate = EmulatedDevice;

TEST_F(EmulatedEstimate, IsWhatIsAllocated) {
  const testing_support::ScratchFiles files;
  std::string table = "a,b,c,d,y\n";
  for (int i = 0; i < 300; ++i)
    table += std::to_string(i % 7) + "," + std::to_string(i % 5) + "," + std::to_string(i % 3) + "," +
             std::to_string(i % 11) + "," + std::to_string(i % 2) + "\n";
  const std::string data = files.write("table.csv", table);
  struct Trial {
    std::string sampler;
    SettingTexts settings;
    bool regression = false;  ///< by products of matrices; else a Gaussian in 100 dimensions
    Scope scope = Scope::pooled;
  };
  const Trial trials[] = {{"cma", {}},            // a step of all blocks, its scratch
                          {"gad_mala_fast", {}},  // the natural step
                          {"adaptive_metropolis", {}, false, Scope::chain},
                          {"hmc", {{"mass", "dense"}, {"num_steps", "2"}}},
                          {"nuts", {{"mass", "dense"}, {"max_tree_depth", "2"}}, true},  // panels of chains that ask
                          {"gad_mala_fast", {}, true}};
  for (const Trial& t : trials) {
    SCOPED_TRACE(t.sampler + (t.regression ? ", products" : ""));
    Options o;
    o.sampler = t.sampler, o.sampler_settings = t.settings, o.adapt_scope = t.scope;
    o.target = t.regression ? "logistic_regression" : "gaussian";
    o.target_settings = {{"preset", "neal_gaussian"}};
    if (t.regression) o.target_settings = {{"data", data}, {"matmul", "float32"}};
    o.num_chains = t.regression ? 200 : 40;
    o.num_warmup = 3, o.num_samples = 6;
    o.device = "cuda";
    o.draws = KeptDraws::moments;
    const std::int64_t before = emulated::living().device_bytes;
    const PreparedRun prepared(o);
    const Estimate e = prepared.estimate();
    std::int64_t most = 0;
    const std::atomic<bool> never{false};
    prepared.run([&](const Progress&) { most = std::max(most, emulated::living().device_bytes - before); }, never);
    const auto foretold = static_cast<std::int64_t>(e.device_bytes),
               workspace = t.regression ? std::int64_t(32) << 20 : 0;  // of cuBLAS
    EXPECT_LE(most - workspace, foretold + (64 << 10));
    EXPECT_GE(most - workspace, foretold / 2);
    std::printf("%s: %lld bytes of %lld foretold\n", t.sampler.c_str(), static_cast<long long>(most - workspace),
                static_cast<long long>(foretold));
  }
  EXPECT_TRUE(emulated::faults().empty());
}

}  // namespace
}  // namespace kilochain
