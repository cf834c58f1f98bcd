// The larger models of examples/posteriors on a handful of data: derivatives as differences give them, log densities as
// closed forms, an enumeration or the other form of the same model say.
#include <gtest/gtest.h>

#include <cmath>

#include "examples/posteriors/diamonds.hpp"
#include "examples/posteriors/gaussian_process.hpp"
#include "examples/posteriors/hidden_markov.hpp"
#include "examples/posteriors/lotka_volterra.hpp"
#include "examples/posteriors/radon.hpp"
#include "examples/posteriors/state_space.hpp"
#include "tests/models/derivatives.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::data_settings;
using testing_support::Evaluated;
using testing_support::expect_derivatives;
using testing_support::ScratchFiles;
using Point = std::vector<double>;

const char* const houses =
    R"({"J": 3, "log_radon": [0.8, 1.1, 0.1, 1.9, 0.6], "log_uppm": [-0.5, -0.5, 0.1, 0.3, 0.3],
        "floor_measure": [0, 1, 0, 0, 1], "county_idx": [1, 1, 2, 3, 3]})";
const char* const hidden = R"({"y": [3.8, 8.2, 9.4, 3.1, 7.9]})";
const char* const hares = R"({"ts": [1, 2.5, 3], "y_init": [30, 4], "y": [[47.2, 6.1], [70.2, 9.8], [77.4, 35.2]]})";
const char* const points = R"({"x": [-1, 0.5, 2], "y": [4.7, 1.6, 3.0]})";
const char* const walk = R"({"y": [0.7, -0.1, 2.3, 1.4]})";
const char* const stones =
    R"({"K": 3, "Y": [8.0, 6.6, 8.2, 6.5], "X": [[1, 0.2, 2], [1, 0.3, 1], [1, 0.7, 3], [1, 0.1, 4]]})";

/// The log density of the coordinates u, Jacobian included.
template <class Model>
double density_at(const Point& u, const std::string& data) {
  return Evaluated<Model, double>(data_settings<Model, double>(data)).at(u, Needs::value);
}

TEST(OwnModels, DerivativesAreThoseOfDifferences) {
  const ScratchFiles files;
  const std::string radon = files.write("houses.json", houses);
  const Point county = {0.9, 1.3, 0.4, 0.7, -0.6, 1.1, -0.9, -0.3};
  expect_derivatives<RadonCentred>(county, 1e-12, radon);
  expect_derivatives<RadonNoncentred>(county, 1e-12, radon);
  expect_derivatives<HiddenMarkov>({0.4, -0.8, 1.1, 1.7}, 1e-12, files.write("hidden.json", hidden));
  expect_derivatives<LotkaVolterra>({-0.6, -3.6, -0.2, -3.7, 3.4, 1.6, -1.2, -1.0}, 1e-9,
                                    files.write("hares.json", hares), 3e-4);
  expect_derivatives<GaussianProcess>({1.7, 1.1, 0.2}, 1e-11, files.write("points.json", points));
  expect_derivatives<StateSpace>({0.5, 0.1, 1.8, 1.2, -0.7, -0.4}, 1e-12, files.write("walk.json", walk));
  expect_derivatives<Diamonds>({0.4, -0.2, 7.5, -0.5}, 1e-12, files.write("stones.json", stones));
}

TEST(OwnModels, BothFormsOfRadonAreOneModel) {
  const ScratchFiles files;
  const std::string data = files.write("houses.json", houses);
  const Point noncentred = {0.9, 1.3, 0.4, 0.7, -0.6, 1.1, -0.9, -0.3};
  Point centred = noncentred;
  for (int j = 0; j < 3; ++j) centred[j] = noncentred[5] + std::exp(noncentred[6]) * noncentred[j];
  EXPECT_NEAR(density_at<RadonNoncentred>(noncentred, data),
              density_at<RadonCentred>(centred, data) + 3 * noncentred[6], 1e-13 * 50);
}

TEST(OwnModels, AHiddenChainIsTheSumOverItsPaths) {
  const ScratchFiles files;
  Evaluated<HiddenMarkov, double> model(data_settings<HiddenMarkov, double>(files.write("hidden.json", hidden)));
  const double y[] = {3.8, 8.2, 9.4, 3.1, 7.9};
  const auto by_paths = [&](const Point& u) {
    double x[6], sum = 0;  // theta1, theta2, mu
    model.info.constrain(u.data(), {}, x);
    for (int path = 0; path < 32; ++path) {
      double lp = 0;
      for (int t = 0; t < 5; ++t) {
        const int now = path >> t & 1, before = t > 0 ? path >> (t - 1) & 1 : 0;
        lp += normal_lp(y[t], x[4 + now], 1.0) + (t > 0 ? std::log(x[2 * before + now]) : 0.0);
      }
      sum += std::exp(lp);
    }
    return std::log(sum) + normal_lp(x[4], 3.0, 1.0) + normal_lp(x[5], 10.0, 1.0) +
           std::log(x[0] * x[1] * x[2] * x[3] * x[4] * (x[5] - x[4]));  // the Jacobian
  };
  for (const Point& u : {Point{0.4, -0.8, 1.1, 1.7}, Point{-2.0, 1.5, 0.2, 2.4}})
    EXPECT_NEAR(model.at(u, Needs::value), by_paths(u), 1e-12);
}

