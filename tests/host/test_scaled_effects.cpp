// Effects that a coordinate scales: they are found exactly, nowhere else, and a run is in coordinates where they are
// centred.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "host/learn/centred_effects.hpp"
#include "host/learn/learn_coordinates.hpp"
#include "host/learn/scaled_effects.hpp"
#include "tests/support/stopped_target.hpp"

namespace kilochain {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;
using testing_support::options_of_mine;
using testing_support::StoppedTarget;

/// A regression in non-centred form: y ~ N(b + e^{c u(v)} Z z, e^{2 w}), z_i ~ N(0, prior_sd^2), v and w ~ N(0, 1).
/// Coordinates: b, z (k), v, w.
class Splines {
 public:
  Splines(Eigen::Index effects, const ScaleLaw& law, double prior_sd, double noise)
      : k_(effects), law_(law), precision_(1 / (prior_sd * prior_sd)), Z_(4 * effects, effects) {
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal;
    for (Eigen::Index i = 0; i < Z_.rows(); ++i)
      for (Eigen::Index j = 0; j < k_; ++j) Z_(i, j) = normal(random) + 1;
    VectorXd z(k_);
    for (double& value : z) value = prior_sd * normal(random);
    y_ = Z_ * z;
    for (double& value : y_) value += 2 + noise * normal(random);
  }
  Eigen::Index dim() const { return k_ + 3; }
  double lp(const VectorXd& x, VectorXd& g) const {
    const double b = x[0], v = x[k_ + 1], w = x[k_ + 2], scale = std::exp(law_.rate * law_.u(v));
    const VectorXd z = x.segment(1, k_), r = y_ - (scale * (Z_ * z)).array().operator+(b).matrix(),
                   pull = std::exp(-2 * w) * r;
    g.resize(dim());
    g[0] = pull.sum();
    g.segment(1, k_) = scale * (Z_.transpose() * pull) - precision_ * z;
    g[k_ + 1] = law_.rate * law_.slope(v) * scale * pull.dot(Z_ * z) - v;
    g[k_ + 2] = pull.dot(r) - static_cast<double>(y_.size()) - w;
    return -pull.dot(r) / 2 - w * static_cast<double>(y_.size()) - precision_ * z.squaredNorm() / 2 - v * v / 2 -
           w * w / 2;
  }
  /// Points about the origin: no draws of the posterior.
  DrawsAndGradients points(Eigen::Index count) const {
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    DrawsAndGradients out{MatrixXd(dim(), count), MatrixXd(dim(), count)};
    VectorXd g;
    for (Eigen::Index s = 0; s < count; ++s) {
      VectorXd x(dim());
      for (double& value : x) value = 0.5 * normal(random);
      lp(x, g);
      out.x.col(s) = x, out.g.col(s) = g;
    }
    return out;
  }

 private:
  Eigen::Index k_;
  ScaleLaw law_;
  double precision_;
  MatrixXd Z_;
  VectorXd y_;
};

TEST(ScaledEffects, AreFoundWithTheirRateAndPriors) {
  for (const Eigen::Index effects : {1, 2, 31, 33})
    for (const ScaleLaw& law : {ScaleLaw{1}, ScaleLaw{0.5}, ScaleLaw{-0.5}, ScaleLaw{1, true}})
      for (const double prior_sd : {1.0, 2.5}) {
        const Splines model(effects, law, prior_sd, 0.3);
        SCOPED_TRACE(testing::Message() << effects << " effects, rate " << law.rate << ", bounded " << law.bounded
                                        << ", sd " << prior_sd);
        const auto found = scaled_effects(model.points(6 * model.dim() + 40));
        ASSERT_EQ(found.size(), 1u);
        EXPECT_EQ(found[0].parent, effects + 1);
        EXPECT_EQ(found[0].scale, law);
        ASSERT_EQ(std::ssize(found[0].effects), effects);
        for (Eigen::Index k = 0; k < effects; ++k) {
          EXPECT_EQ(found[0].effects[static_cast<std::size_t>(k)], k + 1);
          // Least squares with a ridge of 1e-9 of the features' squares, some of which cancel to 1e-3.
          EXPECT_NEAR(found[0].precisions[static_cast<std::size_t>(k)], 1 / (prior_sd * prior_sd), 0.01);
        }
      }
}

TEST(ScaledEffects, AreNoneOfOthers) {
  for (const Eigen::Index n : {1, 2, 5, 33}) {
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    DrawsAndGradients gaussian{MatrixXd(n, 8 * n + 20), MatrixXd(n, 8 * n + 20)}, centred = gaussian;
    for (Eigen::Index s = 0; s < gaussian.x.cols(); ++s) {
      for (Eigen::Index i = 0; i < n; ++i) gaussian.x(i, s) = normal(random), gaussian.g(i, s) = -gaussian.x(i, s);
      if (n < 2) continue;
      // Centred effects with data of their own: v's gradient is one of squares over e^{2 v}.
      const double v = normal(random);
      centred.x(0, s) = v, centred.g(0, s) = -v - static_cast<double>(n - 1);
      for (Eigen::Index i = 1; i < n; ++i) {
        const double z = normal(random);
        centred.x(i, s) = z * std::exp(v), centred.g(i, s) = -z * std::exp(-v) + 1 - centred.x(i, s);
        centred.g(0, s) += z * z;
      }
    }
    EXPECT_TRUE(scaled_effects(gaussian).empty()) << n;
    EXPECT_TRUE(centred_effects(gaussian, {}).empty()) << n;
    if (n < 2) continue;
    EXPECT_TRUE(scaled_effects(centred).empty()) << n;
  }
}

/// Of centred effects without data that is what they are in a funnel: x_i e^{-v} stands wherever x_i does, without a
/// prior beside it.
TEST(ScaledEffects, AreThoseOfAFunnel) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  DrawsAndGradients funnel{MatrixXd(6, 60), MatrixXd(6, 60)};
  for (Eigen::Index s = 0; s < 60; ++s) {
    const double v = funnel.x(0, s) = normal(random);
    funnel.g(0, s) = -v / 9 - 5;
    for (Eigen::Index i = 1; i < 6; ++i) {
      const double z = normal(random);
      funnel.x(i, s) = z * std::exp(v), funnel.g(i, s) = -z * std::exp(-v), funnel.g(0, s) += z * z;
    }
  }
  const auto found = scaled_effects(funnel);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].scale, ScaleLaw{-1});
  EXPECT_EQ(found[0].effects.size(), 5u);
  for (const double precision : found[0].precisions) EXPECT_LT(precision, 1e-6);
}

