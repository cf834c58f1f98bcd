// A model's derivatives by duals, by the tape and lane by lane as on a device, against differences and in float.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/models/evaluated.hpp"
#include "tests/support/device_path_team.hpp"

namespace kilochain::testing_support {

template <class Model, class Real>
typename ModelTarget<Model, Real>::Settings data_settings([[maybe_unused]] const std::string& data) {
  typename ModelTarget<Model, Real>::Settings settings;
  if constexpr (requires { settings.data; }) settings.data = data;
  return settings;
}

/// rounding: of the ways that differ in nothing else, relative to 1 + |gradient|. data: the model's file.
/// of_differences: h^2 times a third derivative, below 600; more where a solver's steps move with the point.
template <class Model>
void expect_derivatives(const std::vector<double>& u, double rounding = 1e-12, const std::string& data = "",
                        double of_differences = 1e-6) {
  Evaluated<Model, double> model(data_settings<Model, double>(data));
  Evaluated<Model, float> single(data_settings<Model, float>(data));
  const std::size_t n = u.size();
  model.scratch.resize(3 * n + static_cast<std::size_t>(model.data.layout.room) * 32 * 4);  // as a device has it
  std::vector<double> duals, tape, lanes, direction(n), hv, tape_hv, lanes_hv, up, down;
  for (std::size_t i = 0; i < n; ++i) direction[i] = std::cos(1.7 * static_cast<double>(i));
  const double lp = model.at(u, Needs::gradient, &duals);
  EXPECT_NEAR(lp, model.at(u, Needs::value), 1e-13 * (1 + std::abs(lp)));
  EXPECT_NEAR(lp, model.template at<DevicePathTeam>(u, Needs::gradient, &lanes), 1e-13 * (1 + std::abs(lp)));
  model.at(u, Needs::hessian_vector, &hv, direction);
  model.template at<DevicePathTeam>(u, Needs::hessian_vector, &lanes_hv, direction);
  model.data.by_tape = true;
  EXPECT_NEAR(lp, model.at(u, Needs::gradient, &tape), 1e-13 * (1 + std::abs(lp)));
  model.at(u, Needs::hessian_vector, &tape_hv, direction);
  const std::vector<float> rounded(u.begin(), u.end());
  std::vector<float> float_g;
  single.at(rounded, Needs::gradient, &float_g);
  const double h = 1e-4;
  for (std::size_t i = 0; i < n; ++i) {
    auto a = u, b = u;
    a[i] += h, b[i] -= h;
    const double slope = (model.at(a, Needs::value) - model.at(b, Needs::value)) / (2 * h);
    EXPECT_NEAR(duals[i], slope, of_differences * (1 + std::abs(slope))) << i;
    EXPECT_NEAR(tape[i], duals[i], rounding * (1 + std::abs(duals[i]))) << i;
    EXPECT_NEAR(lanes[i], duals[i], rounding * (1 + std::abs(duals[i]))) << i;
    EXPECT_NEAR(float_g[i], duals[i], 1e-4 * (1 + std::abs(duals[i]))) << i;
    EXPECT_NEAR(tape_hv[i], hv[i], 100 * rounding * (1 + std::abs(hv[i]))) << i;
    EXPECT_NEAR(lanes_hv[i], hv[i], 100 * rounding * (1 + std::abs(hv[i]))) << i;
  }
  auto a = u, b = u;
  for (std::size_t i = 0; i < n; ++i) a[i] += h * direction[i], b[i] -= h * direction[i];
  model.at(a, Needs::gradient, &up);
  model.at(b, Needs::gradient, &down);
  for (std::size_t i = 0; i < n; ++i)
    EXPECT_NEAR(hv[i], (up[i] - down[i]) / (2 * h), 10 * of_differences * (10 + std::abs(hv[i]))) << i;
}

}  // namespace kilochain::testing_support