TEST(OwnModels, PreyWithoutPredatorsGrowsAsAnExponential) {
  const ScratchFiles files;
  const std::string data = files.write("hares.json", hares);
  const double tiny = -60, u0 = 30, alpha = 0.3, v0 = 5, gamma = 0.8, sd[] = {0.4, 0.6};
  const Point u = {std::log(alpha), tiny,         std::log(gamma), tiny,
                   std::log(u0),    std::log(v0), std::log(sd[0]), std::log(sd[1])};
  const double times[] = {0, 1, 2.5, 3}, y[][2] = {{30, 4}, {47.2, 6.1}, {70.2, 9.8}, {77.4, 35.2}}, first[] = {u0, v0};
  double lp = normal_lp(alpha, 1.0, 0.5) + normal_lp(gamma, 1.0, 0.5) + 2 * normal_lp(0.0, 0.05, 0.05), jacobian = 0;
  for (const double x : u) jacobian += x;
  for (int k = 0; k < 2; ++k) {
    lp += lognormal_lp(sd[k], -1.0, 1.0) + lognormal_lp(first[k], std::log(10.0), 1.0);
    for (int i = 0; i < 4; ++i)
      lp += lognormal_lp(y[i][k], std::log(first[k]) + (k == 0 ? alpha : -gamma) * times[i], sd[k]);
  }
  EXPECT_NEAR(density_at<LotkaVolterra>(u, data), lp + jacobian, 0.02);  // the solver's tolerance is 1e-3
}

TEST(OwnModels, AGaussianProcessOfOnePointIsANormal) {
  const ScratchFiles files;
  const double rho = 6, alpha = 1.5, sigma = 0.7;
  EXPECT_NEAR(density_at<GaussianProcess>({std::log(rho), std::log(alpha), std::log(sigma)},
                                          files.write("point.json", R"({"x": [2], "y": [1.3]})")),
              normal_lp(1.3, 0.0, std::sqrt(alpha * alpha + sigma)) + gamma_lp(rho, 25.0, 4.0) +
                  half_normal_lp(alpha, 2.0) + half_normal_lp(sigma, 1.0) + std::log(rho * alpha * sigma),
              1e-13 * 50);
}

TEST(OwnModels, LevelsAreAWalkThatIsSeenWithNoise) {
  const ScratchFiles files;
  const Point level = {0.5, 0.1, 1.8, 1.2}, y = {0.7, -0.1, 2.3, 1.4};
  const double a = 0.5, b = 0.7;
  double lp = half_normal_lp(a, 1.0) + half_normal_lp(b, 1.0) + std::log(a * b) + normal_lp(level[0], 0.0, 5.0);
  for (std::size_t t = 0; t < 4; ++t)
    lp += normal_lp(y[t], level[t], b) + (t > 0 ? normal_lp(level[t] - level[t - 1], 0.0, a) : 0.0);
  Point u = level;
  u.insert(u.end(), {std::log(a), std::log(b)});
  EXPECT_NEAR(density_at<StateSpace>(u, files.write("walk.json", walk)), lp, 1e-13 * 50);
  Evaluated<StateSpace, double> whole(data_settings<StateSpace, double>(KILOCHAIN_SOURCE_DIR "/data/state_space.json"));
  EXPECT_EQ(whole.info.dim, 102);
}

TEST(OwnModels, PredictorsOfDiamondsAreCentred) {
  const ScratchFiles files;
  const Point u = {0.4, -0.2, 7.5, -0.5};
  const char* const moved =
      R"({"K": 3, "Y": [8.0, 6.6, 8.2, 6.5], "X": [[1, 5.2, 0], [1, 5.3, -1], [1, 5.7, 1], [1, 5.1, 2]]})";
  EXPECT_NEAR(density_at<Diamonds>(u, files.write("stones.json", stones)),
              density_at<Diamonds>(u, files.write("moved.json", moved)), 1e-12);
  const double x[][2] = {{-0.125, -0.5}, {-0.025, -1.5}, {0.375, 0.5}, {-0.225, 1.5}}, y[] = {8.0, 6.6, 8.2, 6.5};
  double lp = student_t_lp(7.5, 3.0, 8.0, 10.0) + student_t_lp(std::exp(-0.5), 3.0, 0.0, 10.0) - 0.5 +
              normal_lp(0.4, 0.0, 1.0) + normal_lp(-0.2, 0.0, 1.0);
  for (int i = 0; i < 4; ++i) lp += normal_lp(y[i], 7.5 + 0.4 * x[i][0] - 0.2 * x[i][1], std::exp(-0.5));
  EXPECT_NEAR(density_at<Diamonds>(u, files.write("again.json", stones)), lp, 1e-12);
}

}  // namespace
}  // namespace kilochain