/// With many data the effects want to be centred, and the mean that they share with b as well; with none nothing is
/// changed.
TEST(ScaledEffects, AreCentredAsFarAsTheDataTell) {
  const std::pair<Eigen::Index, double> cases[] = {{9, 0.05}, {9, 100}, {254, 0.05}};
  for (const auto& [effects, noise] : cases) {
    SCOPED_TRACE(effects);
    const Splines model(effects, {1}, 1, noise);
    const DrawsAndGradients points = model.points(std::max<Eigen::Index>(200, 4 * model.dim()));
    const auto white = whitened(points);
    ASSERT_TRUE(white);
    const EffectCoordinates found = centre_effects(points);
    EXPECT_EQ(found.coordinates.size() > 0, noise < 1) << nonlinearity(*white);
    if (found.coordinates.size() == 0) continue;
    EXPECT_EQ(found.to_try.size(), 0u);
    DrawsAndGradients there = points;
    LearntCoordinates::Trace trace;
    for (Eigen::Index s = 0; s < points.x.cols(); ++s) {
      found.coordinates.from_target(there.x.col(s));
      VectorXd y = there.x.col(s);
      found.coordinates.to_target(y, trace);
      found.coordinates.pull_back(there.g.col(s), trace);
      EXPECT_LT((y - points.x.col(s)).norm(), 1e-10 * (1 + y.norm()));
    }
    EXPECT_LT(nonlinearity(*whitened(there)), 0.8 * nonlinearity(*white));
  }
}

/// A coefficient with a scale of its own, b_i = z_i e^{u_i}, z_i, u_i ~ N(0, 1), is a ridge where data tell b_i: each
/// of few is centred, among many coordinates of which data tell nothing. So are, of the effects of a scale that all
/// share, those alone that data tell; by both scales at once, where neither alone makes the ridge straight.
TEST(ScaledEffects, AreCentredOneByOneWhereDataTellOneAlone) {
  constexpr Eigen::Index pairs = 20, told = 3, n = 2 * pairs + 1, draws = 800;
  constexpr double noise = 0.1;
  std::mt19937_64 random(8);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  for (const double spread : {0.0, 0.5, 1.0}) {  // of the last coordinate v, any points: b_i = z_i e^{u_i + v}; 0: not
    SCOPED_TRACE(spread);
    const bool shared = spread > 0;
    DrawsAndGradients d{MatrixXd(n, draws), MatrixXd(n, draws)};
    for (Eigen::Index s = 0; s < draws; ++s) {
      auto x = d.x.col(s), g = d.g.col(s);
      const double sd = shared ? spread : 1, v = x[2 * pairs] = sd * normal(random);
      g[2 * pairs] = -v / (sd * sd);
      for (Eigen::Index i = 0; i < pairs; ++i) {
        double u = normal(random), z = normal(random);
        if (i <
            told) {  // b about 3; u given b by rejection from N(-1, 1), which is its law but for N(b e^{-u-v}; 0, 1)
          const double b = 3 + noise * normal(random);
          do u = normal(random) - 1;
          while (uniform(random) > std::exp(-0.5 * std::pow(b * std::exp(-u - (shared ? v : 0)), 2)));
          z = b * std::exp(-u - (shared ? v : 0));
        }
        x[i] = z, x[pairs + i] = u;
        const double by = i < told ? std::exp(u + (shared ? v : 0)) : 0, pull = (3 - z * by) / (noise * noise);
        g[i] = -z + pull * by, g[pairs + i] = -u + pull * z * by;
        if (shared) g[2 * pairs] += pull * z * by;
      }
    }
    LearntCoordinates learnt;
    ASSERT_EQ(learn_coordinates(learnt, d), Learning::better);
    std::vector<Eigen::Index> parents;
    for (const Noncentring& step : learnt.steps()) {
      parents.push_back(step.parent);
      EXPECT_LE(step.rates.size(), told) << step.parent;
    }
    for (Eigen::Index i = 0; i < told; ++i) EXPECT_EQ(std::ranges::count(parents, pairs + i), 1) << i;
    EXPECT_EQ(std::ranges::count(parents, 2 * pairs), shared);
  }
}

TEST(ScaledEffects, ARunIsResumedInTheirCoordinates) {
  StoppedTarget<Splines> target{Splines(12, {1}, 1, 0.02)};
  Options o = options_of_mine(16);
  o.num_samples = 100;
  target.expect_resumed(o, {0.02, 0.1, 0.4});
}

}  // namespace
}  // namespace kilochain
