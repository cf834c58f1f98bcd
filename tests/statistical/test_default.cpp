// The default with nothing said but the number of chains: status 0, and means and squares right, on Gaussians that a
// beginner and an expert would try. 312 figures within 4.5 of their errors: a false alarm in 500 seeds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/runs.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using Matrix = std::vector<std::vector<double>>;

Matrix diagonal(const std::vector<double>& variances) {
  Matrix m(variances.size(), std::vector<double>(variances.size(), 0));
  for (std::size_t i = 0; i < variances.size(); ++i) m[i][i] = variances[i];
  return m;
}

/// H D H with a reflection H: condition 1e4 in directions of no coordinate.
Matrix rotated(std::size_t n) {
  std::vector<double> v(n), d(n);
  double norm = 0;
  for (std::size_t i = 0; i < n; ++i) {
    v[i] = std::sin(1.0 + static_cast<double>(i)), norm += v[i] * v[i];
    d[i] = std::pow(10, -4.0 * static_cast<double>(i) / static_cast<double>(n - 1));
  }
  const auto h = [&](std::size_t i, std::size_t j) { return (i == j ? 1.0 : 0.0) - 2 * v[i] * v[j] / norm; };
  Matrix m(n, std::vector<double>(n, 0));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      for (std::size_t k = 0; k < n; ++k) m[i][j] += h(i, k) * d[k] * h(k, j);
      m[j][i] = m[i][j];
    }
  return m;
}

std::string csv(const Matrix& m) {
  std::string out;
  for (const auto& row : m) out += fmt::format("{:.17g}\n", fmt::join(row, ","));
  return out;
}

class Default : public ::testing::TestWithParam<int> {};

TEST_P(Default, IsRightOnGaussians) {
  const testing_support::ScratchFiles files;
  std::vector<double> wide;
  for (int k = -6; k <= 6; ++k) wide.push_back(std::pow(10, 2 * k));
  for (const auto& [name, covariance] :
       {std::pair<std::string, Matrix>{"N(0, I_5)", diagonal(std::vector<double>(5, 1))},
        {"N(0, 4)", diagonal({4})},
        {"scales 1e-6 to 1e6", diagonal(wide)},
        {"rotated, condition 1e4", rotated(20)}}) {
    Options o;
    o.target = "gaussian";
    o.target_settings["covariance"] = files.write("covariance.csv", csv(covariance));
    o.num_chains = GetParam();
    o.device = "cpu";
    o.keep_draws = true;
    const Result r = testing_support::run_quietly(o);
    std::printf("seed 1, %d chains, %s: %s; %lld samples\n", GetParam(), name.c_str(), r.summary.warmup_note.c_str(),
                static_cast<long long>(r.summary.num_samples));
    EXPECT_EQ(status_of(r), 0) << name << ": " << verdict_of(r.summary).reason;
    std::vector<double> variances;
    for (std::size_t i = 0; i < covariance.size(); ++i) variances.push_back(covariance[i][i]);
    testing_support::expect_right(r, variances, 4.5, name);
  }
}
INSTANTIATE_TEST_SUITE_P(Chains, Default, ::testing::Values(1, 4, 64, 1024),
                         [](const auto& p) { return std::to_string(p.param); });

}  // namespace
}  // namespace kilochain
