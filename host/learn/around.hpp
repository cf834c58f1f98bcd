// How gradients change along single coordinates of a place, in standard deviations: by how much a scale is told.
// Cost: two gradients for each coordinate.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "host/learn/gradients_at.hpp"
#include "host/learn/scale_law.hpp"

namespace kilochain {

/// Gradients, in standard deviations, of points that differ from a place.
template <class Real>
class Around {
 public:
  Around(const std::vector<Real>& place, const Eigen::VectorXd& sds, const GradientsAt<Real>& gradients_at)
      : place_(place), sds_(sds), gradients_at_(gradients_at) {}
  Eigen::Index size() const { return sds_.size(); }
  double at(Eigen::Index v) const { return static_cast<double>(place_[static_cast<std::size_t>(v)]); }
  double sd(Eigen::Index i) const { return sds_[i]; }
  /// Along a coordinate that may tell a scale: further, a precision changes by an order.
  double step(Eigen::Index v) const { return std::min(sds_[v], 0.5); }

  /// At place + sum of (coordinate, by how much), each a column.
  using Moves = std::vector<std::vector<std::pair<Eigen::Index, double>>>;
  Eigen::MatrixXd at(const Moves& moves) const {
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
  const Eigen::VectorXd& sds_;
  const GradientsAt<Real>& gradients_at_;
};

/// Calls f(v, one, two) for each v along which other gradients change: by how much they do after one step and after
/// two; 0 of v itself.
template <class Real, class F>
void each_along(const Around<Real>& around, F&& f) {
  constexpr Eigen::Index at_once = 64;
  constexpr double least_pull = 0.01;
  const Eigen::Index n = around.size();
  const Eigen::VectorXd here = around.at({{}}).col(0);
  for (Eigen::Index first = 0; first < n; first += at_once) {
    const Eigen::Index last = std::min(n, first + at_once);
    typename Around<Real>::Moves moves;
    for (Eigen::Index v = first; v < last; ++v)
      for (const double k : {1.0, 2.0}) moves.push_back({{v, k * around.step(v)}});
    const Eigen::MatrixXd g = around.at(moves).colwise() - here;
    for (Eigen::Index v = first; v < last; ++v) {
      Eigen::VectorXd one = g.col(2 * (v - first)), two = g.col(2 * (v - first) + 1);
      one[v] = two[v] = 0;
      if (two.norm() > least_pull) f(v, one, two);
    }
  }
}

/// A coordinate along which all gradients but its own change as a prior's with its scale.
struct ScaleOfPrior {
  Eigen::Index v = 0;
  ScaleLaw scale;
  double q = 1, pull = 0;  ///< e^{-2 c u} one step along v, of that here; how much the gradient changes there
  Eigen::VectorXd change;  ///< of the gradient, along v

  /// The coordinates whose gradients change.
  std::vector<Eigen::Index> effects() const;
};

constexpr double of_curvature = 0.01;  ///< what rounding leaves of a law that holds, of what tells it from a linear one
/// The law that fits best; `pull` is 0 where none does.
template <class Real>
ScaleOfPrior scale_of_prior(const Around<Real>& around, Eigen::Index v, const Eigen::VectorXd& one,
                            const Eigen::VectorXd& two) {
  ScaleOfPrior best;
  double least = of_curvature;
  const double here = around.at(v);
  for (const ScaleLaw& scale : scale_laws) {
    const auto precision = [&](double steps) {
      return std::exp(-2 * scale.rate * (scale.u(here + steps * around.step(v)) - scale.u(here)));
    };
    const double q = precision(1),
                 left = (two - (precision(2) - 1) / (q - 1) * one).norm() / (std::abs(1 - q) * two.norm());
    if (left < least) least = left, best = {v, scale, q, two.norm(), one / (q - 1)};
  }
  return best;
}

/// Those that pull most.
inline void keep_most(std::vector<ScaleOfPrior>& found) {
  constexpr std::size_t most_priors = 4;
  std::ranges::sort(found, [](const ScaleOfPrior& a, const ScaleOfPrior& b) { return a.pull > b.pull; });
  if (found.size() > most_priors) found.resize(most_priors);
}

inline std::vector<Eigen::Index> ScaleOfPrior::effects() const {
  constexpr double next_to_none = 1e-6;
  std::vector<Eigen::Index> out;
  for (Eigen::Index i = 0; i < change.size(); ++i)
    if (std::abs(change[i]) > next_to_none * change.lpNorm<Eigen::Infinity>()) out.push_back(i);
  return out;
}

}  // namespace kilochain
