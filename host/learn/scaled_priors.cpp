#include "host/learn/scaled_priors.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/dense.hpp"

namespace kilochain {
namespace {

using Eigen::ArrayXd, Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

constexpr double farthest = 0.5;       // along v: further, a precision changes by an order
constexpr double of_curvature = 0.01;  // what rounding leaves of a law that holds, of what tells it from a linear one
constexpr double bent = 1e-3;          // what it leaves of a second difference, of the first
constexpr double next_to_none = 1e-6, least_pull = 0.01;
constexpr std::size_t most_priors = 4;
constexpr Index at_once = 64;           // coordinates whose pulls are looked at
constexpr double tells_nothing = 1e-3;  // data of an effect, of its prior

/// Gradients, in standard deviations, of points that differ from a place.
template <class Real>
class Around {
 public:
  Around(const std::vector<Real>& place, const VectorXd& sds, const GradientsAt<Real>& gradients_at)
      : place_(place), sds_(sds), gradients_at_(gradients_at) {}
  Index size() const { return sds_.size(); }
  double at(Index v) const { return static_cast<double>(place_[static_cast<std::size_t>(v)]); }
  double sd(Index i) const { return sds_[i]; }
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
  const VectorXd here = around.at({{}}).col(0);
  std::vector<Parent> out;
  MatrixXd g;
  for (Index v = 0; v < n; ++v) {
    if (v % at_once == 0) {
      typename Around<Real>::Moves moves;
      for (Index w = v; w < std::min(n, v + at_once); ++w)
        for (const double k : {1.0, 2.0}) moves.push_back({{w, k * around.step(w)}});
      g = around.at(moves).colwise() - here;
    }
    VectorXd one = g.col(2 * (v % at_once)), two = g.col(2 * (v % at_once) + 1);
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

std::vector<Index> effects_of(const Parent& p) {
  std::vector<Index> out;
  for (Index i = 0; i < p.change.size(); ++i)
    if (std::abs(p.change[i]) > next_to_none * p.change.lpNorm<Eigen::Infinity>()) out.push_back(i);
  return out;
}

template <class Real>
std::optional<ScaledEffects> prior_of(const Parent& p, const VectorXd& sds, const Around<Real>& around) {
  std::vector<Index> effects = effects_of(p);
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

/// Of effects whose priors are independent, in standard deviations: what two moves of all of them at once tell.
struct Independent {
  VectorXd prior, data;  ///< their precisions: (effect); that of data not below 0
  VectorXd pull;         ///< of data
  Index widest = 0;      ///< with the largest precision: if they are not independent, their mean
};
/// None where two moves tell different precisions, so that one effect's prior goes with another.
template <class Real>
std::optional<Independent> independent(const Parent& p, const std::vector<Index>& effects, const Around<Real>& around,
                                       Independent& seen) {
  std::mt19937_64 random(1);
  VectorXd before;
  seen.data = VectorXd::Zero(std::ssize(effects));
  for (const int k : {0, 1}) {
    typename Around<Real>::Moves moves(4);
    VectorXd signs(std::ssize(effects));
    for (Index j = 0; j < signs.size(); ++j) {
      const Index i = effects[static_cast<std::size_t>(j)];
      signs[j] = random() >> 63 ? 1 : -1;
      const double by = signs[j] * around.sd(i);
      moves[1].emplace_back(i, by), moves[2].emplace_back(i, by), moves[3].emplace_back(i, -by);
    }
    moves[2].emplace_back(p.v, around.step(p.v));
    const MatrixXd g = around.at(moves)(effects, Eigen::all);
    const VectorXd change = p.change(effects);
    seen.prior = -signs.cwiseProduct((g.col(2) - g.col(1)) / (p.q - 1) - change);
    seen.data += signs.cwiseProduct(g.col(3) - g.col(1)) / 4;
    seen.pull = g.col(0) - change;
    if (k == 0) before = seen.prior;
  }
  (seen.prior.cwiseAbs() + before.cwiseAbs()).maxCoeff(&seen.widest);
  if (!((seen.prior - before).norm() < of_curvature * before.norm()) || !(seen.prior.minCoeff() > 0)) return {};
  seen.data = (seen.data - seen.prior).cwiseMax(0);
  return seen;
}

/// The step by which effects with independent priors about one number, or about another coordinate, are centred as far
/// as data tell each of them.
template <class Real>
std::optional<Noncentring> one_by_one(const Parent& p, double middle, const Around<Real>& around) {
  std::vector<Index> effects = effects_of(p);
  if (effects.size() < 2) return {};
  Independent seen;
  auto found = independent(p, effects, around, seen);
  std::optional<Index> mean;
  if (!found) {
    mean = effects[static_cast<std::size_t>(seen.widest)];
    effects.erase(effects.begin() + seen.widest);
    found = independent(p, effects, around, seen);
    if (!found) return {};
  }
  const auto k = std::ssize(effects);
  VectorXd sds(k), from(k), about(k);
  for (Index j = 0; j < k; ++j) {
    const Index i = effects[static_cast<std::size_t>(j)];
    sds[j] = around.sd(i), from[j] = around.at(i) - (mean ? around.at(*mean) : 0);
  }
  about = from + VectorXd(p.change(effects)).cwiseProduct(sds).cwiseQuotient(found->prior);  // of their priors
  if (mean && !(about.norm() < of_curvature * from.norm())) return {};
  const double here = p.scale.u(around.at(p.v)), centre = p.scale.u(middle);
  const ArrayXd share = found->data.array() / found->prior.array() * std::exp(2 * p.scale.rate * (centre - here));
  const ArrayXd zero = ArrayXd::Zero(k);
  ArrayXd fixed = about.array();
  if (mean) fixed = zero;
  const ArrayXd of_data = from.array() + (sds.array() * found->pull.array() / found->data.array().max(1e-300));
  const ArrayXd shifts = (share > tells_nothing).select(of_data - fixed, zero);
  if (!shifts.allFinite() || !share.allFinite()) return {};
  return Noncentring{p.v,  centre,  {},      {},  ArrayXd::Constant(k, p.scale.rate), share, fixed, shifts,
                     zero, p.scale, effects, mean};
}

}  // namespace

template <class Real>
LearntCoordinates centred_one_by_one(const std::vector<Real>& place, const VectorXd& sds, const VectorXd& middle,
                                     const GradientsAt<Real>& gradients_at) {
  LearntCoordinates out;
  const Around<Real> around(place, sds, gradients_at);
  std::vector<Index> taken;
  for (const Parent& p : parents(around)) {
    const auto step = one_by_one(p, middle[p.v], around);
    if (!step || std::ranges::any_of(step->effects, [&](Index i) { return std::ranges::count(taken, i) > 0; }))
      continue;
    taken.insert(taken.end(), step->effects.begin(), step->effects.end());
    out.add(*step);
  }
  return out;
}

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

template LearntCoordinates centred_one_by_one(const std::vector<float>&, const VectorXd&, const VectorXd&,
                                              const GradientsAt<float>&);
template LearntCoordinates centred_one_by_one(const std::vector<double>&, const VectorXd&, const VectorXd&,
                                              const GradientsAt<double>&);
template std::vector<ScaledEffects> scaled_priors(const std::vector<float>&, const VectorXd&, const VectorXd&,
                                                  const GradientsAt<float>&);
template std::vector<ScaledEffects> scaled_priors(const std::vector<double>&, const VectorXd&, const VectorXd&,
                                                  const GradientsAt<double>&);

}  // namespace kilochain
