// The reference posteriors of examples/ on the emulated device, by NUTS: users' models run as device code. All of them
// give the CPU's draws to rounding; one is sampled to its known means.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "host/run/run.hpp"

namespace kilochain {
namespace {

/// The file of a model's data and known moments; empty, said aloud, where it is not beside this folder.
std::string reference_of(const std::string& name) {
  const std::string folder = KILOCHAIN_SOURCE_DIR "/../shared/reference";
  if (std::filesystem::exists(folder))
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().filename().string().rfind(name + "-", 0) == 0) return entry.path();
  std::cout << "SKIPPED ALOUD: no reference of " << name << " beside this folder (../shared/reference)\n";
  return "";
}

Options options_of(const std::string& name, const std::string& path) {
  Options o;
  o.target = name;
  o.target_settings = {{"data", path}};
  o.sampler = "nuts";
  o.real = Precision::double_precision;
  o.init = "normal:0.1";  // arma explodes where |theta| > 1
  o.threads = 1;
  o.keep_draws = true;
  return o;
}
Result run_on(Options o, const std::string& device) {
  o.device = device;
  const std::atomic<bool> never{false};
  return run(o, nullptr, never);
}

class EmulatedPosteriors : public testing::TestWithParam<const char*> {};

// Rounding of sums of at most 1000 terms, amplified by at most 5 trajectories of 7 steps: 1e-7 still tells a wrong
// formula.
TEST_P(EmulatedPosteriors, AreTheCpus) {
  const std::string name = GetParam(), path = reference_of(name);
  if (path.empty()) GTEST_SKIP();
  Options o = options_of(name, path);
  o.sampler_settings = {{"max_tree_depth", "3"}, {"step_size", "0.01"}};
  o.num_chains = 3;
  o.num_warmup = 3;
  o.num_samples = 2;
  const Result cpu = run_on(o, "cpu"), gpu = run_on(o, "cuda");
  EXPECT_EQ(gpu.summary.device, "cuda (emulated)");
  ASSERT_EQ(cpu.draws.size(), gpu.draws.size());
  for (std::size_t k = 0; k < cpu.draws.size(); ++k)
    ASSERT_NEAR(cpu.draws[k], gpu.draws[k], 1e-7 * std::max(1.0, std::abs(cpu.draws[k]))) << k;
}
#if defined(KILOCHAIN_EVERY_POSTERIOR)  // nightly
const auto built = testing::Values("eight_schools", "kidiq", "arma", "low_dim_gauss_mix", "sblrc", "mesquite");
#else
const auto built = testing::Values("eight_schools");
#endif
INSTANTIATE_TEST_SUITE_P(All, EmulatedPosteriors, built, [](const auto& info) { return std::string(info.param); });

/// The reference counts from 1, kilochain from 0.
std::string our_name(const std::string& name) {
  const auto bracket = name.find('[');
  return bracket == std::string::npos
             ? name
             : name.substr(0, bracket + 1) + std::to_string(std::stoi(name.substr(bracket + 1)) - 1) + "]";
}

// Statistical: means of 32 independent chains (t with 31 degrees of freedom: |t| > 5 in 2e-5, for each of 20).
TEST(EmulatedPosterior, OfTheEightSchoolsHasTheReferencesMoments) {
  constexpr std::size_t num_chains = 32;
  const std::string path = reference_of("eight_schools");
  if (path.empty()) GTEST_SKIP();
  const auto reference = nlohmann::json::parse(std::ifstream(path));
  Options o = options_of("eight_schools", path);
  o.num_chains = num_chains;
  o.num_warmup = 60;
  o.num_samples = 60;
  const Result result = run_on(o, "cuda");
  const std::size_t dim = result.names.size(), draws = result.draws.size() / dim / num_chains;
  for (std::size_t k = 0; k < reference["parameters"].size(); ++k) {
    const std::string parameter = our_name(reference["parameters"][k]);
    const auto at = std::find(result.names.begin(), result.names.end(), parameter);
    ASSERT_NE(at, result.names.end()) << parameter;
    for (const bool squared : {false, true}) {
      double sum = 0, squares = 0;
      for (std::size_t c = 0; c < num_chains; ++c) {
        double mean = 0;
        for (std::size_t d = 0; d < draws; ++d) {
          const double x = result.draws[(c * draws + d) * dim + static_cast<std::size_t>(at - result.names.begin())];
          mean += (squared ? x * x : x) / static_cast<double>(draws);
        }
        sum += mean, squares += mean * mean;
      }
      const double mean = sum / num_chains, mcse = std::sqrt((squares / num_chains - mean * mean) / (num_chains - 1));
      const double expected = reference[squared ? "mean_sq" : "mean"][k],
                   error = reference[squared ? "mcse_mean_sq" : "mcse_mean"][k];
      EXPECT_LT(std::abs(mean - expected) / std::hypot(mcse, error), 5) << parameter << (squared ? " squared" : "");
    }
  }
}

}  // namespace
}  // namespace kilochain
