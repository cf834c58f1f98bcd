#include "host/learn/scaled_effects.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/dense.hpp"
#include "host/learn/least_squares.hpp"

namespace kilochain {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::RowVectorXd, Eigen::VectorXd;

constexpr double told = 0.999;      // of the variance of g_v, where the model is one; of such a model all is told
constexpr double near_rate = 0.25;  // of c: what noise leaves of a coefficient
constexpr double next_to_none = 1e-6;
constexpr Index most_scales = 8;
constexpr double of_a_normal_square = 0.4549;  // its median

/// Gradients, and what they are made of. Rows i of `features`: x_i (g_i + x_i), of a standard normal prior what data
/// pull; rows n + i: x_i^2. Both standardised.
class Regression {
 public:
  explicit Regression(const DrawsAndGradients& draws)
      : n_(draws.x.rows()), x_(draws.x), g_(draws.g), features_(2 * n_, draws.x.cols()), response_(draws.g) {
    features_.topRows(n_) = x_.cwiseProduct(draws.g + x_);
    features_.bottomRows(n_) = x_.cwiseAbs2();
    weights_ = weights_by_size(features_);
    features_ *= weights_.asDiagonal(), response_ *= weights_.asDiagonal();
    pulls_ = features_.topRows(n_);
    lengths_ = standardise(features_);
    for (Index i = 0; i < n_; ++i)
      if (lengths_[i] < next_to_none * lengths_[n_ + i]) features_.row(i).setZero();
    sizes_ = standardise(response_);
    gram_ = times_own_transpose(features_);
    with_ = times_transposed(features_, response_);
  }

  /// The coordinates whose gradients are told best by the features of all others, but for their priors: by the inverse
  /// of the whole, without two rows.
  std::vector<Index> likely() const {
    MatrixXd ridged = gram_;
    ridged.diagonal().array() += ridge;
    const auto inverse = solve_symmetric(ridged, MatrixXd::Identity(2 * n_, 2 * n_));
    if (!inverse) return {};
    MatrixXd by = with_;
    for (Index v = 0; v < n_; ++v) by(v, v) = by(n_ + v, v) = 0;
    const MatrixXd solved = times(*inverse, by);
    VectorXd tells(n_);
    for (Index v = 0; v < n_; ++v) {
      const auto own = cholesky((*inverse)({v, n_ + v}, {v, n_ + v}));
      const double beside = own ? solve_lower(*own, solved({v, n_ + v}, v)).squaredNorm() : 0;
      tells[v] = by.col(v).dot(solved.col(v)) - beside;
    }
    std::vector<Index> order(static_cast<std::size_t>(n_));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, [&](Index a, Index b) { return tells[a] > tells[b]; });
    order.resize(static_cast<std::size_t>(std::min(n_, most_scales)));
    return order;
  }

  std::optional<ScaledEffects> of(Index v) const {
    std::vector<Index> rows;
    for (Index i = 0; i < 2 * n_; ++i)
      if (i % n_ != v) rows.push_back(i);
    const auto size = std::ssize(rows);
    const MatrixXd smooth = smooth_functions(x_.row(v), weights_);
    MatrixXd gram(size + powers + 1, size + powers + 1);
    gram.topLeftCorner(size, size) = gram_(rows, rows);
    gram.bottomLeftCorner(powers + 1, size) = times_transposed(smooth, features_(rows, Eigen::all));
    gram.topRightCorner(size, powers + 1) = gram.bottomLeftCorner(powers + 1, size).transpose();
    gram.bottomRightCorner(powers + 1, powers + 1) = times_own_transpose(smooth);
    VectorXd with(size + powers + 1);
    with << with_(rows, v), times_transposed(smooth, response_.row(v));
    const Fit whole = fit(gram, with, 1);
    const double freedom = 1 - static_cast<double>(with.size()) / static_cast<double>(x_.cols());
    if (!(whole.left < (1 - told) * freedom)) return {};
    for (const double rate : effect_rates) {
      ScaledEffects found{v, rate, {}, {}, {}, {}, {}};
      for (Index k = 0; k < n_ - 1; ++k) {
        const Index i = rows[static_cast<std::size_t>(k)];
        const double slope = lengths_[i] > 0 ? whole.coefficients[k] * sizes_[v] / lengths_[i] : 0;
        if (std::abs(slope / rate - 1) < near_rate) found.effects.push_back(i);
      }
      if (!found.effects.empty() && alone(found, smooth)) return found;
    }
    return {};
  }

 private:
  /// Whether these effects alone, all of one rate, tell as much; then their priors as well.
  bool alone(ScaledEffects& found, const MatrixXd& smooth) const {
    RowVectorXd rest = response_.row(found.parent) * sizes_[found.parent];
    for (const Index i : found.effects) rest -= found.rate * pulls_.row(i);
    rest.array() -= rest.mean();
    const Index few = std::ssize(found.effects);
    MatrixXd basis(few + smooth.rows(), rest.size());
    for (Index k = 0; k < few; ++k) basis.row(k) = features_.row(n_ + found.effects[static_cast<std::size_t>(k)]);
    basis.bottomRows(smooth.rows()) = smooth;
    const Fit by = fit(times_own_transpose(basis), times_transposed(basis, rest), rest.squaredNorm());
    if (!(by.left * rest.squaredNorm() < (1 - told) * sizes_[found.parent] * sizes_[found.parent])) return false;
    for (Index k = 0; k < few; ++k) {
      const double length = lengths_[n_ + found.effects[static_cast<std::size_t>(k)]];
      found.precisions.push_back(std::max(0.0, 1 + by.coefficients[k] / (length * found.rate)));
    }
    for (Index k = 0; k < few; ++k) {
      const Index i = found.effects[static_cast<std::size_t>(k)];
      const double prior = found.precisions[static_cast<std::size_t>(k)];
      const VectorXd of_data = g_.row(i) + prior * x_.row(i);  // the gradient without its prior's
      found.told.push_back(median(of_data.cwiseAbs2()) / of_a_normal_square / std::max(prior, 1e-300));
    }
    return true;
  }

  const Index n_;
  const MatrixXd &x_, &g_;
  MatrixXd features_, response_, pulls_, gram_, with_;  ///< with_: correlations of features and responses, (2 n, n)
  RowVectorXd weights_;                                 ///< a draw far out must not outweigh all others
  VectorXd lengths_, sizes_;
};

}  // namespace

std::vector<ScaledEffects> scaled_effects(const DrawsAndGradients& draws) {
  std::vector<ScaledEffects> out;
  if (draws.x.rows() < 2 || draws.x.cols() < 3 * draws.x.rows()) return out;
  const Regression regression(draws);
  for (const Index v : regression.likely())
    if (auto found = regression.of(v)) out.push_back(*std::move(found));
  return out;
}

}  // namespace kilochain
