// Groups of chains that begin together, in whole runs: short runs of a thousand chains, files, resumed runs, modes.
#include <gtest/gtest.h>

#include <cmath>

#include "host/draws/draws_file.hpp"
#include "host/run/run.hpp"
#include "host/run/run_state.hpp"
#include "tests/support/runs.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::run_quietly;
using testing_support::ScratchFiles;

Options thousand(const std::string& target, const SettingTexts& settings) {
  Options o;
  o.target = target;
  o.target_settings = settings;
  o.num_chains = 1024;
  o.device = "cpu";
  o.seed = 3;
  return o;
}

TEST(SuperchainRuns, AThousandChainsNeedFewDrawsEach) {
  const Result r = run_quietly(thousand("gaussian", {{"preset", "gauss2d_corr"}}));
  EXPECT_EQ(status_of(r), 0) << verdict_of(r.summary).reason;
  EXPECT_EQ(r.summary.superchains, 16);
  EXPECT_LE(r.summary.num_samples, 100);
  for (const ParameterSummary& p : r.summary.parameters)
    EXPECT_LT(std::abs(p.mean), 4 * p.mcse_mean) << "seed 3, " << p.name;  // false alarm in 1 of 8 000 runs for both
}

TEST(SuperchainRuns, ModesFarApartAreFound) {
  Options o = thousand("gaussian_mixture", {{"dim", "1"}, {"means", "-8;9"}, {"weights", "0.5,0.5"}});
  o.num_chains = 256;
  const Result right = run_quietly(o);
  EXPECT_EQ(status_of(right), 0);
  EXPECT_LT(std::abs(right.summary.parameters[0].mean - 0.5), 4 * right.summary.parameters[0].mcse_mean);
  o.num_warmup = 300;  // no audit sees that chains stay where they are
  const Result r = run_quietly(o);
  EXPECT_EQ(status_of(r), 6);
  EXPECT_GT(r.summary.superchains, 1);
  EXPECT_GT(r.summary.parameters[0].rhat, 1.1);
}

// From one point all would climb to the nearer mode.
TEST(SuperchainRuns, ModesOnBothSidesOfOnePointAreFound) {
  Options o = thousand("gaussian_mixture", {{"dim", "2"}, {"means", "-8;8"}, {"weights", "0.3,0.7"}});
  o.num_chains = 64, o.init = "zeros";
  for (o.seed = 1; o.seed < 4; ++o.seed) {
    const Result r = run_quietly(o);
    EXPECT_EQ(status_of(r), 0) << "seed " << o.seed;
    EXPECT_LT(std::abs(r.summary.parameters[0].mean - 3.2), 4 * r.summary.parameters[0].mcse_mean);
  }
}

TEST(SuperchainRuns, AreAskedForOrRefused) {
  Options o = thousand("gaussian", {{"preset", "gauss2d_corr"}});
  o.superchains = 1;
  o.num_warmup = 100, o.num_samples = 20;
  EXPECT_EQ(run_quietly(o).summary.superchains, 0);
  o.superchains = 8;
  EXPECT_EQ(run_quietly(o).summary.superchains, 8);
  o.superchains = 513;
  EXPECT_THROW(run_quietly(o), Error);
}

TEST(SuperchainRuns, ChainsOfOneBeginAtOnePoint) {
  Options o = thousand("gaussian", {{"preset", "gauss2d_corr"}});
  o.sampler = "hmc", o.sampler_settings = {{"step_rule", "fixed"}, {"step_size", "1e-9"}, {"num_steps", "1"}};
  o.num_chains = 12, o.superchains = 3;
  o.num_warmup = 0, o.num_samples = 4;
  o.keep_draws = true;
  const Result r = run_quietly(o);
  const auto first_of = [&](std::size_t chain) { return r.draws[chain * 4 * 2]; };
  for (std::size_t c = 3; c < 12; ++c) EXPECT_NEAR(first_of(c), first_of(c % 3), 1e-6);
  EXPECT_GT(std::abs(first_of(0) - first_of(1)), 1e-3);
  for (const ParameterSummary& p : r.summary.parameters) EXPECT_GT(p.rhat, 2);
}

TEST(SuperchainRuns, FilesKnowThemAndResumedRunsKeepThem) {
  const ScratchFiles files;
  Options o = thousand("gaussian", {{"preset", "gauss2d_corr"}});
  o.num_chains = 256, o.num_samples = 40;
  o.output = files.path("whole.nc");
  const Result whole = run_quietly(o);
  ASSERT_EQ(whole.summary.superchains, 16);
  const auto rhats = [](const RunSummary& s) {
    std::vector<double> out;
    for (const ParameterSummary& p : s.parameters) out.push_back(p.rhat);
    return out;
  };
  EXPECT_EQ(rhats(summarise_file(o.output)), rhats(whole.summary));
  const std::string whole_file = o.output;
  o.num_samples = 20, o.output = files.path("half.nc");
  run_quietly(o);
  o.resume = read_run_state(o.output);
  o.num_samples = 40;
  const Result resumed = run_quietly(o);
  EXPECT_EQ(resumed.summary.superchains, 16);
  EXPECT_EQ(rhats(resumed.summary), rhats(whole.summary));
  EXPECT_EQ(rhats(summarise_file(o.output)), rhats(whole.summary));
}

}  // namespace
}  // namespace kilochain
