#include "host/learn/scaled_priors.hpp"

#include <cmath>

#include "base/dense.hpp"
#include "host/learn/around.hpp"

namespace kilochain {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;

constexpr double negligible = 1e-8;   // eigenvalues, of the largest
constexpr double least_width = 0.15;  // of the log scale: below, a normal about numbers is the data's, and no funnel
constexpr double bent = 1e-3;         // what rounding leaves of a second difference, of the first

template <class Real>
std::vector<ScaleOfPrior> scales_of_priors(const Around<Real>& around) {
  std::vector<ScaleOfPrior> out;
  each_along(around, [&](Eigen::Index v, const VectorXd& one, const VectorXd& two) {
    ScaleOfPrior found = scale_of_prior(around, v, one, two);
    if (found.pull > 0) out.push_back(std::move(found));
  });
  keep_most(out);
  return out;
}

/// The coordinates whose pull by v is a linear function of all of them: those in which it bends most go first.
std::vector<Eigen::Index> linear_ones(std::vector<Eigen::Index> left, const MatrixXd& bends, const MatrixXd& slopes) {
  while (!left.empty()) {
    const MatrixXd of = bends(left, left);
    const double bar = bent * slopes(left, left).norm();
    const VectorXd sums = of.rowwise().squaredNorm() + of.colwise().squaredNorm().transpose();
    if (of.norm() <= bar) break;
    Eigen::Index worst = 0;
    sums.maxCoeff(&worst);
    left.erase(left.begin() + worst);
  }
  return left;
}

/// m of change = -P (x - m): 0 where that will do. None where P is no precision, or there is no such m.
std::optional<VectorXd> mean_of(const MatrixXd& P, const VectorXd& x, const VectorXd& change) {
  const VectorXd pull = VectorXd(times(P, x)) + change;
  const double bar = of_curvature * change.norm();
  if (pull.norm() < bar) return VectorXd::Zero(x.size());
  const auto eigen = symmetric_eigen(0.5 * (P + P.transpose()));
  if (!eigen) return {};
  const double largest = eigen->values.maxCoeff();
  if (!(eigen->values.minCoeff() > -of_curvature * largest)) return {};
  const Eigen::ArrayXd inverse =
      (eigen->values.array() > negligible * largest).select(eigen->values.array().max(1e-300).inverse(), 0.0);
  VectorXd m = times(eigen->with_values(inverse), pull);
  if (!((pull - VectorXd(times(P, m))).norm() < bar)) return {};
  return m;
}

template <class Real>
std::optional<ScaledEffects> prior_of(const ScaleOfPrior& p, const VectorXd& sds, const Around<Real>& around) {
  std::vector<Eigen::Index> effects = p.effects();
  const double along = around.step(p.v), q = p.q;
  typename Around<Real>::Moves moves;
  for (const Eigen::Index j : effects)
    for (const double k : {1.0, 2.0})
      for (const double by : {0.0, along}) moves.push_back({{j, k * sds[j]}, {p.v, by}});
  const MatrixXd g = around.at(moves);
  const Eigen::Index n = sds.size(), count = std::ssize(effects);
  MatrixXd slopes = MatrixXd::Zero(n, n), bends = slopes;
  for (Eigen::Index k = 0; k < count; ++k) {
    const Eigen::Index j = effects[static_cast<std::size_t>(k)];
    const VectorXd one = (g.col(4 * k + 1) - g.col(4 * k)) / (q - 1) - p.change,
                   two = (g.col(4 * k + 3) - g.col(4 * k + 2)) / (q - 1) - p.change;
    slopes.col(j) = one;
    bends.col(j) = two - 2 * one;
  }
  if (!slopes.allFinite() || !bends.allFinite()) return {};
  effects = linear_ones(effects, bends, slopes);
  if (effects.size() < 2) return {};
  // In standard deviations: change = -P x, a slope is -P's column.
  const MatrixXd P = -slopes(effects, effects);
  VectorXd x(std::ssize(effects));
  for (Eigen::Index k = 0; k < x.size(); ++k) {
    const Eigen::Index i = effects[static_cast<std::size_t>(k)];
    x[k] = around.at(i) / sds[i];
  }
  const VectorXd change = p.change(effects);
  if (!((P - P.transpose()).norm() < of_curvature * P.norm())) return {};
  const auto mean = mean_of(P, x, change);
  if (!mean) return {};
  const VectorXd by = sds(effects).cwiseInverse();
  ScaledEffects out{p.v, p.scale, effects, {}, {}, {}, {}, mean->cwiseQuotient(by)};
  out.precision = by.asDiagonal() * (0.5 * (P + P.transpose())) * by.asDiagonal();
  return out;
}

}  // namespace

template <class Real>
std::vector<ScaledEffects> scaled_priors(const std::vector<Real>& place, const VectorXd& sds, const VectorXd& middle,
                                         const GradientsAt<Real>& gradients_at) {
  std::vector<ScaledEffects> out;
  const Around<Real> around(place, sds, gradients_at);
  for (const ScaleOfPrior& p : scales_of_priors(around))
    if (auto found = prior_of(p, sds, around)) {
      const double v = around.at(p.v);
      if (found->about.norm() > 0 && std::abs(p.scale.rate * p.scale.slope(middle[p.v])) * sds[p.v] < least_width)
        continue;
      found->precision *= std::exp(-2 * p.scale.rate * (p.scale.u(middle[p.v]) - p.scale.u(v)));
      out.push_back(*std::move(found));
    }
  return out;
}

template std::vector<ScaledEffects> scaled_priors(const std::vector<float>&, const VectorXd&, const VectorXd&,
                                                  const GradientsAt<float>&);
template std::vector<ScaledEffects> scaled_priors(const std::vector<double>&, const VectorXd&, const VectorXd&,
                                                  const GradientsAt<double>&);

}  // namespace kilochain
