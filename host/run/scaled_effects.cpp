#include "host/run/scaled_effects.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace kilochain {
namespace {

using Eigen::ArrayXd, Eigen::Index, Eigen::MatrixXd, Eigen::RowVectorXd, Eigen::VectorXd;

constexpr double told = 0.999;      // of the variance of g_v, where the model is one; of such a model all is told
constexpr double near_rate = 0.25;  // of c: what noise leaves of a coefficient
constexpr double next_to_none = 1e-6, far_out = 30;
constexpr Index most_scales = 8, powers = 5;
constexpr double ridge = 1e-9;

/// Rows about their means and as long as 1; zero, where there is next to nothing.
VectorXd standardise(Eigen::Ref<MatrixXd> rows) {
  rows.colwise() -= VectorXd(rows.rowwise().mean());
  VectorXd lengths = rows.rowwise().norm();
  for (Index i = 0; i < rows.rows(); ++i) rows.row(i) *= lengths[i] > 0 ? 1 / lengths[i] : 0;
  return lengths;
}

/// What a smooth f'(v) can be made of: powers of v.
MatrixXd functions_of(const RowVectorXd& v) {
  const double middle = v.mean(), sd = std::sqrt((v.array() - middle).square().mean());
  const RowVectorXd t = ((v.array() - middle) / std::max(sd, 1e-300)).max(-4).min(4);
  MatrixXd out(powers, v.size());
  out.row(0) = t;
  for (Index k = 1; k < powers; ++k) out.row(k) = out.row(k - 1).cwiseProduct(t);
  return out;
}

struct Fit {
  VectorXd coefficients;
  double left = 1;  ///< of the variance
};
Fit fit(const MatrixXd& gram, const VectorXd& with, double square) {
  MatrixXd ridged = gram;
  ridged.diagonal().array() += ridge;
  const Eigen::LDLT<MatrixXd> ldlt(ridged);
  if (ldlt.info() != Eigen::Success || !(square > 0)) return {};
  Fit out{ldlt.solve(with), 1};
  out.left = (square - 2 * out.coefficients.dot(with) + out.coefficients.dot(gram * out.coefficients)) / square;
  return out;
}

/// Gradients, and what they are made of. Rows i of `features`: x_i (g_i + x_i), of a standard normal prior what data
/// pull; rows n + i: x_i^2. Both standardised.
class Regression {
 public:
  explicit Regression(const DrawsAndGradients& draws)
      : n_(draws.x.rows()), x_(draws.x), features_(2 * n_, draws.x.cols()), response_(draws.g) {
    features_.topRows(n_) = x_.cwiseProduct(draws.g + x_);
    features_.bottomRows(n_) = x_.cwiseAbs2();
    weights_ =
        (features_.array().colwise() / features_.array().abs().rowwise().mean().max(1e-300)).colwise().maxCoeff();
    weights_ = (weights_.array() / far_out).max(1).inverse();
    features_ *= weights_.asDiagonal(), response_ *= weights_.asDiagonal();
    pulls_ = features_.topRows(n_);
    lengths_ = standardise(features_);
    for (Index i = 0; i < n_; ++i)
      if (lengths_[i] < next_to_none * lengths_[n_ + i]) features_.row(i).setZero();
    sizes_ = standardise(response_);
    gram_ = MatrixXd::Zero(2 * n_, 2 * n_);
    gram_.selfadjointView<Eigen::Lower>().rankUpdate(features_);
    gram_ = MatrixXd(gram_.selfadjointView<Eigen::Lower>());
    with_ = features_ * response_.transpose();
  }

  /// The coordinates whose gradients are told best by the features of all others, but for their priors: by the inverse
  /// of the whole, without two rows.
  std::vector<Index> likely() const {
    MatrixXd ridged = gram_;
    ridged.diagonal().array() += ridge;
    const MatrixXd inverse = Eigen::LDLT<MatrixXd>(ridged).solve(MatrixXd::Identity(2 * n_, 2 * n_));
    VectorXd tells(n_);
    for (Index v = 0; v < n_; ++v) {
      VectorXd by = with_.col(v);
      by[v] = by[n_ + v] = 0;
      const VectorXd solved = inverse * by;
      const Eigen::Matrix2d own = inverse({v, n_ + v}, {v, n_ + v});
      const Eigen::Vector2d beside = solved({v, n_ + v});
      tells[v] = by.dot(solved) - beside.dot(own.llt().solve(beside));
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
    MatrixXd smooth(powers + 1, x_.cols());
    smooth << functions_of(x_.row(v)) * weights_.asDiagonal(), weights_;
    standardise(smooth);
    MatrixXd gram(size + powers + 1, size + powers + 1);
    gram.topLeftCorner(size, size) = gram_(rows, rows);
    gram.bottomLeftCorner(powers + 1, size) = smooth * features_(rows, Eigen::all).transpose();
    gram.topRightCorner(size, powers + 1) = gram.bottomLeftCorner(powers + 1, size).transpose();
    gram.bottomRightCorner(powers + 1, powers + 1) = smooth * smooth.transpose();
    VectorXd with(size + powers + 1);
    with << with_(rows, v), smooth * response_.row(v).transpose();
    const Fit whole = fit(gram, with, 1);
    const double freedom = 1 - static_cast<double>(with.size()) / static_cast<double>(x_.cols());
    if (!(whole.left < (1 - told) * freedom)) return {};
    for (const double rate : {1.0, 0.5, -1.0, -0.5}) {
      ScaledEffects found{v, rate, {}, {}};
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
    const Fit by = fit(basis * basis.transpose(), basis * rest.transpose(), rest.squaredNorm());
    if (!(by.left * rest.squaredNorm() < (1 - told) * sizes_[found.parent] * sizes_[found.parent])) return false;
    for (Index k = 0; k < few; ++k) {
      const double length = lengths_[n_ + found.effects[static_cast<std::size_t>(k)]];
      found.precisions.push_back(std::max(0.0, 1 + by.coefficients[k] / (length * found.rate)));
    }
    return true;
  }

  const Index n_;
  const MatrixXd& x_;
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
