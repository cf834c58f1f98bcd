#include "host/learn/scaled_effects.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/dense.hpp"
#include "host/learn/least_squares.hpp"

namespace kilochain {
namespace {

using Eigen::ArrayXd, Eigen::MatrixXd, Eigen::RowVectorXd, Eigen::VectorXd;

constexpr double told_by_scale = 0.999;  // of what smooth functions of v leave of g_v, where the model is one
constexpr double near_rate = 0.25;       // of c: what noise leaves of a coefficient
constexpr double next_to_none = 1e-6;
constexpr Eigen::Index most_scales = 8;
constexpr double of_a_normal_square = 0.4549;  // its median

/// Gradients, and what they are made of. Rows i of `features`: x_i (g_i + x_i), of a standard normal prior what data
/// pull; rows n + i: x_i^2. Both standardised.
class SmoothRegression {
 public:
  explicit SmoothRegression(const DrawsAndGradients& draws)
      : n_(draws.x.rows()), x_(draws.x), g_(draws.g), features_(2 * n_, draws.x.cols()), response_(draws.g) {
    features_.topRows(n_) = x_.cwiseProduct(draws.g + x_);
    features_.bottomRows(n_) = x_.cwiseAbs2();
    weights_ = weights_by_size(features_);
    features_ *= weights_.asDiagonal(), response_ *= weights_.asDiagonal();
    pulls_ = features_.topRows(n_);
    lengths_ = standardise(features_);
    for (Eigen::Index i = 0; i < n_; ++i)
      if (lengths_[i] < next_to_none * lengths_[n_ + i]) features_.row(i).setZero();
    standardise(response_);
    gram_ = times_own_transpose(features_);
    with_ = times_transposed(features_, response_);
  }

  /// The coordinates whose gradients are told best by the features of all others, but for their priors: by the inverse
  /// of the whole, without two rows.
  std::vector<Eigen::Index> likely() const {
    MatrixXd ridged = gram_;
    ridged.diagonal().array() += ridge;
    const auto inverse = solve_symmetric(ridged, MatrixXd::Identity(2 * n_, 2 * n_));
    if (!inverse) return {};
    MatrixXd by = with_;
    for (Eigen::Index v = 0; v < n_; ++v) by(v, v) = by(n_ + v, v) = 0;
    const MatrixXd solved = times(*inverse, by);
    VectorXd tells(n_);
    for (Eigen::Index v = 0; v < n_; ++v) {
      const auto own = cholesky((*inverse)({v, n_ + v}, {v, n_ + v}));
      const double beside = own ? solve_lower(*own, solved({v, n_ + v}, v)).squaredNorm() : 0;
      tells[v] = by.col(v).dot(solved.col(v)) - beside;
    }
    std::vector<Eigen::Index> order(static_cast<std::size_t>(n_));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, [&](Eigen::Index a, Eigen::Index b) { return tells[a] > tells[b]; });
    order.resize(static_cast<std::size_t>(std::min(n_, most_scales)));
    return order;
  }

  std::optional<ScaledEffects> of(Eigen::Index v) const {
    auto found = of(v, false);
    return found ? std::move(found) : of(v, true);
  }

