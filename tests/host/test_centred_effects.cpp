// Centred effects are found exactly, with their scale, mean and precisions, and nowhere else; and coordinates in which
// several groups of them are no funnels are found from points about the posterior.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "host/learn/centred_effects.hpp"
#include "host/learn/hierarchy.hpp"
#include "host/learn/learn_coordinates.hpp"

namespace kilochain {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;

/// Groups of effects, x_gi ~ N(m_g, e^{2 c u(v_g)}), m_g a coordinate or 0; v_g ~ N(-1, 1), m_g ~ N(0, 9). Data:
/// y_k ~ N(b + sum of one effect of each group, 1), b ~ N(0, 9). Coordinates: b, then of each group effects, (m,) v.
class Crossed {
 public:
  struct Group {
    Eigen::Index size;
    ScaleLaw scale;
    bool about_mean;
  };
  explicit Crossed(std::vector<Group> groups, Eigen::Index rows = 200) : groups_(std::move(groups)), rows_(rows) {
    std::mt19937_64 random(11);
    std::normal_distribution<double> normal;
    Eigen::Index at = 1;
    for (const Group& g : groups_) first_.push_back(at), at += g.size + g.about_mean + 1;
    dim_ = at;
    y_.resize(rows);
    for (double& value : y_) value = 1 + normal(random);
  }
  Eigen::Index dim() const { return dim_; }
  Eigen::Index parent(std::size_t g) const { return first_[g] + groups_[g].size + groups_[g].about_mean; }
  Eigen::Index first(std::size_t g) const { return first_[g]; }
  VectorXd gradient(const VectorXd& x) const {
    VectorXd out = VectorXd::Zero(dim_);
    for (Eigen::Index k = 0; k < rows_; ++k) {
      double eta = x[0];
      for (std::size_t g = 0; g < groups_.size(); ++g) eta += x[at(g, k)];
      const double pull = y_[k] - eta;
      out[0] += pull;
      for (std::size_t g = 0; g < groups_.size(); ++g) out[at(g, k)] += pull;
    }
    out[0] -= x[0] / 9;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const Group& of = groups_[g];
      const Eigen::Index v = parent(g), mean = v - 1;
      const double m = of.about_mean ? x[mean] : 0, precision = std::exp(-2 * of.scale.rate * of.scale.u(x[v])),
                   rate = of.scale.rate * of.scale.slope(x[v]);
      out[v] -= x[v] + 1 + rate * static_cast<double>(of.size);
      if (of.about_mean) out[mean] -= m / 9;
      for (Eigen::Index i = 0; i < of.size; ++i) {
        const double away = x[first_[g] + i] - m;
        out[first_[g] + i] -= precision * away;
        if (of.about_mean) out[mean] += precision * away;
        out[v] += rate * precision * away * away;
      }
    }
    return out;
  }
  /// Points about a place where effects are narrow: no draws of the posterior.
  DrawsAndGradients points(Eigen::Index count) const {
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    DrawsAndGradients out{MatrixXd(dim_, count), MatrixXd(dim_, count)};
    for (Eigen::Index s = 0; s < count; ++s) {
      VectorXd x(dim_);
      for (double& value : x) value = 0.4 * normal(random);
      for (std::size_t g = 0; g < groups_.size(); ++g) x[parent(g)] += groups_[g].scale.rate > 0 ? -2 : 2;
      out.x.col(s) = x, out.g.col(s) = gradient(x);
    }
    return out;
  }

 private:
  Eigen::Index at(std::size_t g, Eigen::Index row) const {
    const auto stride = static_cast<Eigen::Index>(2 * g + 1);
    return first_[g] + row * stride % groups_[g].size;
  }
  std::vector<Group> groups_;
  Eigen::Index rows_, dim_;
  std::vector<Eigen::Index> first_;
  VectorXd y_;
};

