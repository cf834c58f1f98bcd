// Effects by the thousand whose priors are independent are found from a few gradients, whatever they are about; in the
// coordinates in which they are centred as far as data tell them their precision does not depend on their scale.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "host/learn/one_by_one.hpp"
#include "tests/support/stopped_target.hpp"

namespace kilochain {
namespace {

using Eigen::ArrayXd, Eigen::VectorXd;
using testing_support::options_of_mine;
using testing_support::StoppedTarget;

enum class About { zero, number, coordinate };

/// x_i ~ N(m, s_i^2 e^{2 c u(v)}), y_i ~ N(x_i + w, 1/R_i); v, w, mu ~ N(0, 1); m is 0, 1.5 or mu. `walk`: x_i is about
/// x_{i-1}. `scaled`: x_i ~ N(0, 1/0.7), y_i ~ N(x_i e^{c u} + w, 1/R_i). Coordinates: v, w, mu, x_1, ..., x_k.
/// Of s_i^2 1 and 2, of R_i 0, 0.3 and 4.
struct Many {
  Eigen::Index effects;
  ScaleLaw scale;
  About about = About::zero;
  bool walk = false, scaled = false;
  static constexpr double prior = 0.7;

  Eigen::Index dim() const { return effects + 3; }
  double variance(Eigen::Index i) const { return 1 + static_cast<double>(i % 2); }
  double data(Eigen::Index i) const { return i % 3 == 0 ? 0 : i % 3 == 1 ? 0.3 : 4; }
  double y(Eigen::Index i) const { return 0.2 * static_cast<double>(i * 7 % 11) - 0.6; }
  double lp(const VectorXd& x, VectorXd& g) const {
    const double log_scale = scale.rate * scale.u(x[0]), precision = std::exp(-2 * log_scale),
                 slope = scale.rate * scale.slope(x[0]);
    g = VectorXd::Zero(dim());
    g.head(3) = -x.head(3);
    double out = -x.head(3).squaredNorm() / 2;
    for (Eigen::Index i = 0; i < effects; ++i) {
      if (scaled) {
        const double e = std::exp(log_scale), z = x[3 + i], rest = y(i) - z * e - x[1];
        out -= (prior * z * z + data(i) * rest * rest) / 2;
        g[0] += slope * data(i) * rest * z * e, g[1] += data(i) * rest;
        g[3 + i] += data(i) * rest * e - prior * z;
        continue;
      }
      const bool last = walk && i > 0;
      const double m = last                         ? x[2 + i]
                       : about == About::number     ? 1.5
                       : about == About::coordinate ? x[2]
                                                    : 0,
                   P = precision / variance(i), away = x[3 + i] - m, rest = y(i) - x[3 + i] - x[1];
      out += -P * away * away / 2 - log_scale - data(i) * rest * rest / 2;
      g[0] += slope * (P * away * away - 1);
      g[1] += data(i) * rest;
      g[3 + i] += data(i) * rest - P * away;
      if (last) g[2 + i] += P * away;
      if (!last && about == About::coordinate) g[2] += P * away;
    }
    return out;
  }
  VectorXd place() const {
    VectorXd x(dim());
    x.head(3) << -0.4, 0.2, 0.7;
    for (Eigen::Index i = 0; i < effects; ++i) x[3 + i] = std::cos(0.9 * static_cast<double>(i)) - 0.1;
    return x;
  }
  template <class Real>
  LearntCoordinates found(double middle_of_v) const {
    const VectorXd at = place();
    VectorXd middle = at, sds = VectorXd::Constant(dim(), 0.3);
    sds[1] = 0.05;  // all data tell of w
    middle[0] = middle_of_v;
    return centred_one_by_one<Real>(std::vector<Real>(at.data(), at.data() + dim()), sds, middle,
                                    [this](const std::vector<Real>& points, std::vector<double>*) {
                                      std::vector<Real> out;
                                      VectorXd x(dim()), g;
                                      for (auto from = points.begin(); from != points.end(); from += dim()) {
                                        std::copy_n(from, dim(), x.data());
                                        lp(x, g);
                                        out.insert(out.end(), g.data(), g.data() + dim());
                                      }
                                      return out;
                                    });
  }
};

/// relative: to the largest of what is compared.
template <class Real>
void expect_found(const Many& model, double relative) {
  SCOPED_TRACE(testing::Message() << model.effects << " effects, rate " << model.scale.rate << ", bounded "
                                  << model.scale.bounded << ", about " << static_cast<int>(model.about));
  const double middle = -1;
  const LearntCoordinates found = model.found<Real>(middle);
  ASSERT_EQ(found.size(), 1u);
  const Noncentring& step = found.steps()[0];
  const VectorXd place = model.place();
  const bool about_mean = model.about == About::coordinate;
  EXPECT_EQ(step.parent, 0);
  EXPECT_EQ(step.scale, model.scale);
  EXPECT_EQ(step.mean, about_mean ? std::optional<Eigen::Index>(2) : std::nullopt);
  ASSERT_EQ(std::ssize(step.effects), model.effects);
  const double variance = std::exp(2 * model.scale.rate * model.scale.u(middle)),
               fixed = model.about == About::number ? 1.5 : 0;
  for (Eigen::Index i = 0; i < model.effects; ++i) {
    EXPECT_EQ(step.effects[static_cast<std::size_t>(i)], 3 + i);
    EXPECT_NEAR(step.data[i], model.data(i) * variance * model.variance(i), 10 * relative);
    EXPECT_NEAR(step.fixed[i], fixed, 5 * relative);
    const double of_data = model.y(i) - place[1] - (about_mean ? place[2] : 0) - fixed;
    EXPECT_NEAR(step.shifts[i], model.data(i) > 0 ? of_data : 0, 100 * relative) << i;
  }
}

TEST(OneByOne, EffectsAreFoundExactly) {
  for (const Eigen::Index effects : {8, 31, 65, 700})
    for (const About about : {About::zero, About::number, About::coordinate})
      for (const ScaleLaw& scale : scale_laws)
        // Of a quadratic density differences are exact but for rounding: some 10 operations of numbers below 100.
        expect_found<double>({effects, scale, about}, 1e3 * static_cast<double>(effects) * 2.2e-16);
  expect_found<float>({33, {1}}, 1e-3);
}

TEST(OneByOne, AreNoneOfAWalk) { EXPECT_EQ((Many{40, {1}, About::zero, true}.found<double>(-1).size()), 0u); }

/// In y, and given v, an effect's precision is that where v is at its middle, and its place is the same.
TEST(OneByOne, TheirPrecisionDoesNotDependOnTheirScale) {
  for (const Many& model : {Many{9, {1}}, Many{9, {1}, About::number}, Many{9, {1}, About::coordinate},
                            Many{15, {1}, About::zero, false, true}, Many{700, {1, true}, About::zero, false, true},
                            Many{33, {-0.5}, About::zero, false, true}}) {
    const LearntCoordinates found = model.found<double>(-1);
    ASSERT_EQ(found.size(), 1u);
    Eigen::Index wanted = 0;  // of effects that are scaled those alone of which there are data
    for (Eigen::Index i = 0; i < model.effects; ++i) wanted += !model.scaled || model.data(i) > 0;
    EXPECT_EQ(std::ssize(found.steps()[0].effects), wanted);
    EXPECT_EQ(found.steps()[0].scale, model.scale);
    for (const Eigen::Index i : {0, 1, 2}) {
      const double square = std::exp(2 * model.scale.rate * model.scale.u(-1));
      double wanted = 1 / (square * model.variance(i)) + model.data(i);
      if (model.scaled) wanted = model.prior + model.data(i) * square;
      VectorXd y = model.place(), g;
      LearntCoordinates::Trace trace;
      double at_once = 0;
      for (const double v : {-3.0, -1.0, 0.5}) {
        double pull[2];
        for (const int k : {0, 1}) {
          VectorXd x = y;
          x[0] = v, x[3 + i] += k;
          found.to_target(x, trace);
          model.lp(x, g);
          found.pull_back(g, trace);
          pull[k] = g[3 + i];
        }
        EXPECT_NEAR(pull[0] - pull[1], wanted, 1e-9 * wanted) << i << " at " << v;
        if (v == -3) at_once = pull[0];
        EXPECT_NEAR(pull[0], at_once, 1e-9 * (1 + std::abs(at_once))) << i << " at " << v;
      }
    }
  }
}

/// Beyond 1 024 coordinates; v is as its own law has it, by quadrature over v and w.
TEST(OneByOne, ARunIsRightAndResumedInTheirCoordinates) {
  StoppedTarget<Many> target{Many{1100, {1}}};
  const Many& model = target.model;
  double sum = 0, mean = 0;
  std::vector<std::array<double, 3>> grid;
  for (double v = -2; v < 2; v += 0.02)
    for (double w = -1; w < 1; w += 0.02) {
      double lp = -(v * v + w * w) / 2;
      for (Eigen::Index i = 0; i < model.effects; ++i) {
        if (model.data(i) == 0) continue;
        const double variance = std::exp(2 * v) * model.variance(i) + 1 / model.data(i), away = model.y(i) - w;
        lp -= (away * away / variance + std::log(variance)) / 2;
      }
      grid.push_back({v, w, lp});
    }
  const double top = std::ranges::max(grid, {}, [](const auto& a) { return a[2]; })[2];
  for (const auto& [v, w, lp] : grid) sum += std::exp(lp - top), mean += v * std::exp(lp - top);
  Options o = options_of_mine(16);
  o.sampler_settings["mass"] = "diagonal";  // as a run chooses it, and its file says it to one that is resumed
  o.num_samples = 200;
  const Result result = testing_support::run_quietly(o);
  EXPECT_NE(result.evaluation.find("learnt coordinates"), std::string::npos) << result.evaluation;
  const ParameterSummary& v = result.summary.parameters[0];
  EXPECT_NEAR(v.mean, mean / sum, 4.5 * v.mcse_mean);  // a false alarm in 150 000
  EXPECT_LT(v.rhat, 1.03);
  o.num_samples = 20;
  target.calls = 0;
  target.expect_resumed(o, {0.5});
}

}  // namespace
}  // namespace kilochain
