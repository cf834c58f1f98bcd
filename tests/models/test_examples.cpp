// The models of examples/posteriors: densities as the references state them, derivatives as differences give them,
// whatever the team and the precision. Each example, its data and its coordinates of a given point.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "examples/posteriors/arma.hpp"
#include "examples/posteriors/eight_schools.hpp"
#include "examples/posteriors/kidiq.hpp"
#include "examples/posteriors/low_dim_gauss_mix.hpp"
#include "examples/posteriors/mesquite.hpp"
#include "examples/posteriors/sblrc.hpp"
#include "tests/models/evaluated.hpp"

namespace kilochain {
namespace {

using testing_support::Evaluated;

const std::string folder = KILOCHAIN_SOURCE_DIR "/../shared/reference";
#define SKIP_WITHOUT_REFERENCE()                                              \
  if (!std::filesystem::exists(folder)) {                                     \
    std::printf("SKIPPED: no reference posteriors in ../shared/reference\n"); \
    GTEST_SKIP();                                                             \
  }

std::string file_of(const std::string& name) {
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().starts_with(name + "-")) return entry.path();
  return "";
}

/// Lanes that each have one direction, as on a device.
struct LaneTeam : HostTeam {
  static constexpr bool on_host = false;
};

template <class Model>
typename ModelTarget<Model, double>::Settings reading(const std::string& file) {
  typename ModelTarget<Model, double>::Settings settings;
  settings.data = file;
  return settings;
}

using Point = std::vector<double>;
Point last_positive(Point p) {
  p.back() = std::log(p.back());
  return p;
}

template <class F>
void each_example(F&& f) {
  f.template operator()<EightSchools>("eight_schools", last_positive);
  f.template operator()<Kidiq>("kidiq", last_positive);
  f.template operator()<Arma>("arma", last_positive);
  f.template operator()<LowDimGaussMix>("low_dim_gauss_mix", [](Point p) {
    return Point{p[0], std::log(p[1] - p[0]), std::log(p[2]), std::log(p[3]), std::log(p[4] / (1 - p[4]))};
  });
  f.template operator()<Sblrc>("sblrc", last_positive);
  f.template operator()<Mesquite>("mesquite", last_positive);
}

std::vector<Point> points_of(const std::string& name, const nlohmann::json& reference, std::vector<double>& lp) {
  std::vector<Point> points;
  for (const auto& check :
       reference[name == "eight_schools" ? "log_density_checks_noncentred" : "log_density_checks"]) {
    points.push_back(check["point"].get<Point>());
    lp.push_back(check["log_density"]);
  }
  return points;
}

TEST(Examples, LogDensitiesDifferBetweenPointsAsTheReferencesSay) {
  SKIP_WITHOUT_REFERENCE();
  each_example([]<class Model>(const std::string& name, auto coordinates) {
    const auto reference = nlohmann::json::parse(std::ifstream(file_of(name)));
    std::vector<double> expected, ours;
    Evaluated<Model, double> model(reading<Model>(file_of(name)));
    for (const auto& point : points_of(name, reference, expected)) {
      const Point u = coordinates(point);
      Parameters<double> p({u.data()}, model.data.layout);
      ours.push_back(Model::log_density(p, model.data.user));
      EXPECT_EQ(model.at(u, Needs::value), p.finish(ours.back())) << name;
      EXPECT_NO_THROW(model.info.check(u.data())) << name;
    }
    ASSERT_GE(ours.size(), 2u);
    for (std::size_t k = 1; k < ours.size(); ++k)  // sums of up to 1 000 terms: 1000 eps of the sum
      EXPECT_NEAR(ours[k] - ours[0], expected[k] - expected[0], 1000 * 2.3e-16 * std::abs(expected[0]))
          << name << ", point " << k;
  });
}

TEST(Examples, DerivativesAreThoseOfDifferencesForEveryTeamAndPrecision) {
  SKIP_WITHOUT_REFERENCE();
  each_example([]<class Model>(const std::string& name, auto coordinates) {
    const auto reference = nlohmann::json::parse(std::ifstream(file_of(name)));
    std::vector<double> ignored;
    Evaluated<Model, double> model(reading<Model>(file_of(name)));
    Evaluated<Model, float> single(reading<Model>(file_of(name)));
    const Point u = coordinates(points_of(name, reference, ignored)[1]);
    const auto n = u.size();
    ASSERT_EQ(static_cast<std::size_t>(model.info.dim), n) << name;
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    Point direction(n), g, lanes_g, tape_g, hv, lanes_hv, tape_hv, up, down;
    for (auto& v : direction) v = normal(random) * 1e-2;
    const double lp = model.at(u, Needs::gradient, &g);
    EXPECT_NEAR(lp, model.at(u, Needs::value), 1e-13 * std::abs(lp)) << name;
    EXPECT_EQ(lp, model.template at<LaneTeam>(u, Needs::gradient, &lanes_g)) << name;
    model.at(u, Needs::hessian_vector, &hv, direction);
    model.template at<LaneTeam>(u, Needs::hessian_vector, &lanes_hv, direction);
    model.data.by_tape = true;
    EXPECT_NEAR(lp, model.at(u, Needs::gradient, &tape_g), 1e-13 * std::abs(lp)) << name;
    model.at(u, Needs::hessian_vector, &tape_hv, direction);
    model.data.by_tape = false;
    const double h = 1e-4;
    for (std::size_t i = 0; i < n; ++i) {
      Point a = u, b = u;
      a[i] += h, b[i] -= h;
      const double first = (model.at(a, Needs::value) - model.at(b, Needs::value)) / (2 * h);
      a[i] += h, b[i] -= h;
      const double second = (model.at(a, Needs::value) - model.at(b, Needs::value)) / (4 * h);
      const double slope = (4 * first - second) / 3;  // Richardson: the error is of order h^4
      EXPECT_NEAR(g[i], slope, 40 * 2.3e-16 * std::abs(lp) * std::sqrt(1000) / h + 1e-7 * std::abs(slope))
          << name << " " << i;
      EXPECT_NEAR(g[i], lanes_g[i], 1e-12 * (1 + std::abs(g[i]))) << name << " " << i;
      EXPECT_NEAR(g[i], tape_g[i], 1e-13 * (std::abs(lp) + std::abs(g[i]))) << name << " " << i;
    }
    Point a = u, b = u;
    for (std::size_t i = 0; i < n; ++i) a[i] += h * direction[i], b[i] -= h * direction[i];
    model.at(a, Needs::gradient, &up);
    model.at(b, Needs::gradient, &down);
    double size = 0;
    for (std::size_t i = 0; i < n; ++i) size = std::max({size, std::abs(up[i]), std::abs(hv[i])});
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(hv[i], (up[i] - down[i]) / (2 * h), 1e-6 * size) << name << " " << i;
      EXPECT_NEAR(hv[i], lanes_hv[i], 1e-12 * (1 + std::abs(hv[i]))) << name << " " << i;
      EXPECT_NEAR(hv[i], tape_hv[i], 1e-12 * (1 + size)) << name << " " << i;
    }
    // In float the point is rounded, the arithmetic is not: the density moves by the gradient times the rounding.
    std::vector<float> rounded(u.begin(), u.end()), float_g;
    const Point back(rounded.begin(), rounded.end());
    EXPECT_EQ(single.at(rounded, Needs::gradient, &float_g), model.at(back, Needs::gradient, &g)) << name;
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(float_g[i], static_cast<float>(g[i])) << name << " " << i;
  });
}

TEST(Examples, RecordConstrainedValuesUnderTheirNames) {
  SKIP_WITHOUT_REFERENCE();
  Evaluated<LowDimGaussMix, double> model(reading<LowDimGaussMix>(file_of("low_dim_gauss_mix")));
  EXPECT_EQ(model.info.names, (std::vector<std::string>{"mu[0]", "mu[1]", "sigma[0]", "sigma[1]", "theta"}));
  ASSERT_EQ(model.info.variables.size(), 3u);
  const double u[] = {-1, 0.5, 0.1, -0.2, 0};
  double x[5];
  model.info.constrain(u, {}, x);
  EXPECT_EQ(x[0], -1);
  EXPECT_EQ(x[1], -1 + std::exp(0.5));
  EXPECT_EQ(x[2], std::exp(0.1));
  EXPECT_EQ(x[4], 0.5);
}

}  // namespace
}  // namespace kilochain
