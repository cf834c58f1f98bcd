// Every registered target that can be made without files: gradient against differences of the value, Hessian product
// against differences of the gradient, both precisions against each other, names, and what it says is exact against its
// own draws.
#include <gtest/gtest.h>

#include <cmath>

#include "host/registry/registry.hpp"
#include "tests/support/packed_factor.hpp"
#include "tests/support/tolerance.hpp"

namespace kilochain::testing_support {
namespace {

struct Made {
  std::string name;
  SettingTexts settings;
};
/// Settings under which the targets are tested; a target that is not named here is tested with its defaults.
std::vector<Made> cases() {
  const std::vector<Made> named = {
      {"gaussian", {{"preset", "gauss2d_corr"}}},
      {"gaussian", {{"preset", "gp51_gaussian"}}},
      {"gaussian", {{"preset", "neal_gaussian"}}},
      {"banana", {{"dim", "2"}, {"bend", "0.1"}}},
      {"banana", {{"dim", "9"}, {"bend", "0.3"}, {"variance", "2"}}},
      {"twisted_gaussian", {{"dim", "8"}, {"twist", "0.1"}}},
      {"twisted_gaussian", {{"dim", "2"}, {"twist", "0.03"}, {"rotated", "yes"}}},
      {"twisted_gaussian", {{"dim", "33"}, {"twist", "0.3"}, {"variance", "2"}, {"rotated", "yes"}}},
      {"gaussian_mixture", {{"dim", "1"}}},
      {"gaussian_mixture",
       {{"dim", "33"}, {"means", "-1, 1; 0.5, 0.5, 2; 0"}, {"weights", "1, 2, 0.5"}, {"sds", "1, 0.5, 2"}}},
  };
  std::vector<Made> out = named;
  for (const auto& e : targets_of(Family::density)) {
    bool covered = false;
    for (const auto& m : named) covered = covered || m.name == e.name;
    const bool reads_data =
        e.name.ends_with("_regression") || e.name == "stan" || e.name == "shared_library";  // tests of their own
    if (!covered && !reads_data) out.push_back({e.name, {}});
  }
  return out;
}

template <class Real>
struct Asked {
  double lp;
  std::vector<double> gradient, product;
};

/// Value, gradient and Hessian times `direction` at one point.
template <class Real>
Asked<Real> ask(Target<Real>& target, const std::vector<double>& x, const std::vector<double>& direction) {
  const std::size_t n = x.size(), row = padded(n + (n == 1));
  std::vector<Real> point(row), along(row), gradient(row), product(row);
  for (std::size_t i = 0; i < n; ++i) point[i] = static_cast<Real>(x[i]), along[i] = static_cast<Real>(direction[i]);
  double lp = 0, accepted = 0;
  Needs needs = Needs::gradient;
  const Exchange<Real> exchange{point.data(), along.data(), gradient.data(), product.data(),
                                &lp,          &accepted,    &needs,          row};
  target.evaluate(exchange, 0, 1);
  const double first = lp;
  const std::vector<Real> kept = gradient;
  needs = Needs::hessian_vector;
  target.evaluate(exchange, 0, 1);
  EXPECT_EQ(lp, first) << "hessian_vector must leave the value alone";
  EXPECT_TRUE(exact(gradient, kept)) << "hessian_vector must leave the gradient alone";
  std::fill(gradient.begin(), gradient.end(), Real(0));
  lp = 0, needs = Needs::value;
  target.evaluate(exchange, 0, 1);
  EXPECT_EQ(lp, first) << "the value asked for alone";
  for (std::size_t i = n; i < row; ++i) EXPECT_TRUE(kept[i] == 0 && product[i] == 0) << "padding was written at " << i;
  return {first,
          {kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(n)},
          {product.begin(), product.begin() + static_cast<std::ptrdiff_t>(n)}};
}

/// A point where the target has mass: an exact draw, or near the origin.
std::vector<double> point_of(const TargetInfo& info, std::uint32_t stream) {
  std::vector<double> z(static_cast<std::size_t>(info.dim) + 64);
  normals(HostTeam{}, Rng{17, stream, 0}, Purpose::start, Row(z.data(), z.size()), info.dim);
  z.resize(static_cast<std::size_t>(info.dim));
  return info.exact.draw ? info.exact.draw(z, uniform(Rng{17, stream, 0}, Purpose::accept)) : z;
}

TEST(EveryTarget, DerivativesMatchDifferences) {
  const Context context = cpu_context(1);
  for (const Made& m : cases()) {
    const auto target = make_target<double>(context, m.name, m.settings);
    const std::size_t n = static_cast<std::size_t>(target->info().dim);
    for (std::uint32_t stream = 0; stream < 5; ++stream) {
      SCOPED_TRACE(m.name + " of " + std::to_string(n) + ", point " + std::to_string(stream));
      const std::vector<double> x = point_of(target->info(), stream);
      std::vector<double> v(n);
      for (std::size_t i = 0; i < n; ++i) v[i] = scatter(stream, static_cast<std::uint32_t>(i));
      const auto here = ask(*target, x, v);
      // Fourth-order differences along v with step h: an error of h^4 (fifth derivative) and eps/h (rounding), both
      // below 1e-8 of what is differenced for h = 1e-3 of the smallest length on which these targets change (0.01 for
      // neal_gaussian).
      const double h = m.settings.count("preset") ? 1e-4 : 1e-3;
      const auto moved = [&](double by) {
        std::vector<double> y = x;
        for (std::size_t i = 0; i < n; ++i) y[i] += by * v[i];
        return ask(*target, y, v);
      };
      const auto a2 = moved(-2 * h), a1 = moved(-h), b1 = moved(h), b2 = moved(2 * h);
      double slope = 0, size = std::abs(here.lp) + 1;
      for (std::size_t i = 0; i < n; ++i) slope += here.gradient[i] * v[i];
      EXPECT_NEAR((a2.lp - 8 * a1.lp + 8 * b1.lp - b2.lp) / (12 * h), slope, 1e-7 * (size + std::abs(slope)));
      double largest = 1;
      for (std::size_t i = 0; i < n; ++i)
        largest = std::max({largest, std::abs(here.gradient[i]), std::abs(here.product[i])});
      for (std::size_t i = 0; i < n; ++i)
        EXPECT_NEAR((a2.gradient[i] - 8 * a1.gradient[i] + 8 * b1.gradient[i] - b2.gradient[i]) / (12 * h),
                    here.product[i], 1e-7 * largest)
            << "coordinate " << i;
    }
  }
}

TEST(EveryTarget, SinglePrecisionAgrees) {
  const Context context = cpu_context(1);
  for (const Made& m : cases()) {
    const auto wide = make_target<double>(context, m.name, m.settings);
    const auto narrow = make_target<float>(context, m.name, m.settings);
    const std::size_t n = static_cast<std::size_t>(wide->info().dim);
    for (std::uint32_t stream = 0; stream < 5; ++stream) {
      SCOPED_TRACE(m.name + " of " + std::to_string(n));
      std::vector<double> x = point_of(wide->info(), stream), v(n);
      for (std::size_t i = 0; i < n; ++i)
        x[i] = static_cast<float>(x[i]), v[i] = static_cast<float>(scatter(stream, static_cast<std::uint32_t>(i)));
      const auto want = ask(*wide, x, v);
      const auto got = ask(*narrow, x, v);
      // The constant holds the condition of these targets: 1e2 for gp51_gaussian's precision matrix, whose row sums
      // cancel.
      double gradient = 1, product = 1;
      for (std::size_t i = 0; i < n; ++i)
        gradient = std::max(gradient, std::abs(want.gradient[i])),
        product = std::max(product, std::abs(want.product[i]));
      EXPECT_TRUE(rounding<float>(got.lp, want.lp, 100, 1, std::abs(want.lp) + static_cast<double>(n)));
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_TRUE(rounding<float>(got.gradient[i], want.gradient[i], 100, 1, gradient)) << i;
        EXPECT_TRUE(rounding<float>(got.product[i], want.product[i], 100, 1, product)) << i;
      }
    }
  }
}

TEST(EveryTarget, SaysWhatItIs) {
  const Context context = cpu_context(1);
  for (const Made& m : cases()) {
    SCOPED_TRACE(m.name);
    const auto target = make_target<double>(context, m.name, m.settings);
    const TargetInfo& info = target->info();
    EXPECT_GT(info.dim, 0);
    EXPECT_EQ(static_cast<Index>(info.names.size()), info.dim);
    EXPECT_GT(info.flops, 0);
    EXPECT_FALSE(find_target(m.name).meaning.empty());
    if (!info.exact.mean.empty()) {
      EXPECT_EQ(static_cast<Index>(info.exact.mean.size()), info.dim);
    }
    if (!info.exact.variance.empty()) {
      EXPECT_EQ(static_cast<Index>(info.exact.variance.size()), info.dim);
    }
  }
}

/// Exact draws have the exact mean and variance, and the score g has mean zero under them: E g_i = 0, E x_i g_i = -1,
/// which ties the draws to the density. About 2 x 200 x 4 comparisons at z = 6 (2e-9 each, heavier tails for the
/// funnel).
TEST(EveryTarget, ExactFactsAgreeWithTheDensity) {
  const Context context = cpu_context(1);
  for (const Made& m : cases()) {
    SCOPED_TRACE(m.name);
    const auto target = make_target<double>(context, m.name, m.settings);
    const TargetInfo& info = target->info();
    if (!info.exact.draw || m.name == "funnel") continue;  // x[i] g[i] of the funnel has no finite variance to speak of
    const std::size_t n = static_cast<std::size_t>(info.dim);
    const int draws = 20000;
    std::vector<std::vector<double>> sum(4, std::vector<double>(n)), square = sum;
    const std::vector<double> zero(n);
    for (int k = 0; k < draws; ++k) {
      const std::vector<double> x = point_of(info, static_cast<std::uint32_t>(k));
      const auto here = ask(*target, x, zero);
      for (std::size_t i = 0; i < n; ++i) {
        const double c = x[i] - info.exact.mean[i];
        const double facts[4] = {c, c * c - info.exact.variance[i], here.gradient[i], c * here.gradient[i] + 1};
        for (std::size_t f = 0; f < 4; ++f) sum[f][i] += facts[f], square[f][i] += facts[f] * facts[f];
      }
    }
    for (std::size_t f = 0; f < 4; ++f)
      for (std::size_t i = 0; i < n; ++i) {
        const double mean = sum[f][i] / draws, sd = std::sqrt(square[f][i] / draws - mean * mean);
        EXPECT_TRUE(statistical(mean, 0, sd / std::sqrt(static_cast<double>(draws)), 6))
            << "fact " << f << ", coordinate " << i;
      }
  }
}

TEST(GaussianMixture, DensityOfTwoComponents) {
  const Context context = cpu_context(1);
  const auto target = make_target<double>(context, "gaussian_mixture",
                                          {{"dim", "1"}, {"means", "-1; 2"}, {"weights", "1, 3"}, {"sds", "1, 0.5"}});
  const auto normal = [](double x, double m, double s) {
    return std::exp(-0.5 * (x - m) * (x - m) / (s * s)) / (s * std::sqrt(2 * M_PI));
  };
  for (const double x : {-3.0, 0.0, 1.9, 60.0}) {
    const double p = 0.25 * normal(x, -1, 1) + 0.75 * normal(x, 2, 0.5);
    const auto got = ask<double>(*target, {x}, {1.0});
    if (p > 0) {
      EXPECT_TRUE(rounding<double>(got.lp, std::log(p), 8, 1, 10)) << x;
    }
    EXPECT_TRUE(std::isfinite(got.lp)) << "far from every component, x = " << x;
  }
  EXPECT_EQ(target->info().exact.mean[0], 0.25 * -1 + 0.75 * 2);
}

TEST(GaussianMixture, RefusesWhatItCannotUse) {
  const Context context = cpu_context(1);
  const auto refused = [&](const SettingTexts& texts, const std::string& part) {
    try {
      make_target<double>(context, "gaussian_mixture", texts);
      ADD_FAILURE() << "not refused: " << part;
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), ExitStatus::usage);
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  refused({{"means", "1, x; 2"}}, "\"x\" is not a number (number 2)");
  refused({{"means", "1; "}}, "\"\" is not a number");
  refused({{"means", "1, 2, 3; 0"}}, "mean 1 has 3 coordinates, dim is 2");
  refused({{"weights", "1, 2, 3"}}, "3 numbers for 2 components");
  refused({{"weights", "1, 0"}}, "must be > 0");
  refused({{"sds", "-1, 1"}}, "must be > 0");
  refused({{"dim", "0"}}, "dim");
}

}  // namespace
}  // namespace kilochain::testing_support
