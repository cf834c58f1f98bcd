#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "targets/data/dataset.hpp"
#include "targets/data/synthetic.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::expect_error;
using testing_support::ScratchFiles;

TEST(Synthetic, WritesTheSameFileForASeed) {
  ScratchFiles files;
  write_synthetic_logistic(files.path("a.csv"), 3, 3, 1);
  write_synthetic_logistic(files.path("b.csv"), 3, 3, 1);
  write_synthetic_logistic(files.path("c.csv"), 3, 3, 2);
  EXPECT_EQ(files.read("a.csv"), files.read("b.csv"));
  EXPECT_NE(files.read("a.csv"), files.read("c.csv"));
  // Known answer, agreed by an independent computation in Python: another compiler or library must write this too.
  EXPECT_EQ(
      files.read("a.csv"),
      "x1,x2,x3,y\n0.402283,-0.107184,-0.198318,0\n-0.406229,-0.332723,0.10475,1\n1.737809,0.698184,0.983074,0\n");
}

TEST(Synthetic, HasTheShapeAskedForAndIsReadBack) {
  ScratchFiles files;
  const std::vector<double> weights = write_synthetic_logistic(files.path("a.csv"), 50, 12, 7);
  const Design design = load_labelled_csv(files.path("a.csv"), {"y"}, true, true);
  EXPECT_EQ(design.rows, 50u);
  EXPECT_EQ(design.columns, 13u);
  EXPECT_EQ(design.names[11], "x12");
  EXPECT_EQ(weights.size(), 13u);
  EXPECT_NE(weights[0], 0);
}

TEST(Synthetic, ScalesTheWeightsToAPredictorOfDeviationTwo) {
  ScratchFiles files;
  constexpr std::size_t d = 40;
  const std::vector<double> weights = write_synthetic_logistic(files.path("a.csv"), 2, d, 3);
  double variance = 0, diagonal = 0;
  for (std::size_t j = 0; j < d; ++j) {
    diagonal += weights[j] * weights[j];
    for (std::size_t k = 0; k < d; ++k) {
      variance += weights[j] * weights[k] * std::pow(0.5, std::abs(static_cast<double>(j) - static_cast<double>(k)));
    }
  }
  // Rounding tolerance c n eps, c = 16 (terms of magnitude up to 4, two ways to sum them), n = d.
  EXPECT_NEAR(variance, 4, 16 * d * std::numeric_limits<double>::epsilon());
  EXPECT_GT(std::abs(variance - diagonal), 0.1);  // the correlations matter at this seed
}

TEST(Synthetic, FollowsItsModel) {
  ScratchFiles files;
  constexpr std::size_t n = 20000, d = 8;
  const std::vector<double> weights = write_synthetic_logistic(files.path("a.csv"), n, d, 5);
  const Design design = load_labelled_csv(files.path("a.csv"), {"y"}, false, true);
  std::size_t zeros = 0;
  for (double weight : weights) zeros += weight == 0;
  EXPECT_GT(zeros, 0u);

  // Statistical tolerances, z = 5 standard errors each: a false alarm once in 1.7 million per comparison, 10 of them.
  const double z = 5, root_n = std::sqrt(static_cast<double>(n));
  const auto mean_product = [&](std::size_t j, std::size_t k) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += design.x[i * (d + 1) + j] * design.x[i * (d + 1) + k];
    return sum / n;
  };
  for (std::size_t j : {0, 1, 7}) {
    EXPECT_NEAR(mean_product(j, d), 0, z / root_n);                 // mean: variance of x is 1
    EXPECT_NEAR(mean_product(j, j), 1, z * std::sqrt(2) / root_n);  // variance of x^2 is 2
  }
  // Variance of x_j x_k is 1 + correlation^2.
  EXPECT_NEAR(mean_product(0, 1), 0.5, z * std::sqrt(1.25) / root_n);
  EXPECT_NEAR(mean_product(2, 5), 0.125, z * std::sqrt(1 + 0.125 * 0.125) / root_n);
  // Given x, sum_i (y_i - p_i) and sum_i (y_i - p_i) x_i.w have mean 0 and variance sum p (1 - p) (x.w)^(0 or 2):
  // labels drawn from other weights, or flipped, shift them by many standard errors.
  double residual = 0, variance = 0, slope = 0, slope_variance = 0, predictor_squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double predictor = 0;
    for (std::size_t j = 0; j <= d; ++j) predictor += design.x[i * (d + 1) + j] * weights[j];
    const double p = 1 / (1 + std::exp(-predictor)), centred = predictor - weights[d];
    residual += design.y[i] - p;
    variance += p * (1 - p);
    slope += (design.y[i] - p) * centred;
    slope_variance += p * (1 - p) * centred * centred;
    predictor_squares += centred * centred;
  }
  EXPECT_NEAR(residual, 0, z * std::sqrt(variance));
  EXPECT_NEAR(slope, 0, z * std::sqrt(slope_variance));
  EXPECT_NEAR(predictor_squares / n, 4, z * 4 * std::sqrt(2) / root_n);  // deviation 2: variance of its square 2 * 16
}

TEST(Synthetic, RefusesBadSettingsAndPaths) {
  ScratchFiles files;
  const std::string path = files.path("a.csv");
  expect_error([&] { write_synthetic_logistic(path, 1, 3, 1); }, ExitStatus::usage, "",
               "the number of rows is out of range (got 1, allowed 2 to 1000000000). Choose another number?");
  expect_error([&] { write_synthetic_logistic(path, 1'000'000'001, 3, 1); }, ExitStatus::usage, "",
               "the number of rows is out of range (got 1000000001, allowed 2 to 1000000000). Choose another number?");
  expect_error([&] { write_synthetic_logistic(path, 10, 0, 1); }, ExitStatus::usage, "",
               "the number of features is out of range (got 0, allowed 1 to 100000). Choose another number?");
  expect_error([&] { write_synthetic_logistic(path, 10, 100'001, 1); }, ExitStatus::usage, "",
               "the number of features is out of range (got 100001, allowed 1 to 100000). Choose another number?");
  EXPECT_FALSE(std::filesystem::exists(path));
  const std::string nowhere = files.path("missing/a.csv");
  expect_error([&] { write_synthetic_logistic(nowhere, 10, 2, 1); }, ExitStatus::output, nowhere,
               ": the file cannot be written (No such file or directory). Choose another path?");
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here to stand for a full disk";
  expect_error([&] { write_synthetic_logistic("/dev/full", 10, 2, 1); }, ExitStatus::output, "/dev/full",
               ": the file cannot be written (No space left on device). Choose another path?");
}

}  // namespace
}  // namespace kilochain
