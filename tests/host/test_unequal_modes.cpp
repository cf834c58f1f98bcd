// Whole runs of posteriors with modes that differ and that no chain leaves: their weights, in many coordinates, of
// different widths, where one of them is found by a search alone; densities that are recorded; runs that are resumed.
#include <gtest/gtest.h>

#include <cmath>

#include "host/run/recorded_values.hpp"
#include "host/run/run.hpp"
#include "tests/support/runs.hpp"
#include "tests/support/stopped_target.hpp"

namespace kilochain {
namespace {

using Eigen::VectorXd;
using testing_support::options_of_mine;
using testing_support::run_quietly;
using testing_support::StoppedTarget;

Options mixture(const SettingTexts& settings) {
  Options o;
  o.target = "gaussian_mixture", o.target_settings = settings;
  o.device = "cpu";
  return o;
}

/// The first coordinate's mean, 4.5 standard errors (a false alarm in 150 000) around what it should be.
void expect_mean(const Result& r, double mean, const std::string& where) {
  EXPECT_EQ(status_of(r), 0) << where << ": " << verdict_of(r.summary).reason;
  const ParameterSummary& p = r.summary.parameters.at(0);
  EXPECT_LT(std::abs(p.mean - mean), 4.5 * p.mcse_mean) << where << ": " << p.mean << ", mcse " << p.mcse_mean;
}

TEST(UnequalModes, HaveTheirWeights) {
  for (const char* const dim : {"1", "2", "33"})
    for (const Precision real : {Precision::single_precision, Precision::double_precision}) {
      Options o = mixture({{"dim", dim}, {"means", "-10;10"}, {"weights", "0.3,0.7"}});
      o.real = real;
      const Result r = run_quietly(o);
      expect_mean(r, 4, dim);
      EXPECT_TRUE(r.summary.unequal_modes.starts_with("2, laid over each other")) << r.summary.unequal_modes;
      EXPECT_TRUE(r.summary.equal_modes.empty());
    }
}

// A wide mode's top lies lower than the middle between it and a narrow one.
TEST(UnequalModes, OfDifferentWidths) {
  Options o = mixture({{"dim", "50"}, {"means", "-10;10"}, {"weights", "0.3,0.7"}, {"sds", "1,3"}});
  expect_mean(run_quietly(o), 4, "50 coordinates, sds 1 and 3");
}

TEST(UnequalModes, TenOfThem) {
  Options o = mixture({{"dim", "5"},
                       {"means", "-10;10;0,10;0,-10;0,0,10;0,0,-10;7,7;-7,7;7,-7;-7,-7"},
                       {"weights", "1,2,3,1,1.5,1.5,1,2,3,1"}});
  const Result r = run_quietly(o);
  expect_mean(r, (-10 + 20 + 7 - 14 + 21 - 7) / 17.0, "ten modes");
  EXPECT_TRUE(r.summary.unequal_modes.starts_with("10, laid")) << r.summary.unequal_modes;
}

// Chains go between three of four, which no law tells apart: the fourth is laid over them all.
TEST(UnequalModes, BesideSomeThatChainsGoBetween) {
  Options o = mixture({{"dim", "1"}, {"means", "-10;-1;2;6.5"}, {"weights", "1.7,0.6,1,0.7"}, {"sds", "0.5,1,0.5,1"}});
  o.num_chains = 64;
  for (const std::uint64_t seed : {1, 5}) {
    o.seed = seed;
    expect_mean(run_quietly(o), (-17 - 0.6 + 2 + 4.55) / 4, "four in a row");
  }
}

// All climbs end in the wide mode: a search finds the narrow one, with most of the mass, before the run is done.
TEST(UnequalModes, InWhichNoChainIsAreFound) {
  for (const char* const sds : {"2,0.1", "1,2"}) {
    Options o = mixture({{"dim", "5"}, {"means", "-8;8"}, {"weights", "0.4,0.6"}, {"sds", sds}});
    expect_mean(run_quietly(o), 1.6, sds);
  }
}

// All climbs end in a wide mode with 1e-5 of the mass.
TEST(UnequalModes, AllChainsLeaveAPlaceOfNoMass) {
  expect_mean(run_quietly(mixture({{"dim", "3"}, {"means", "-8;8"}, {"weights", "0.00001,0.99999"}, {"sds", "3,0.2"}})),
              8, "a place of no mass");
}

// Banana and funnel have one mode: nothing is laid over anything.
TEST(UnequalModes, AreNotSeenWhereThereIsOne) {
  for (const char* const target : {"banana", "funnel"}) {
    Options o;
    o.target = target, o.device = "cpu", o.num_chains = 16;
    EXPECT_EQ(run_quietly(o).summary.unequal_modes, "") << target;
  }
}

/// Observations of z e^u with error 1, e^u half-Cauchy: along its tails a ridge bends that climbs and short chains do
/// not come down.
struct HeavyScales {
  VectorXd y;
  Eigen::Index dim() const { return 2 * y.size(); }
  double lp(const VectorXd& x, VectorXd& g) const {
    const Eigen::Index n = y.size();
    const auto u = x.head(n).array(), z = x.tail(n).array();
    const Eigen::ArrayXd scale = u.exp(), off = y.array() - z * scale;
    g.resize(2 * n);
    g.head(n) = 1 - 2 * scale.square() / (1 + scale.square()) + off * z * scale;
    g.tail(n) = -z + off * scale;
    return (u - (1 + scale.square()).log() - z.square() / 2 - off.square() / 2).sum();
  }
};

TEST(UnequalModes, PlacesAlongARidgeAreNone) {
  StoppedTarget<HeavyScales> target{{VectorXd::LinSpaced(10, -0.2, 3)}};
  for (const std::uint64_t seed : {4, 6}) {
    Options o = options_of_mine(64);
    o.seed = seed, o.num_samples = 10;
    const Result r = run_quietly(o);
    EXPECT_EQ(r.summary.unequal_modes, "") << seed;
  }
}

/// Two Gaussians about 8 and -16, sds `sd` and 2, 0.4 of the mass in the first.
struct TwoWidths {
  Eigen::Index n;
  double sd = 1;
  Eigen::Index dim() const { return n; }
  double lp(const VectorXd& x, VectorXd& g) const {
    const auto size = static_cast<double>(n);
    const double a = std::log(0.4) - size * std::log(sd) - (x.array() - 8).square().sum() / (2 * sd * sd),
                 b = std::log(0.6) - size * std::log(2.0) - (x.array() + 16).square().sum() / 8, top = std::max(a, b),
                 all = top + std::log(std::exp(a - top) + std::exp(b - top)), p = std::exp(a - all);
    g = p * (8 - x.array()) / (sd * sd) + (1 - p) * (-16 - x.array()) / 4;
    return all;
  }
};

TEST(UnequalModes, LogDensitiesAreTheTargets) {
  const StoppedTarget<TwoWidths> target{{3}};
  Options o = options_of_mine(16);
  o.keep_draws = true, o.seed = 3;
  const Result r = run_quietly(o);
  ASSERT_TRUE(r.summary.unequal_modes.starts_with("2, laid")) << r.summary.unequal_modes;
  expect_mean(r, 0.4 * 8 - 0.6 * 16, "two widths");
  const std::vector<double>&x = r.draws, &lp = r.lp;
  ASSERT_EQ(x.size(), 3 * lp.size());
  VectorXd g;
  for (std::size_t k = 0; k < lp.size(); k += 97)
    EXPECT_NEAR(lp[k], target.model.lp(Eigen::Map<const VectorXd>(x.data() + 3 * k, 3), g),
                1e-9 * (1 + std::abs(lp[k])));
}

/// Two narrow peaks on a wide floor with a fifth of the mass, which chains cross from peak to peak: they stay in none.
struct PeaksOnAFloor {
  Eigen::Index dim() const { return 4; }
  double lp(const VectorXd& x, VectorXd& g) const {
    constexpr double shares[] = {0.5, 0.3, 0.2}, first[] = {-1.5, 2, 0}, second[] = {1, -1, 0}, sds[] = {0.03, 0.03, 3};
    double terms[3], all = 0;
    VectorXd slopes[3];
    for (int k = 0; k < 3; ++k) {
      VectorXd z = x;
      z[0] = (x[0] - first[k]) / sds[k], z[1] -= second[k];
      terms[k] = shares[k] / sds[k] * std::exp(-z.squaredNorm() / 2), all += terms[k];
      slopes[k] = -z, slopes[k][0] /= sds[k];
    }
    g = (terms[0] * slopes[0] + terms[1] * slopes[1] + terms[2] * slopes[2]) / all;
    return std::log(all);
  }
};

TEST(UnequalModes, PeaksOnAFloorAreAMixture) {
  StoppedTarget<PeaksOnAFloor> target{{}};
  Options o = options_of_mine(64);
  o.num_samples.reset();
  for (const std::uint64_t seed : {1, 2, 3}) {
    o.seed = seed;
    const Result r = run_quietly(o);
    expect_mean(r, -0.5 * 1.5 + 0.3 * 2, "peaks on a floor");
    EXPECT_TRUE(r.summary.unequal_modes.starts_with("3, laid")) << r.summary.unequal_modes;
  }
}

// Stopped also where laws of a mixture are learnt, and learnt again.
TEST(UnequalModes, AMixtureIsResumedWithTheSameBits) {
  StoppedTarget<PeaksOnAFloor> target{{}};
  Options o = options_of_mine(64);
  o.num_samples = 100;
  const Result all = target.expect_same_bits(o, {0.6, 0.9, 0.95});
  EXPECT_TRUE(all.summary.unequal_modes.starts_with("3, laid")) << all.summary.unequal_modes;
}

// Stopped also where modes are looked for: after an audit that failed, and after one of the wide mode alone.
TEST(UnequalModes, AreResumedWithTheSameBits) {
  for (const TwoWidths& model : {TwoWidths{3}, TwoWidths{2, 0.2}}) {
    StoppedTarget<TwoWidths> target{model};
    Options o = options_of_mine(8);
    o.num_samples = 100;
    const Result all = target.expect_same_bits(o, {0.22, 0.5, 0.54, 0.8});
    EXPECT_TRUE(all.summary.unequal_modes.starts_with("2, laid")) << all.summary.unequal_modes;
  }
}

}  // namespace
}  // namespace kilochain
