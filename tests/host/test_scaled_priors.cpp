// The joint prior of many effects that one coordinate scales is found exactly, of an autoregression with a mean and a
// coefficient that are learnt as well, and nowhere else; and in coordinates that know it the model is no funnel.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/dense.hpp"
#include "host/learn/learn_coordinates.hpp"
#include "host/learn/scaled_priors.hpp"

namespace kilochain {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;

/// e_t = x_t - m - p (x_{t-1} - m) ~ N(0, e^{2 c v}), e_1 = (x_1 - m) / 2, with p = tanh a and m = mu + `shift`; data
/// y_t ~ N(x_t, e^{2 r + 2 k v}); v, r, a, mu ~ N(0, 1). Coordinates: v, r, a, mu, x_1, ..., x_T.
struct State {
  Eigen::Index length;
  ScaleLaw scale;
  double shift = 0, of_noise = 0;
  Eigen::Index dim() const { return 4 + length; }
  double data(Eigen::Index t) const { return std::sin(static_cast<double>(t)); }

  /// Rows: e_1, ...; columns: all coordinates.
  MatrixXd innovations(double p) const {
    MatrixXd D = MatrixXd::Zero(length, dim());
    D(0, 3) = -0.5, D(0, 4) = 0.5;
    for (Eigen::Index t = 1; t < length; ++t) D(t, 3) = p - 1, D(t, 4 + t) = 1, D(t, 3 + t) = -p;
    return D;
  }
  VectorXd gradient(const VectorXd& x) const {
    const double p = std::tanh(x[2]), by_prior = std::exp(-2 * scale.rate * scale.u(x[0])),
                 by_data = std::exp(-2 * x[1] - 2 * of_noise * x[0]);
    const MatrixXd D = innovations(p);
    VectorXd e = D * x + D.col(3) * shift, out = -by_prior * D.transpose() * e;
    double squares = 0;
    for (Eigen::Index t = 0; t < length; ++t) {
      const double away = data(t) - x[4 + t];
      out[4 + t] += by_data * away, squares += away * away;
      if (t > 0) out[2] += by_prior * e[t] * (x[3 + t] - x[3] - shift) * (1 - p * p);
    }
    const auto n = static_cast<double>(length);
    out[0] += scale.rate * scale.slope(x[0]) * (by_prior * e.squaredNorm() - n) + of_noise * (by_data * squares - n);
    out[1] += by_data * squares - n;
    out.head(4) -= x.head(4);
    return out;
  }
  VectorXd place() const {
    VectorXd x(dim());
    x.head(4) << -0.7, -0.4, 0.9, 0.3;
    for (Eigen::Index t = 0; t < length; ++t) x[4 + t] = 0.4 * std::cos(1.7 * static_cast<double>(t));
    return x;
  }
  template <class Real>
  std::vector<ScaledEffects> found(double middle_of_v, double sd = 0.3) const {
    const VectorXd at = place();
    VectorXd sds = VectorXd::Constant(dim(), sd), middle = at;
    middle[0] = middle_of_v;
    return scaled_priors<Real>(std::vector<Real>(at.data(), at.data() + dim()), sds, middle,
                               [this](const std::vector<Real>& points, std::vector<double>*) {
                                 std::vector<Real> out;
                                 for (auto from = points.begin(); from != points.end(); from += dim()) {
                                   VectorXd x(dim());
                                   std::copy_n(from, dim(), x.data());
                                   const VectorXd g = gradient(x);
                                   out.insert(out.end(), g.data(), g.data() + dim());
                                 }
                                 return out;
                               });
  }
};

template <class Real>
void expect_found(const State& model, double most_error) {
  const double middle = -1;
  const auto found = model.found<Real>(middle);
  SCOPED_TRACE(testing::Message() << model.length << ", " << model.scale.rate << ", " << model.scale.bounded);
  ASSERT_EQ(found.size(), 2u);
  const ScaledEffects &prior = found[found[0].parent], &data = found[1 - found[0].parent];
  ASSERT_EQ(prior.parent, 0);
  EXPECT_EQ(prior.scale, model.scale);
  std::vector<Eigen::Index> effects;
  for (Eigen::Index i = 3; i < model.dim(); ++i) effects.push_back(i);
  EXPECT_EQ(prior.effects, effects);
  const MatrixXd D = model.innovations(std::tanh(model.place()[2])),
                 P = std::exp(-2 * model.scale.rate * model.scale.u(middle)) * (D.transpose() * D)(effects, effects);
  EXPECT_LT((prior.precision - P).norm(), most_error * P.norm());
  // e = D (x - about). Beside 0, P's eigenvalues differ by a factor of up to 68, and each loses about ten roundings.
  const VectorXd by_shift = D.col(3) * model.shift, left = D(Eigen::all, effects) * prior.about + by_shift;
  EXPECT_LE(left.norm(), 1e3 * most_error * by_shift.norm());
  // Data about numbers, with an error of e^r.
  ASSERT_EQ(data.parent, 1);
  ASSERT_EQ(std::ssize(data.effects), model.length);
  for (Eigen::Index t = 0; t < model.length; ++t) {
    EXPECT_EQ(data.effects[t], 4 + t);
    EXPECT_NEAR(data.about[t], model.data(t), 1e3 * most_error);
  }
}

// Second differences of gradients: rounding of a gradient, 1e-16 of it, over steps of 0.3 twice.
TEST(ScaledPriors, OfAnAutoregressionAreFoundExactly) {
  for (const Eigen::Index length : {2, 31, 65})
    for (const ScaleLaw& scale : scale_laws) expect_found<double>({length, scale}, 1e-12);
  expect_found<float>({33, {1}}, 1e-4);
}

TEST(ScaledPriors, AboutNumbersAreFoundExactly) {
  for (const Eigen::Index length : {2, 31, 65})
    for (const double rate : {1.0, -1.0}) expect_found<double>({length, {rate}, 2}, 1e-12);
}

TEST(ScaledPriors, AreNotFoundWhereTheScaleStandsElsewhereOrVariesLittle) {
  EXPECT_TRUE((State{31, {1}, 0, 0.3}.found<double>(-1, 0.1).empty()));
  EXPECT_TRUE((State{31, {1}, 2}.found<double>(-1, 0.1).empty()));  // about numbers: it may be the data's
  EXPECT_EQ((State{31, {1}}.found<double>(-1, 0.1).size()), 1u);
}

/// Draws of v about -0.7, of r and a next to their places, and of the others exactly, given these.
DrawsAndGradients some_draws(const State& model, Eigen::Index count, unsigned seed = 5) {
  const VectorXd middle = model.place();
  std::mt19937_64 bits(seed);
  std::normal_distribution<double> normal;
  const Eigen::Index n = model.dim(), effects = n - 3;
  DrawsAndGradients draws{MatrixXd(n, count), MatrixXd(n, count)};
  const MatrixXd D = model.innovations(std::tanh(middle[2])).rightCols(effects);
  for (Eigen::Index k = 0; k < count; ++k) {
    VectorXd x = middle;
    x[0] = -0.7 + 0.5 * normal(bits);
    for (const Eigen::Index i : {1, 2}) x[i] += 0.1 * normal(bits);
    MatrixXd precision = std::exp(-2 * x[0]) * D.transpose() * D;
    VectorXd pull = VectorXd::Zero(effects), z(effects);
    precision(0, 0) += 1;
    for (Eigen::Index t = 0; t < model.length; ++t)
      precision(1 + t, 1 + t) += std::exp(-2 * x[1]), pull[1 + t] = std::exp(-2 * x[1]) * model.data(t);
    for (double& value : z) value = normal(bits);
    const MatrixXd L = cholesky(precision).value();
    x.tail(effects) = solve_lower_transposed(L, solve_lower(L, pull) + z);
    draws.x.col(k) = x, draws.g.col(k) = model.gradient(x);
  }
  return draws;
}

TEST(ScaledPriors, TellCoordinatesThatAreNoFunnel) {
  const State model{31, {1}};
  const DrawsAndGradients draws = some_draws(model, 800);
  EXPECT_EQ(centre_effects(draws).to_try.size(), 0u);
  const EffectCoordinates with = centre_effects(draws, model.found<double>(median(draws.x.row(0)), 0.1));
  ASSERT_EQ(with.to_try.size(), 1u);
  const auto before = whitened(draws), after = whitened(with.points);
  ASSERT_TRUE(before && after);
  EXPECT_LT(nonlinearity(*after), 0.5 * nonlinearity(*before));
  EXPECT_LT(after->divergence, before->divergence - 1);
}

/// log det Cov(y) + log det Cov(g_y) of these draws in coordinates that were learnt from others.
double divergence_in(const LearntCoordinates& coordinates, const DrawsAndGradients& draws) {
  return whitened(draws_in(coordinates, draws)).value().divergence;
}

TEST(ScaledPriors, TellMoreThanFewDraws) {
  const State model{31, {1}};
  const DrawsAndGradients many = some_draws(model, 60 * model.dim(), 6);
  const auto left = [&](const KnownPriors& known) {
    DrawsAndGradients draws = some_draws(model, 4 * model.dim());
    LearntCoordinates coordinates;
    EXPECT_EQ(learn_coordinates(coordinates, draws, known), Learning::better);
    for (const Noncentring& step : coordinates.steps()) EXPECT_EQ(step.parent, 0);
    return divergence_in(coordinates, many);
  };
  const auto priors = [&](const DrawsAndGradients& d) { return model.found<double>(median(d.x.row(0)), 0.1); };
  const double nothing = divergence_in({}, many), by_draws = left({}), known = left(priors);
  EXPECT_LT(by_draws, nothing - 1);
  EXPECT_LT(known, by_draws / 2) << nothing;
}

}  // namespace
}  // namespace kilochain
