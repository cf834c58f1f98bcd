// Log likelihoods and predictions: their own groups of the file, where ArviZ finds them; not judged;
// the same when resumed.
#include <gtest/gtest.h>

#include <cmath>

#include "host/draws/draws_file.hpp"
#include "host/registry/own_target.hpp"
#include "host/run/run.hpp"
#include "host/run/run_state.hpp"
#include "model/densities.hpp"
#include "tests/models/evaluated.hpp"
#include "tests/support/runs.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::Evaluated;
using testing_support::run_quietly;
using testing_support::ScratchFiles;

struct Heights {
  static constexpr const char* meaning = "a mean, with what is needed to check the model";
  struct Data {
    DataArray y;
  };
  static Data load(const model_detail::Nothing&, Loader& loader) { return {loader.put("y", {0.3, -1, 0.5, 2, 1.1})}; }
  template <class Parameters>
  KC_HD static auto log_density(Parameters& p, const Data& d) {
    const int n = d.y.size();
    p.predict("before", 2, [&](auto& rng, int) { return rng.poisson(3); });
    const auto mu = p.real("mu");
    const auto sigma = p.positive("sigma");
    auto lp = normal_lp(mu, 0, 5) + half_normal_lp(sigma, 2);
    for (int i = 0; i < n; ++i) lp += p.log_likelihood(i, normal_lp(d.y[i], mu, sigma));
    p.predict("y_rep", d.y, [&](auto& rng, int) { return rng.normal(mu, sigma); });
    p.report("ratio", mu / sigma);
    return lp;
  }
};
OwnTarget heights() {
  return OwnTarget::of<Heights>("heights", [](Loader& at) { return Heights::load({}, at); });
}

TEST(Predictions, StandBehindThePosterior) {
  Evaluated<Heights, double> model;
  EXPECT_EQ(model.info.dim, 2);
  EXPECT_EQ(model.info.num_posterior, 3u);
  std::vector<std::string> groups;
  for (const auto& v : model.info.variables) groups.push_back(v.name + " " + v.group);
  EXPECT_EQ(groups, (std::vector<std::string>{"mu posterior", "sigma posterior", "ratio posterior",
                                              "before posterior_predictive", "y_rep posterior_predictive",
                                              "log_likelihood log_likelihood"}));
  ASSERT_EQ(model.info.names.size(), 3u + 2 + 5 + 5);
  const double u[] = {0.5, 0.1};
  double values[15], again[15], other[15];
  model.info.constrain(u, {1, 2, 3}, values);
  model.info.constrain(u, {1, 2, 3}, again);
  model.info.constrain(u, {1, 2, 4}, other);
  EXPECT_EQ(values[2], 0.5 / std::exp(0.1));
  EXPECT_EQ(values[10], normal_lp(0.3, 0.5, std::exp(0.1)));
  EXPECT_EQ(values[14], normal_lp(1.1, 0.5, std::exp(0.1)));
  EXPECT_TRUE(std::equal(values, values + 15, again));
  for (int k = 5; k < 10; ++k) EXPECT_NE(values[k], other[k]);
  ASSERT_EQ(model.info.constants.size(), 1u);
  EXPECT_EQ(model.info.constants[0].name + " " + model.info.constants[0].group, "y observed_data");
}