TEST(CentredEffects, AreFoundWithTheirMeanAndPrecisions) {
  for (const Eigen::Index size : {2, 5, 31, 33})
    for (const ScaleLaw& scale : {ScaleLaw{1}, ScaleLaw{0.5}, ScaleLaw{-0.5}, ScaleLaw{1, true}})
      for (const bool about_mean : {false, true}) {
        SCOPED_TRACE(testing::Message() << size << " effects, rate " << scale.rate << ", bounded " << scale.bounded
                                        << ", mean " << about_mean);
        const Crossed model({{size, scale, about_mean}});
        const DrawsAndGradients points = model.points(6 * model.dim() + 60);
        const auto found = centred_effects(points, {});
        ASSERT_EQ(found.size(), 1u);
        EXPECT_EQ(found[0].parent, model.parent(0));
        EXPECT_EQ(found[0].scale, scale);
        EXPECT_EQ(found[0].mean.has_value(), about_mean);
        ASSERT_EQ(std::ssize(found[0].effects), size);
        const double precision = std::exp(-2 * scale.rate * scale.u(median(points.x.row(model.parent(0)))));
        for (Eigen::Index k = 0; k < size; ++k) {
          EXPECT_EQ(found[0].effects[static_cast<std::size_t>(k)], k + 1);
          // Least squares with a ridge of 1e-9 of the features' squares, some of which cancel to 1e-3.
          EXPECT_NEAR(found[0].precisions[static_cast<std::size_t>(k)], precision, 1e-3 * precision);
        }
      }
}
TEST(CentredEffects, AreNotLookedForAgain) {
  const Crossed model({{5, {1}, false}});
  const DrawsAndGradients points = model.points(100);
  const auto found = centred_effects(points, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(centred_effects(points, found).empty());
}

/// Without the priors the gradient is the data's: of Gaussian data exactly.
TEST(CentredEffects, LeaveTheDataAlone) {
  const Crossed model({{5, {1}, false}, {7, {1}, true}});
  const DrawsAndGradients points = model.points(300);
  const auto groups = centred_effects(points, {});
  ASSERT_EQ(groups.size(), 2u);
  const auto data = data_precision(points, groups);
  ASSERT_TRUE(data);
  const Crossed alone({{5, {1}, false}, {7, {1}, true}}, 0);
  double worst = 0, largest = 0;
  for (Eigen::Index s = 0; s < 20; ++s) {
    const VectorXd x = points.x.col(s), of_data = points.g.col(s) - alone.gradient(x),
                   told = data->pull - data->precision * x;
    for (Eigen::Index i = 0; i < model.dim(); ++i) {
      if (i == model.parent(0) || i == model.parent(1)) continue;
      const double prior = i == 0 || i == model.parent(1) - 1 ? -x[i] / 9 : 0;  // of b and of the mean, not a group's
      worst = std::max(worst, std::abs(of_data[i] + prior - told[i]));
      largest = std::max(largest, std::abs(of_data[i]));
    }
  }
  EXPECT_LT(worst, 0.01 * largest);
}

/// Crossed groups: a linear function of position tells more of the gradient in the coordinates that are found.
TEST(CentredEffects, OfSeveralGroupsAreNoFunnelsInCoordinatesThatAreFound) {
  const Crossed model({{4, {1}, false}, {16, {1, true}, false}, {8, {1}, true}});
  const DrawsAndGradients points = model.points(8 * model.dim());
  const EffectCoordinates found = centre_effects(points);
  ASSERT_EQ(found.to_try.size(), 3u);
  EXPECT_GT(found.before, 0.1);
  const auto there = whitened(found.points);
  ASSERT_TRUE(there);
  EXPECT_LT(nonlinearity(*there), 0.5 * found.before);
  LearntCoordinates::Trace trace;
  for (Eigen::Index s = 0; s < 10; ++s) {
    VectorXd x = found.points.x.col(s);
    found.to_try.to_target(x, trace);
    EXPECT_LT((x - points.x.col(s)).norm(), 1e-10 * (1 + x.norm()));
  }
}

}  // namespace
}  // namespace kilochain