 private:
  /// g_v, and smooth functions of v, over du/dv: so `features_` are the same.
  std::optional<ScaledEffects> of(Eigen::Index v, bool bounded) const {
    const ScaleLaw law{1, bounded};
    const RowVectorXd weights = weights_.array() / law.slope(ArrayXd(x_.row(v).transpose())).transpose();
    if (!weights.allFinite()) return {};
    const MatrixXd smooth = smooth_functions(x_.row(v), weights);
    RowVectorXd response = g_.row(v).cwiseProduct(weights);
    const double length = standardise(response)[0];
    const VectorXd of_features = times(features_, response.transpose());
    std::vector<Eigen::Index> rows;
    for (Eigen::Index i = 0; i < 2 * n_; ++i)
      if (i % n_ != v) rows.push_back(i);
    const auto size = std::ssize(rows);
    MatrixXd gram(size + powers + 1, size + powers + 1);
    gram.topLeftCorner(size, size) = gram_(rows, rows);
    gram.bottomLeftCorner(powers + 1, size) = times_transposed(smooth, features_(rows, Eigen::all));
    gram.topRightCorner(size, powers + 1) = gram.bottomLeftCorner(powers + 1, size).transpose();
    gram.bottomRightCorner(powers + 1, powers + 1) = times_own_transpose(smooth);
    VectorXd with(size + powers + 1);
    with << of_features(rows), times(smooth, response.transpose());
    const Fit whole = fit(gram, with, 1);
    const double freedom = 1 - static_cast<double>(with.size()) / static_cast<double>(x_.cols());
    const double bar =
        (1 - told_by_scale) * fit(gram.bottomRightCorner(powers + 1, powers + 1), with.tail(powers + 1), 1).left;
    if (!(whole.left < bar * freedom)) return {};
    for (const ScaleLaw& scale : scale_laws) {
      if (scale.bounded != bounded) continue;
      ScaledEffects found{v, scale, {}, {}, {}, {}, {}};
      for (Eigen::Index k = 0; k < n_ - 1; ++k) {
        const Eigen::Index i = rows[static_cast<std::size_t>(k)];
        const double slope = lengths_[i] > 0 ? whole.coefficients[k] * length / lengths_[i] : 0;
        if (std::abs(slope / scale.rate - 1) < near_rate) found.effects.push_back(i);
      }
      if (!found.effects.empty() && alone(found, smooth, length * response, bar)) return found;
    }
    return {};
  }

  /// Whether these effects alone, all of one rate, tell all but `bar` of `rest`; then their priors as well.
  bool alone(ScaledEffects& found, const MatrixXd& smooth, RowVectorXd rest, double bar) const {
    bar *= rest.squaredNorm();
    for (const Eigen::Index i : found.effects) rest -= found.scale.rate * pulls_.row(i);
    rest.array() -= rest.mean();
    const Eigen::Index few = std::ssize(found.effects);
    MatrixXd basis(few + smooth.rows(), rest.size());
    for (Eigen::Index k = 0; k < few; ++k)
      basis.row(k) = features_.row(n_ + found.effects[static_cast<std::size_t>(k)]);
    basis.bottomRows(smooth.rows()) = smooth;
    const Fit by = fit(times_own_transpose(basis), times_transposed(basis, rest), rest.squaredNorm());
    if (!(by.left * rest.squaredNorm() < bar)) return false;
    for (Eigen::Index k = 0; k < few; ++k) {
      const double length = lengths_[n_ + found.effects[static_cast<std::size_t>(k)]];
      found.precisions.push_back(std::max(0.0, 1 + by.coefficients[k] / (length * found.scale.rate)));
    }
    for (Eigen::Index k = 0; k < few; ++k) {
      const Eigen::Index i = found.effects[static_cast<std::size_t>(k)];
      const double prior = found.precisions[static_cast<std::size_t>(k)];
      const VectorXd of_data = g_.row(i) + prior * x_.row(i);  // the gradient without its prior's
      found.told.push_back(median(of_data.cwiseAbs2()) / of_a_normal_square / std::max(prior, 1e-300));
    }
    return true;
  }

  const Eigen::Index n_;
  const MatrixXd &x_, &g_;
  MatrixXd features_, response_, pulls_, gram_, with_;  ///< with_: correlations of features and responses, (2 n, n)
  RowVectorXd weights_;                                 ///< a draw far out must not outweigh all others
  VectorXd lengths_;
};

}  // namespace

std::vector<ScaledEffects> scaled_effects(const DrawsAndGradients& draws, int threads) {
  if (draws.x.rows() < 2 || draws.x.cols() < 3 * draws.x.rows()) return {};
  const SmoothRegression regression(draws);
  return found_by(regression, regression.likely(), threads);
}

}  // namespace kilochain
