#include "host/learn/scaled_priors.hpp"

#include <algorithm>
#include <cmath>

#include "base/dense.hpp"

namespace kilochain {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr double farthest = 0.5;       // along v: further, a precision changes by an order
constexpr double of_curvature = 0.01;  // what rounding leaves of a law that holds, of what tells it from a linear one
constexpr double bent = 1e-3;          // what it leaves of a second difference, of the first
constexpr double next_to_none = 1e-6, least_pull = 0.01;
constexpr std::size_t most_priors = 4;

/// Gradients, in standard deviations, of points that differ from a place.
template <class Real>
class Around {
 public:
  Around(const std::vector<Real>& place, const VectorXd& sds, const GradientsAt<Real>& gradients_at)
      : place_(place), sds_(sds), gradients_at_(gradients_at) {}
  Index size() const { return sds_.size(); }
  double at(Index v) const { return static_cast<double>(place_[static_cast<std::size_t>(v)]); }
  double step(Index v) const { return std::min(sds_[v], farthest); }

  /// At place + sum of (coordinate, by how much), each a column.
  using Moves = std::vector<std::vector<std::pair<Index, double>>>;
  MatrixXd at(const Moves& moves) const {
    std::vector<Real> x;
    for (const auto& move : moves) {
      x.insert(x.end(), place_.begin(), place_.end());
      for (const auto& [i, by] : move)
        x[x.size() - place_.size() + static_cast<std::size_t>(i)] += static_cast<Real>(by);
    }
    using Columns = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
    const std::vector<Real> g = gradients_at_(x, nullptr);
    return sds_.asDiagonal() * Eigen::Map<const Columns>(g.data(), size(), std::ssize(moves)).template cast<double>();
  }

 private:
  const std::vector<Real>& place_;
  const VectorXd& sds_;
  const GradientsAt<Real>& gradients_at_;
};

struct Parent {
  Index v = 0;
  ScaleLaw scale;
  double q = 1, pull = 0;  ///< e^{-2 c u} one step along v, of that here; how much the gradient changes there
  VectorXd change;         ///< of the gradient, along v
};

/// The coordinates along which all gradients but their own change as a prior's with its scale.
template <class Real>
std::vector<Parent> parents(const Around<Real>& around) {
  const Index n = around.size();
  typename Around<Real>::Moves moves(1);
  for (Index v = 0; v < n; ++v)
    for (const double k : {1.0, 2.0}) moves.push_back({{v, k * around.step(v)}});
  MatrixXd g = around.at(moves);
  const VectorXd here = g.col(0);
  g.colwise() -= here;
  std::vector<Parent> out;
  for (Index v = 0; v < n; ++v) {
    VectorXd one = g.col(1 + 2 * v), two = g.col(2 + 2 * v);
    one[v] = two[v] = 0;
    if (!(two.norm() > least_pull)) continue;
    Parent best;
    double least = of_curvature;
    for (const ScaleLaw& scale : scale_laws) {
      const auto precision = [&](double steps) {
        const double here = around.at(v);
        return std::exp(-2 * scale.rate * (scale.u(here + steps * around.step(v)) - scale.u(here)));
      };
      const double q = precision(1),
                   left = (two - (precision(2) - 1) / (q - 1) * one).norm() / (std::abs(1 - q) * two.norm());
      if (left < least) least = left, best = {v, scale, q, two.norm(), one / (q - 1)};
    }
    if (best.pull > 0) out.push_back(std::move(best));
  }
  std::ranges::sort(out, [](const Parent& a, const Parent& b) { return a.pull > b.pull; });
  if (out.size() > most_priors) out.resize(most_priors);
  return out;
}

/// The coordinates whose pull by v is a linear function of all of them: those in which it bends most go first.
std::vector<Index> linear_ones(std::vector<Index> left, const MatrixXd& bends, const MatrixXd& slopes) {
  while (!left.empty()) {
    const MatrixXd of = bends(left, left);
    const double bar = bent * slopes(left, left).norm();
    const VectorXd sums = of.rowwise().squaredNorm() + of.colwise().squaredNorm().transpose();
    if (of.norm() <= bar) break;
    Index worst = 0;
    sums.maxCoeff(&worst);
    left.erase(left.begin() + worst);
  }
  return left;
}

template <class Real>
std::optional<ScaledEffects> prior_of(const Parent& p, const VectorXd& sds, const Around<Real>& around) {
  std::vector<Index> effects;
  for (Index i = 0; i < sds.size(); ++i)
    if (std::abs(p.change[i]) > next_to_none * p.change.lpNorm<Eigen::Infinity>()) effects.push_back(i);
  const double along = around.step(p.v), q = p.q;
  typename Around<Real>::Moves moves;
  for (const Index j : effects)
    for (const double k : {1.0, 2.0})
      for (const double by : {0.0, along}) moves.push_back({{j, k * sds[j]}, {p.v, by}});
  const MatrixXd g = around.at(moves);
  const Index n = sds.size(), count = std::ssize(effects);
  MatrixXd slopes = MatrixXd::Zero(n, n), bends = slopes;
  for (Index k = 0; k < count; ++k) {
    const Index j = effects[static_cast<std::size_t>(k)];
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
  for (Index k = 0; k < x.size(); ++k) {
    const Index i = effects[static_cast<std::size_t>(k)];
    x[k] = around.at(i) / sds[i];
  }
  const VectorXd change = p.change(effects);
  if (!((P - P.transpose()).norm() < of_curvature * P.norm())) return {};
  if (!((VectorXd(times(P, x)) + change).norm() < of_curvature * change.norm())) return {};  // its mean is not 0
  const VectorXd by = sds(effects).cwiseInverse();
  ScaledEffects out{p.v, p.scale, effects, {}, {}, {}, {}};
  out.precision = by.asDiagonal() * (0.5 * (P + P.transpose())) * by.asDiagonal();
  return out;
}

}  // namespace

template <class Real>
std::vector<ScaledEffects> scaled_priors(const std::vector<Real>& place, const VectorXd& sds, const VectorXd& middle,
                                         const GradientsAt<Real>& gradients_at) {
  std::vector<ScaledEffects> out;
  const Around<Real> around(place, sds, gradients_at);
  for (const Parent& p : parents(around))
    if (auto found = prior_of(p, sds, around)) {
      const double v = around.at(p.v);
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
