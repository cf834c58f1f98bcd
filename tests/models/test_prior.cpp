// The prior of a model alone: its known law, its groups of the file, what has none.
#include <gtest/gtest.h>

#include <cmath>

#include "examples/posteriors/eight_schools.hpp"
#include "host/draws/draws_file.hpp"
#include "host/registry/own_target.hpp"
#include "host/report/diagnosis.hpp"
#include "host/run/run.hpp"
#include "host/run/run_state.hpp"
#include "tests/models/evaluated.hpp"
#include "tests/support/device_path_team.hpp"
#include "tests/support/runs.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::run_quietly;
using testing_support::ScratchFiles;

OwnTarget schools() {
  return OwnTarget::of<EightSchools>("schools", [](Loader& at) {
    return EightSchools::Data{at.put("y", {28, 8, -3, 7, -1, 1, 18, 12}),
                              at.put("sigma", {15, 10, 16, 11, 9, 11, 10, 18})};
  });
}
Options options(const OwnTarget& target) {
  Options o;
  o.target = target.name();
  o.sampler = "nuts";
  o.num_chains = 32;
  o.num_warmup = 500;
  o.num_samples = 1000;
  o.device = "cpu";
  o.prior_only = true;
  o.keep_draws = true;
  return o;
}
const ParameterSummary& named(const Result& r, const std::string& name) {
  return *std::find_if(r.summary.parameters.begin(), r.summary.parameters.end(),
                       [&](const auto& p) { return p.name == name; });
}

/// mu ~ N(0, 5), tau ~ half-Cauchy(5), z ~ N(0, 1): within 4.5 errors of their means and of tau's quantiles, whose
/// errors are those of a share of ess_bulk independent draws.
TEST(Prior, HasItsLaw) {
  const OwnTarget target = schools();
  const Result r = run_quietly(options(target));
  EXPECT_LT(r.summary.parameters.front().rhat, 1.01);
  EXPECT_LT(std::abs(named(r, "mu").mean), 4.5 * named(r, "mu").mcse_mean);
  EXPECT_NEAR(named(r, "mu").sd, 5, 4.5 * 5 / std::sqrt(2 * named(r, "mu").ess_tail));
  EXPECT_LT(std::abs(named(r, "z[3]").mean), 4.5 * named(r, "z[3]").mcse_mean);
  const auto& tau = named(r, "tau");
  const auto at = static_cast<std::size_t>(&tau - r.summary.parameters.data());
  for (const double p : {0.05, 0.5, 0.95}) {
    const double quantile = 5 * std::tan(p * std::acos(0.0));
    double below = 0, draws = 0;
    for (std::size_t k = at; k < r.draws.size(); k += r.names.size()) below += r.draws[k] < quantile, ++draws;
    EXPECT_NEAR(below / draws, p, 4.5 * std::sqrt(p * (1 - p) / std::min(tau.ess_bulk, tau.ess_tail))) << p;
  }
}

TEST(Prior, IsTheDensityByDualsTapeAndLanes) {
  ScratchFiles files;
  Context context = cpu_context(1);
  context.prior_only = true;
  testing_support::Evaluated<EightSchools, double> model(
      {files.write("d.json", R"({"y": [28, 8], "sigma": [15, 10]})")}, context);
  ASSERT_TRUE(model.info.is_prior);
  EXPECT_EQ(model.info.names.size(), 8u);  // z, theta and y_rep of both, mu, tau: no log_likelihood
  const double tau = std::exp(1.1), share = tau * tau / (25 + tau * tau);
  const double lp = normal_lp(2.0, 0, 5) + half_cauchy_lp(tau, 5) + normal_lp(0.3, 0, 1) + normal_lp(-0.7, 0, 1) + 1.1;
  const auto expect = [&](double value, const std::vector<double>& gradient) {
    EXPECT_NEAR(value, lp, 50 * 2.3e-16);
    const double expected[] = {-0.3, 0.7, -2.0 / 25, 1 - 2 * share};
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(gradient[k], expected[k], 20 * 2.3e-16);
  };
  const std::vector<double> u = {0.3, -0.7, 2, 1.1};
  std::vector<double> g;
  expect(model.at(u, Needs::gradient, &g), g);
  expect(model.at<testing_support::DevicePathTeam>(u, Needs::gradient, &g), g);
  model.data.by_tape = true;
  expect(model.at(u, Needs::gradient, &g), g);
}

TEST(Prior, HasGroupsOfItsOwnAndResumes) {
  const OwnTarget target = schools();
  ScratchFiles files;
  Options o = options(target);
  o.num_chains = 4;
  o.num_samples = 150;
  o.output = files.path("prior.nc");
  const Result begun = run_quietly(o);
  EXPECT_EQ(begun.names.size(), 8u + 1 + 1 + 8 + 8);
  o.resume = read_run_state(o.output);
  o.num_samples = 400;
  run_quietly(o);
  EXPECT_EQ(summarise_file(o.output).parameters.size(), 18u);
  EXPECT_EQ(diagnose(o.output).chains.size(), 4u);
  const Result read = read_result(o.output);
  EXPECT_EQ(read.draws_written, 400);
  EXPECT_EQ(read.variables.front().group + " " + read.variables.back().group, "prior prior_predictive");
  const std::string script = files.write("check.py", R"(
import sys, warnings
warnings.simplefilter("ignore")
try:
    import arviz
except ImportError:
    sys.exit(77)
idata = arviz.from_netcdf(sys.argv[1])
assert set(idata.groups()) == {"prior", "prior_predictive", "sample_stats_prior", "observed_data"}, idata.groups()
assert list(idata.prior.data_vars) == ["z", "mu", "tau", "theta"], idata.prior
assert idata.prior_predictive["y_rep"].shape == (4, 400, 8)
assert idata.sample_stats_prior["lp"].shape == (4, 400)
assert len(arviz.summary(idata, group="prior")) == 18
)");
  const char* chosen = std::getenv("KILOCHAIN_PYTHON");
  const std::string python = chosen && *chosen ? chosen : "python3";
  const int status = std::system((python + " " + script + " " + o.output).c_str());
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no arviz in the interpreter of KILOCHAIN_PYTHON (or python3)";
  EXPECT_EQ(status, 0);
}

TEST(Prior, IsRefusedWhereNoTermIsLikelihood) {
  Options o;
  o.target = "funnel", o.prior_only = true;
  EXPECT_EQ(testing_support::refusal(o, ExitStatus::usage),
            "target funnel: its prior alone cannot be sampled (no term of it is given to log_likelihood). Write "
            "lp += p.log_likelihood(i, ...) for each observation of a C++ model, or leave out --prior-only?");
}

}  // namespace
}  // namespace kilochain
