// Swaps and changes of sign that leave a posterior as it is: found where they do, and only there; all images as often;
// runs of posteriors with equal modes are right, in all of them or in one, and resumed with the same bits.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "host/run/find_symmetries.hpp"
#include "tests/support/density.hpp"
#include "tests/support/stopped_target.hpp"

namespace kilochain {
namespace {

using Eigen::ArrayXd, Eigen::VectorXd;
using testing_support::expect_right;
using testing_support::options_of_mine;
using testing_support::run_quietly;
using testing_support::StoppedTarget;

double log_sum_exp(const ArrayXd& v) { return v.maxCoeff() + std::log((v - v.maxCoeff()).exp().sum()); }

TargetInfo info_of(std::vector<std::string> names) {
  TargetInfo info;
  info.dim = static_cast<Eigen::Index>(names.size());
  info.names = std::move(names);
  return info;
}

/// As climbs would have it: four starts, and four ends about `mode`, a little apart.
Symmetries found_in(const TargetInfo& info, const std::function<double(const VectorXd&)>& lp, const VectorXd& mode) {
  const testing_support::Density density = {lp, [](const VectorXd& x) { return VectorXd(0 * x); }};
  const Eigen::Index n = info.dim;
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::vector<double> starts, ends;
  for (int k = 0; k < 4; ++k) {
    VectorXd x = mode;
    for (Eigen::Index i = 0; i < n; ++i) starts.push_back(normal(random)), x[i] += 0.01 * normal(random);
    ends.insert(ends.end(), x.begin(), x.end());
  }
  std::int64_t gradients = 0;
  const auto gradients_at = testing_support::of_points(density, n);
  return find_symmetries<double>(info, gradients_at, starts, ends, gradients);
}

/// Three components with a mean, a log scale and a logit each; observations near -4, 0 and 5.
double three_components(const VectorXd& x) {
  const ArrayXd mu = x.head(3), s = x.segment(3, 3), w = x.tail(3), share = w - log_sum_exp(w);
  double sum = -(mu.square() / 50 + s.square() / 2 + w.square() / 2).sum();
  for (int k = 0; k < 60; ++k) {
    const double y = std::array{-4.0, 0.0, 5.0}[k % 3] + std::sin(1.0 + k);
    sum += log_sum_exp(share - s - ((y - mu) / s.exp()).square() / 2);
  }
  return sum;
}
const std::vector<std::string> names_of_three = {"mu[1]", "mu[2]", "mu[3]", "s[1]", "s[2]",
                                                 "s[3]",  "w[1]",  "w[2]",  "w[3]"};
VectorXd mode_of_three() { return (VectorXd(9) << -4, 0, 5, -0.3, -0.3, -0.3, 0, 0.1, -0.1).finished(); }

TEST(Symmetries, ComponentsMaySwap) {
  const TargetInfo info = info_of(names_of_three);
  const Symmetries found = found_in(info, three_components, mode_of_three());
  EXPECT_EQ(found.images(), 6);
  EXPECT_EQ(
      found.told(),
      "6 equal ones: the posterior is the same after swaps (mu[1] with mu[2], s[1] with s[2], w[1] with w[2]; ...)");
}

// A prior that tells them apart by a thousandth of its scale; and components that chains can exchange themselves.
TEST(Symmetries, AreExactAndOfModesThatAreApart) {
  const TargetInfo info = info_of(names_of_three);
  const auto told_apart = [](const VectorXd& x) { return three_components(x) - 1e-5 * x[0] * x[0]; };
  EXPECT_EQ(found_in(info, told_apart, mode_of_three()).images(), 2);  // the other two still may
  const auto all_apart = [&](const VectorXd& x) { return told_apart(x) + 1e-5 * x[1] * x[1]; };
  EXPECT_FALSE(found_in(info, all_apart, mode_of_three()).any());
  const TargetInfo five = info_of({"x[0]", "x[1]", "x[2]", "x[3]", "x[4]"});
  EXPECT_FALSE(found_in(
                   five, [](const VectorXd& x) { return -x.squaredNorm() / 2; }, VectorXd::Zero(5))
                   .any());
}

TEST(Symmetries, AShareTurnsRoundWithTwoComponents) {
  const auto lp = [](const VectorXd& x) {
    const double p = 1 / (1 + std::exp(-x[2]));
    double sum = std::log(p * (1 - p)) - (x[0] * x[0] + x[1] * x[1]) / 200;
    for (int k = 0; k < 40; ++k) {
      const double y = (k % 4 == 0 ? 6 : -6) + std::sin(k);
      sum += log_sum_exp(
          ArrayXd({{std::log(p) - (y - x[0]) * (y - x[0]) / 2, std::log(1 - p) - (y - x[1]) * (y - x[1]) / 2}}));
    }
    return sum;
  };
  const TargetInfo info = info_of({"mu_0", "mu_1", "share"});
  const Symmetries found = found_in(info, lp, (VectorXd(3) << -6, 6, 1).finished());
  ASSERT_EQ(found.images(), 2);
  VectorXd x = (VectorXd(3) << 5, -5, -0.5).finished();
  EXPECT_EQ(found.gather(x.data()).size(), 1u);
  EXPECT_EQ(x, (VectorXd(3) << -5, 5, 0.5).finished());
}

// Two mixtures of as many components in one model.
TEST(Symmetries, GroupsOfOneLengthSwapByThemselves) {
  const auto lp = [](const VectorXd& x) {
    double sum = 0;
    for (const Eigen::Index at : {0, 2})
      for (int k = 0; k < 20; ++k) {
        const double y = (k % 2 == 0 ? 5 : -5) * (at + 1.0) + std::cos(k);
        sum += log_sum_exp(-(y - x.segment(at, 2).array()).square() / 2);
      }
    return sum - x.squaredNorm() / 1000;
  };
  const TargetInfo info = info_of({"a[0]", "a[1]", "b[0]", "b[1]"});
  EXPECT_EQ(found_in(info, lp, (VectorXd(4) << 5, -5, 15, -15).finished()).images(), 4);
}

// Rows and columns of A together with mu, as states of a hidden Markov model; rows alone would not do.
TEST(Symmetries, StatesSwapAlongBothAxes) {
  const auto lp = [](const VectorXd& x) {
    double sum = -4 * ((x.tail(2).array().square() - 4).square()).sum() - (x[4] + x[5]) * (x[4] + x[5]);
    for (Eigen::Index i = 0; i < 2; ++i)
      for (Eigen::Index j = 0; j < 2; ++j)
        sum -= std::pow(x[2 * i + j] - (i == j ? 0.3 : -0.3 * x[4 + i] + 0.1 * x[4 + j]), 2);
    return sum;
  };
  const TargetInfo info = info_of({"A[1,1]", "A[1,2]", "A[2,1]", "A[2,2]", "mu[1]", "mu[2]"});
  const Symmetries found = found_in(info, lp, (VectorXd(6) << 0.3, -0.8, 0.8, 0.3, 2, -2).finished());
  ASSERT_EQ(found.images(), 2);
  VectorXd x = (VectorXd(6) << 1, 2, 3, 4, -2, 2).finished();
  found.gather(x.data());
  EXPECT_EQ(x, (VectorXd(6) << 4, 3, 2, 1, 2, -2).finished());
}

// Two factors: loadings (person, factor) and scores change sign together, factor by factor, and factors swap.
TEST(Symmetries, FactorsChangeSign) {
  const VectorXd truth = (VectorXd(10) << 3, -1, 2, 2, -2, 1.5, 2, 1.5, -1.5, 2.5).finished();
  const auto value = [](const VectorXd& x, Eigen::Index i, Eigen::Index j) {
    return x[2 * i] * x[6 + 2 * j] + x[2 * i + 1] * x[7 + 2 * j];
  };
  const auto lp = [&](const VectorXd& x) {
    double sum = -x.squaredNorm() / 4;
    for (Eigen::Index i = 0; i < 3; ++i)
      for (Eigen::Index j = 0; j < 2; ++j) sum -= std::pow(value(x, i, j) - value(truth, i, j), 2);
    return sum;
  };
  std::vector<std::string> names;
  for (int i = 0; i < 6; ++i) names.push_back("load[" + std::to_string(i / 2) + "," + std::to_string(i % 2) + "]");
  for (int i = 0; i < 4; ++i) names.push_back("score[" + std::to_string(i / 2) + "," + std::to_string(i % 2) + "]");
  const TargetInfo info = info_of(names);
  const Symmetries found = found_in(info, lp, truth);
  std::map<std::vector<double>, int> images;
  for (std::int64_t draw = 0; draw < 2000; ++draw) {
    std::vector<double> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    found.at_random(x.data(), {1, 0, draw});
    ++images[x];
  }
  EXPECT_EQ(images.size(), 8u) << found.told();
}

// chi^2 of 5 degrees of freedom beyond 22.1: 1 in 2 000, for each of three places.
TEST(Symmetries, AllImagesAreAsOften) {
  const TargetInfo info = info_of(names_of_three);
  const Symmetries found = found_in(info, three_components, mode_of_three());
  constexpr int draws = 12000;
  for (int place = 0; place < 3; ++place) {
    std::map<std::vector<double>, int> counts;
    for (std::int64_t k = 0; k < draws; ++k) {
      std::vector<double> x = {1, 2, 3, 4, 5, 6, 7, 8, 9};
      std::rotate(x.begin(), x.begin() + place, x.begin() + 3);
      found.at_random(x.data(), {7, place, k});
      ++counts[x];
    }
    ASSERT_EQ(counts.size(), 6u);
    double chi_square = 0;
    for (const auto& [x, count] : counts) chi_square += std::pow(count - draws / 6.0, 2) / (draws / 6.0);
    EXPECT_LT(chi_square, 22.1);
  }
}

TEST(Symmetries, ImagesGatherInOnePlaceAndNumbersKeepThem) {
  const TargetInfo info = info_of(names_of_three);
  const Symmetries found = found_in(info, three_components, mode_of_three());
  const Symmetries again = Symmetries::of_numbers(info, found.to_numbers());
  EXPECT_EQ(again.told(), found.told());
  const VectorXd mode = mode_of_three();
  for (std::int64_t k = 0; k < 20; ++k) {
    std::vector<double> x(mode.begin(), mode.end());
    found.at_random(x.data(), {2, 3, k});
    again.gather(x.data());
    EXPECT_TRUE(std::equal(x.begin(), x.end(), mode.begin())) << k;
  }
  EXPECT_FALSE(Symmetries::of_numbers(info, {}).any());
}

/// Two Gaussians about `m` and -m in `n` dimensions, the first with this share.
struct TwoModes {
  Eigen::Index n;
  double m, share;
  Eigen::Index dim() const { return n; }
  double lp(const VectorXd& x, VectorXd& g) const {
    const double a = std::log(share) - (x.array() - m).square().sum() / 2,
                 b = std::log(1 - share) - (x.array() + m).square().sum() / 2, top = std::max(a, b),
                 all = top + std::log(std::exp(a - top) + std::exp(b - top)), p = std::exp(a - all);
    g = p * (m - x.array()) + (1 - p) * (-m - x.array());
    return all;
  }
};

// Of 32 figures one beyond 4.5 standard errors: 1 in 4 600.
TEST(Symmetries, ModesThatNoChainLeavesAreSampledAlike) {
  for (const Eigen::Index n : {1, 2, 5})
    for (const std::int64_t chains : {4, 32}) {
      const StoppedTarget<TwoModes> target{{n, 20, 0.5}};
      Options o = options_of_mine(chains);
      o.keep_draws = true;
      const Result r = run_quietly(o);
      const std::string where = std::to_string(n) + " coordinates, " + std::to_string(chains) + " chains";
      EXPECT_EQ(status_of(r), 0) << where << ": " << r.summary.warmup_note;
      expect_right(r, std::vector<double>(static_cast<std::size_t>(n), 401), 4.5, where);
      EXPECT_TRUE(r.summary.equal_modes.starts_with("2 equal ones")) << where;
      o.equal_modes = EqualModes::one;
      const Result one = run_quietly(o);
      EXPECT_EQ(status_of(one), 0) << where;
      for (const ParameterSummary& p : one.summary.parameters) {
        EXPECT_LT(std::abs(std::abs(p.mean) - 20), 4.5 * p.mcse_mean) << where;
        EXPECT_LT(std::abs(p.sd - 1), 0.1) << where;
      }
    }
}

TEST(Symmetries, ACoordinateWithOneModeIsNotCounted) {
  Options o = options_of_mine(32);
  o.target = "gaussian_mixture", o.target_settings = {{"dim", "2"}, {"means", "-8;8"}};
  EXPECT_TRUE(
      run_quietly(o).summary.equal_modes.starts_with("2 equal ones: the posterior is the same after changes of "
                                                     "sign (x[0])"));
}

// Modes that differ are no equal modes: weights are not made up. 4.5 standard errors: a false alarm in 150 000 runs.
TEST(Symmetries, UnequalModesAreNotTakenForEqual) {
  const StoppedTarget<TwoModes> target{{2, 20, 0.3}};
  const Result r = run_quietly(options_of_mine(32));
  EXPECT_EQ(r.summary.equal_modes, "");
  EXPECT_EQ(status_of(r), 0);
  EXPECT_LT(std::abs(r.summary.parameters[0].mean + 8), 4.5 * r.summary.parameters[0].mcse_mean);
}

TEST(Symmetries, AreResumedWithTheSameBits) {
  StoppedTarget<TwoModes> target{{3, 20, 0.5}};
  Options o = options_of_mine(8);
  o.num_samples = 100;
  const Result all = target.expect_same_bits(o, {0.2, 0.5, 0.8});
  EXPECT_TRUE(all.summary.equal_modes.starts_with("2 equal ones"));
}

}  // namespace
}  // namespace kilochain