template <int wrong>
struct Wrong {
  static constexpr const char* meaning = "wrong";
  template <class P>
  static scalar_of<P> log_density(P& p, const model_detail::Nothing&) {
    const auto a = p.real("a");
    const int n = wrong == 1 && value_of(a) > 0 ? 4 : wrong == 2 && value_of(a) > 0 ? 2 : 3;
    scalar_of<P> lp = 0.0;
    for (int i = 0; i < n; ++i) lp += p.log_likelihood(wrong == 0 ? 4 - i % 2 : i, normal_lp(a, 0, 1));
    if (wrong != 3 || !(value_of(a) > 0)) p.predict("z", 2, [](auto& rng, int) { return rng.uniform(); });
    return lp;
  }
};
template <int wrong>
std::string message() {
  try {
    Evaluated<Wrong<wrong>, double> model;
    const double x[] = {1};
    model.info.check(x);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}
TEST(Predictions, WhatIsNotTheSameEveryTimeIsAnError) {
  EXPECT_EQ(message<0>(),
            "model: log_likelihood is not called once for each observation (3 calls, the largest index is 4). "
            "Call it for each of 0, 1, ... once?");
  EXPECT_NE(message<1>().find("log_likelihood(3, ...) is out of range (the first evaluation had 3)"), std::string::npos)
      << message<1>();
  EXPECT_NE(message<2>().find("does not read log_likelihood \"log_likelihood\" of 3"), std::string::npos)
      << message<2>();
  EXPECT_NE(message<3>().find("does not read predict \"z\" of 2"), std::string::npos) << message<3>();
}

/// Mean and variance of 200 000 draws, within 4.5 of their errors: a false alarm in 150 000 of each.
TEST(Predictions, RandomNumbersHaveTheirMoments) {
  const auto check = [](const char* name, double mean, double variance, double kurtosis, auto draw) {
    PredictiveRng rng(1, 2, 3);
    const int n = 200000;
    double sum = 0, squares = 0;
    for (int k = 0; k < n; ++k) {
      const double x = draw(rng) - mean;
      sum += x, squares += x * x;
    }
    EXPECT_LT(std::abs(sum / n), 4.5 * std::sqrt(variance / n)) << name;
    EXPECT_LT(std::abs(squares / n - variance), 4.5 * variance * std::sqrt((kurtosis - 1) / n)) << name;
  };
  check("uniform", 0.5, 1.0 / 12, 1.8, [](auto& r) { return r.uniform(); });
  check("normal", 2, 9, 3, [](auto& r) { return r.normal(2, 3); });
  check("exponential", 0.5, 0.25, 9, [](auto& r) { return r.exponential(2); });
  check("student_t", 1, 4 * 10 / 8.0, 4, [](auto& r) { return r.student_t(10, 1, 2); });
  check("gamma", 2.5 / 2, 2.5 / 4, 3 + 6 / 2.5, [](auto& r) { return r.gamma(2.5, 2); });
  check("gamma below 1", 0.5, 0.5, 15, [](auto& r) { return r.gamma(0.5, 1); });
  check("bernoulli", 0.3, 0.21, 0.37 / 0.21, [](auto& r) { return r.bernoulli(0.3); });
  check("binomial", 6, 4.2, 3, [](auto& r) { return r.binomial(20, 0.3); });
  check("poisson", 3, 3, 3 + 1 / 3.0, [](auto& r) { return r.poisson(3); });
  check("poisson of many", 300, 300, 3, [](auto& r) { return r.poisson(300); });
  check("neg_binomial_2_log", 4, 4 + 16 / 5.0, 4.4, [](auto& r) { return r.neg_binomial_2_log(std::log(4), 5); });
}

Options options(const OwnTarget& target) {
  Options o;
  o.target = target.name();
  o.sampler = "nuts";
  o.num_chains = 4;
  o.num_warmup = 300;
  o.num_samples = 400;
  o.device = "cpu";
  o.keep_draws = true;
  return o;
}

TEST(Predictions, AreGroupsOfTheFileAndNotJudged) {
  const OwnTarget target = heights();
  ScratchFiles files;
  Options o = options(target);
  o.output = files.path("heights.nc");
  const Result r = run_quietly(o);
  ASSERT_EQ(r.summary.parameters.size(), 3u);
  EXPECT_EQ(r.summary.parameters[2].name, "ratio");
  EXPECT_EQ(summarise_file(o.output).parameters.size(), 3u);
  const Result read = read_result(o.output);
  EXPECT_EQ(read.draws, r.draws);
  EXPECT_EQ(read.variables.back().group, "log_likelihood");
  o.draws = KeptDraws::moments, o.output = files.path("moments.nc");
  EXPECT_EQ(run_quietly(o).summary.parameters.size(), 3u);
  o.draws = KeptDraws::all, o.output.clear();
  // Prediction and mean are as far apart as the model says: sd of y_rep - mu is sigma.
  double z = 0;
  for (std::size_t k = 0; k < r.draws.size(); k += 15) {
    const double one = (r.draws[k + 5] - r.draws[k]) / r.draws[k + 1];
    z += one * one;
  }
  const double draws = static_cast<double>(r.draws.size()) / 15;
  EXPECT_NEAR(z / draws, 1, 4.5 * std::sqrt(2 / draws));
  const std::string script = files.write("check.py", R"(
import sys, warnings
warnings.simplefilter("ignore")
try:
    import arviz, matplotlib
except ImportError:
    sys.exit(77)
matplotlib.use("Agg")
idata = arviz.from_netcdf(sys.argv[1])
assert list(idata.posterior.data_vars) == ["mu", "sigma", "ratio"], idata.posterior
assert idata.posterior_predictive["y_rep"].shape == (4, 400, 5)
assert idata.log_likelihood["log_likelihood"].shape == (4, 400, 5)
assert idata.observed_data["y"].values.tolist() == [0.3, -1, 0.5, 2, 1.1]
assert not bool((idata.posterior_predictive["y_rep"] != idata.posterior_predictive["y_rep"]).any())
loo = arviz.loo(idata)
assert -15 < loo.elpd_loo < -5, loo
arviz.plot_ppc(idata, data_pairs={"y": "y_rep"}, num_pp_samples=20)
)");
  const char* chosen = std::getenv("KILOCHAIN_PYTHON");
  const std::string python = chosen && *chosen ? chosen : "python3";
  const int status = std::system((python + " " + script + " " + files.path("heights.nc")).c_str());
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no arviz in the interpreter of KILOCHAIN_PYTHON (or python3)";
  EXPECT_EQ(status, 0);
}

TEST(Predictions, AreTheSameInAResumedRun) {
  const OwnTarget target = heights();
  ScratchFiles files;
  Options o = options(target);
  o.output = files.path("whole.nc");
  const Result whole = run_quietly(o);
  o.output = files.path("resumed.nc");
  o.num_samples = 150;
  run_quietly(o);
  o.resume = read_run_state(o.output);
  o.num_samples = 400;
  run_quietly(o);
  const Result read = read_result(o.output);
  EXPECT_EQ(read.draws, whole.draws);
}

}  // namespace
}  // namespace kilochain
