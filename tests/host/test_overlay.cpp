// Modes laid over each other: the density that chains see is that of the images' law, whatever the laws; its gradient;
// the way there and back.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <random>

#include "host/chains/cpu_target.hpp"
#include "host/learn/overlay.hpp"
#include "host/registry/registry.hpp"
#include "host/run/target_in_coordinates.hpp"

namespace kilochain {
namespace {

using Vector = Overlay::Vector;

/// Laws that are no good ones of anything: `size` of them in n coordinates.
Overlay bad_laws(Eigen::Index n, int size) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::vector<Overlay::Law> laws;
  for (int k = 0; k < size; ++k) {
    Overlay::Law law{Vector::Zero(n), Eigen::MatrixXd::Zero(n, n), 0.3 * k};
    for (Eigen::Index i = 0; i < n; ++i) {
      law.mean[i] = 2 * normal(random);
      for (Eigen::Index j = 0; j < i; ++j) law.factor(i, j) = 0.3 * normal(random);
      law.factor(i, i) = std::exp(0.5 * normal(random));
    }
    laws.push_back(std::move(law));
  }
  return Overlay(std::move(laws));
}

double log_normal(double x, double mean, double sd) {
  return -0.5 * std::pow((x - mean) / sd, 2) - std::log(sd) - 0.5 * std::log(2 * std::numbers::pi);
}

// The whole of it is 1, and what images are taken has the density's moments: by the trapezoidal rule, whose error is
// below any power of the step for functions as smooth as these. A density without its weights has K of the mass.
TEST(Overlay, ImagesHaveTheDensitysLaw) {
  const auto pi = [](double x) {  // of moments 0.3 * -3 + 0.7 * 4 and 0.3 (9 + 1) + 0.7 (16 + 0.25)
    return std::log(0.3 * std::exp(log_normal(x, -3, 1)) + 0.7 * std::exp(log_normal(x, 4, 0.5)));
  };
  for (const int size : {2, 3, 5}) {
    const Overlay overlay = bad_laws(1, size);
    double mass = 0, first = 0, second = 0, unweighted = 0;
    constexpr double step = 1e-2;
    Vector u(1), x(1);
    for (double at = -200; at < 200; at += step) {
      u[0] = at;
      for (std::size_t k = 0; k < overlay.size(); ++k) {
        overlay.image(k, u, x);
        const double of_image = std::exp(pi(x[0]) + overlay.log_weight(k, x, nullptr)) * step;
        mass += of_image, first += of_image * x[0], second += of_image * x[0] * x[0];
        unweighted += std::exp(pi(x[0])) * overlay.laws()[k].factor(0, 0) / overlay.laws()[0].factor(0, 0) * step;
      }
    }
    EXPECT_NEAR(mass, 1, 1e-6) << size;
    EXPECT_NEAR(first, 1.9, 1e-5) << size;
    EXPECT_NEAR(second, 14.375, 1e-5) << size;
    EXPECT_NEAR(unweighted, size, 1e-3) << size;
  }
}

TEST(Overlay, SlopesAreThoseOfDifferences) {
  for (const Eigen::Index n : {1, 2, 5, 33}) {
    const Overlay overlay = bad_laws(n, 3);
    const Vector u = Vector::LinSpaced(n, -1, 1.5);
    for (std::size_t k = 0; k < overlay.size(); ++k) {
      Vector x, slope = Vector::Zero(n);
      overlay.image(k, u, x);
      overlay.log_weight(k, x, &slope);
      overlay.pull_back(k, slope);
      for (Eigen::Index i = 0; i < n; ++i) {
        constexpr double h = 1e-6;
        const auto at = [&](double by) {
          Vector there = u, image;
          there[i] += by;
          overlay.image(k, there, image);
          return overlay.log_weight(k, image, nullptr);
        };
        const double difference = (at(h) - at(-h)) / (2 * h);
        EXPECT_NEAR(slope[i], difference, 1e-5 * (1 + std::abs(difference))) << n << ", mode " << k << ", " << i;
      }
    }
  }
}

TEST(Overlay, LaysAnImageBack) {
  const Overlay overlay = bad_laws(5, 4);
  for (std::size_t k = 0; k < overlay.size(); ++k) {
    Vector x = overlay.laws()[k].mean;
    const std::size_t mode = overlay.lay(x);
    Vector back;
    overlay.image(mode, x, back);
    EXPECT_LT((back - overlay.laws()[k].mean).norm(), 1e-12 * 100);
  }
  const Overlay again = Overlay::of_numbers(overlay.to_numbers());
  EXPECT_EQ(again.to_numbers(), overlay.to_numbers());
  EXPECT_FALSE(Overlay::of_numbers({}).any());
}

TEST(Overlay, PicksEachTermByItsWeight) {
  const std::array<double, 4> logs = {-1e300, std::log(0.25) + 700, -INFINITY, std::log(0.75) + 700};
  EXPECT_EQ(Overlay::pick(logs, 0.2499), 1u);
  EXPECT_EQ(Overlay::pick(logs, 0.2501), 3u);
  EXPECT_EQ(Overlay::pick(logs, 1.0), 3u);
  EXPECT_DOUBLE_EQ(log_sum(logs), 700);
  EXPECT_EQ(log_sum(std::array<double, 2>{-INFINITY, -INFINITY}), -INFINITY);
}

/// Values and gradients of the sum, of a target with a density beside zero in places.
TEST(Overlay, ATargetSeenThroughItHasThatDensity) {
  const Context context = cpu_context(1);
  const auto plain = make_target<double>(context, "gaussian_mixture",
                                         {{"dim", "3"}, {"means", "-4;4,1"}, {"sds", "1,0.5"}, {"weights", "0.3,0.7"}});
  TargetInCoordinates<double> seen(*plain);
  const Overlay overlay = bad_laws(3, 3);
  constexpr std::size_t row = 8, chains = 5;
  std::vector<double> points(row * chains + 32), gradients(row * chains + 32), lp(chains);
  std::vector<Needs> needs(chains, Needs::gradient);
  needs[1] = Needs::value, needs[3] = Needs::nothing;
  Exchange<double> exchange{points.data(), nullptr, gradients.data(), nullptr, lp.data(), nullptr, needs.data(), row};
  const auto lp_at = [&](const Vector& u) {
    std::vector<double> point(row + 32), gradient(row + 32);
    std::copy(u.begin(), u.end(), point.begin());
    Exchange<double> one = exchange;
    one.point = point.data(), one.gradient = gradient.data();
    Needs value = Needs::value;
    one.needs = &value;
    double out = 0;
    one.lp = &out;
    seen.evaluate(one, 0, 1);
    return out;
  };
  const auto plain_at = [&](const Vector& x) {
    seen.set(Overlay());
    const double out = lp_at(x);
    seen.set(overlay);
    return out;
  };
  const auto u_of = [](std::size_t c) { return Vector(Vector::LinSpaced(3, -1.0 + c, 2.0 - 0.5 * c)); };
  seen.set(overlay);
  for (std::size_t c = 0; c < chains; ++c) {
    const Vector u = u_of(c);
    std::copy(u.begin(), u.end(), points.begin() + static_cast<std::ptrdiff_t>(row * c));
  }
  std::fill(lp.begin(), lp.end(), -7);
  seen.evaluate(exchange, 0, chains);
  EXPECT_EQ(lp[3], -7);
  EXPECT_EQ(seen.gradients_beside(), 2 * 3);  // of three chains that asked for one
  for (const std::size_t c : {0, 1, 2, 4}) {
    std::vector<double> terms;
    for (std::size_t k = 0; k < overlay.size(); ++k) {
      Vector x;
      overlay.image(k, u_of(c), x);
      terms.push_back(plain_at(x) + overlay.log_weight(k, x, nullptr));
    }
    EXPECT_NEAR(lp[c], log_sum(terms), 1e-12 * std::abs(lp[c])) << c;
    for (Eigen::Index i = 0; c != 1 && i < 3; ++i) {
      constexpr double h = 1e-6;
      Vector up = u_of(c), down = up;
      up[i] += h, down[i] -= h;
      const double difference = (lp_at(up) - lp_at(down)) / (2 * h);
      EXPECT_NEAR(gradients[row * c + static_cast<std::size_t>(i)], difference, 1e-5 * (1 + std::abs(difference)));
    }
  }
}

}  // namespace
}  // namespace kilochain
