// Posterior means against truth: Gauss-Hermite quadrature of two regressions, and a long run of the authors' code on
// German credit. |z| < 4 for every mean: over the 30 means here, a false alarm in about 500 runs of this file.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "host/run/run.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

const std::string shared = KILOCHAIN_SOURCE_DIR "/../shared";

nlohmann::json read_json(const std::string& path) {
  std::ifstream in(path);
  return in ? nlohmann::json::parse(in) : nlohmann::json();
}

Result sample(Options o) {
  o.seed = 1;
  o.device = "cpu";
  std::printf("seed 1\n");
  const std::atomic<bool> never{false};
  return run(o, nullptr, never);
}

/// `order[k]` is the reference's coordinate for ours; errors of both sides count.
void expect_means(const Result& r, const std::vector<double>& mean, const std::vector<double>& mcse,
                  double scale_ours = 1) {
  ASSERT_EQ(r.summary.parameters.size(), mean.size());
  for (std::size_t k = 0; k < mean.size(); ++k) {
    const auto& p = r.summary.parameters[k];
    const double error = std::hypot(p.mcse_mean * scale_ours, mcse[k]);
    EXPECT_LT(std::abs(p.mean - mean[k]), 4 * error)
        << p.name << ": " << p.mean << " against " << mean[k] << ", z = " << (p.mean - mean[k]) / error;
    EXPECT_LT(p.rhat, 1.01) << p.name;
  }
}

#define NEEDS_SHARED(path)                                                \
  if (!std::ifstream(path)) {                                             \
    std::printf("SKIPPED: %s is not there\n", std::string(path).c_str()); \
    GTEST_SKIP() << path << " is not there";                              \
  }

TEST(Posteriors, WellsByQuadrature) {
  const std::string path = shared + "/reference/extra_quadrature/wells_data-wells_dist.json";
  NEEDS_SHARED(path);
  const auto j = read_json(path);
  // Distances in metres: coefficients differ a hundredfold in scale. The flat prior is a normal with sd 1 000.
  std::string csv = "dist,switched\n";
  for (std::size_t i = 0; i < j["data"]["switched"].size(); ++i)
    csv += std::to_string(j["data"]["dist"][i].get<double>()) + "," +
           std::to_string(j["data"]["switched"][i].get<int>()) + "\n";
  testing_support::ScratchFiles files;
  Options o;
  o.target = "logistic_regression";
  o.target_settings = {{"data", files.write("wells.csv", csv)}, {"standardise", "no"}, {"prior_sd", "1000"}};
  o.init = "zeros";
  o.num_chains = 64;
  const Result r = sample(o);
  expect_means(r, {j["mean"][1], j["mean"][0]}, {0, 0});
}

TEST(Posteriors, BinomialByQuadrature) {
  const std::string path = shared + "/reference/extra_quadrature/GLM_Binomial_data-GLM_Binomial_model.json";
  NEEDS_SHARED(path);
  const auto j = read_json(path);
  std::string csv = "year,year_square,success\n";
  for (std::size_t i = 0; i < j["data"]["C"].size(); ++i) {
    const double year = j["data"]["year"][i];
    for (int k = 0; k < j["data"]["N"][i].get<int>(); ++k)
      csv += std::to_string(year) + "," + std::to_string(year * year) + "," +
             (k < j["data"]["C"][i].get<int>() ? "1\n" : "0\n");
  }
  testing_support::ScratchFiles files;
  Options o;
  o.target = "logistic_regression";
  o.target_settings = {{"data", files.write("binomial.csv", csv)}, {"standardise", "no"}, {"prior_sd", "100"}};
  o.num_chains = 64;
  const Result r = sample(o);
  expect_means(r, {j["mean"][1], j["mean"][2], j["mean"][0]}, {0, 0, 0});
}

TEST(Posteriors, GermanByALongIndependentRun) {
  const std::string data = shared + "/data/german.csv";
  NEEDS_SHARED(data);
  const auto j = read_json(shared + "/reference/gad-expected.json")["targets"]["german"]["posterior_moments"];
  Options o;
  o.target = "logistic_regression";
  o.target_settings = {{"data", data}};
  o.num_chains = 256;
  o.num_warmup = 1000;
  o.num_samples = 1000;
  const Result r = sample(o);
  expect_means(r, j["mean"], j["mcse_mean"]);
}

}  // namespace
}  // namespace kilochain
