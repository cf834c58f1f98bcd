#include "host/learn/learnt_metric.hpp"

#include <algorithm>
#include <cmath>

#include "base/dense.hpp"
#include "host/learn/median.hpp"

namespace kilochain {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;

constexpr double least_kept = 0.1;  // of off-diagonals: little is lost, and decompositions take their time

/// The symmetric matrix whose lower triangle is s, in the scale d, shrunk to its diagonal.
MatrixXd scaled(const MatrixXd& s, const VectorXd& d, double kept) {
  MatrixXd out = s.selfadjointView<Eigen::Lower>();
  out = d.asDiagonal() * out * d.asDiagonal();
  const VectorXd variance = out.diagonal().cwiseMax(1e-300);
  out *= kept;
  out.diagonal() = variance;
  return out;
}

/// By how much to widen each direction h of H, in whose scale x and g are diag(values): x = H diag(values) H^T. Width
/// and gradients of a Gaussian's draws have one cause, so that the ratio to their product tells w without its noise.
VectorXd widening(const MatrixXd& H, const VectorXd& values, const MatrixXd& g, const MatrixXd& across, double step) {
  const VectorXd product = transposed_times(g, H).cwiseProduct(times(across, H)).colwise().sum();
  VectorXd by = VectorXd::Ones(values.size());
  for (Eigen::Index i = 0; i < by.size(); ++i) {
    const double square = -values[i] * values[i] / product[i], width = std::sqrt(square);
    if (square > 1) by[i] = std::max(1.0, std::min(width, 1 / (step * width)));
  }
  return by;
}

/// A with A g A = x; of matrices that are not positive definite the diagonal of it.
MatrixXd geometric_mean(const MatrixXd& x, const MatrixXd& g, const MatrixXd& across, double step) {
  const auto L = cholesky(x);
  const auto eigen = L ? symmetric_eigen(transposed_times(*L, times(g, *L))) : std::nullopt;
  if (eigen && eigen->values[0] > 1e-14 * eigen->values[eigen->values.size() - 1]) {
    MatrixXd half = times(*L, eigen->vectors) * eigen->values.array().pow(-0.25).matrix().asDiagonal();
    if (step > 0) half *= widening(half, eigen->values.cwiseSqrt(), g, across, step).asDiagonal();
    return times_own_transpose(half);
  }
  return (x.diagonal().array() / g.diagonal().array()).sqrt().matrix().asDiagonal();
}

/// Whether all that correlations of A change are scales by less than a tenth: the sum of their squares bounds the
/// square of every eigenvalue's distance from 1. A product with a diagonal takes n, not n^2.
bool nearly_diagonal(const MatrixXd& A) {
  const VectorXd each = A.diagonal().cwiseSqrt().cwiseInverse();
  MatrixXd correlations = each.asDiagonal() * A * each.asDiagonal();
  correlations.diagonal().setZero();
  return correlations.squaredNorm() < 0.01;
}

/// Of each column, from its entry that lies farthest out, and from its length: 1 within `usual` standard deviations,
/// then as the inverse square. A whole draw counts less, so that of a Gaussian every draw still tells the same; what
/// lies far out tells nothing, where one chain in a narrow place would else rule a direction.
VectorXd weights_of(const MatrixXd& columns) {
  constexpr double usual = 5;
  VectorXd farthest = VectorXd::Zero(columns.cols()), square = farthest;
  for (Eigen::Index i = 0; i < columns.rows(); ++i) {
    const VectorXd row = columns.row(i);
    const double middle = median(row), sd = robust_sd(row, middle);
    const VectorXd away = (row.array() - middle).abs();
    if (sd > 0) farthest = farthest.cwiseMax(away / sd), square += (away / sd).cwiseAbs2();
  }
  const VectorXd length = square.array().max(1e-300).log();
  const double middle = median(length), sd = robust_sd(length, middle);
  const VectorXd beyond = (length.array() - (middle + usual * sd)).max(0).exp();  // of the squared length
  return ((usual / farthest.array().max(usual)).square() / beyond.array()).matrix();
}

/// Columns about their mean, each with its weight.
MatrixXd centred_columns(const MatrixXd& columns, const VectorXd& weights) {
  const VectorXd mean = times(columns, weights) / weights.sum();
  return (columns.colwise() - mean) * weights.asDiagonal();
}
/// Adds the products of centred columns: all, or those on the diagonal.
void add_products(MatrixXd& all, const MatrixXd& centred) {
  if (all.cols() == all.rows())
    all += times_own_transpose(centred);
  else
    all.col(0) += centred.rowwise().squaredNorm();
}

}  // namespace

MetricLearner::MetricLearner(Index n) : n_(n), x_(MatrixXd::Zero(n, n <= most_dense ? n : 1)), g_(x_), across_(x_) {}

template <class Real>
void MetricLearner::add(const Real* x, const Real* g, Index count) {
  MatrixXd rows(n_, count), slopes(n_, count);
  Eigen::Index kept = 0;
  for (Index k = 0; k < count; ++k) {
    for (Eigen::Index i = 0; i < n_; ++i) {
      rows(i, kept) = static_cast<double>(x[k * n_ + i]);
      slopes(i, kept) = static_cast<double>(g[k * n_ + i]);
    }
    if (rows.col(kept).allFinite() && slopes.col(kept).allFinite()) ++kept;
  }
  if (kept < 2) return;
  freedom_ += static_cast<Index>(kept - 1);
  const VectorXd weights = weights_of(slopes.leftCols(kept));
  const MatrixXd x_about = centred_columns(rows.leftCols(kept), weights),
                 g_about = centred_columns(slopes.leftCols(kept), weights);
  add_products(x_, x_about);
  add_products(g_, g_about);
  if (x_.cols() == n_) across_ += times_transposed(x_about, g_about);
}

std::vector<double> MetricLearner::factor(double step) const {
  const bool dense = x_.cols() == n_;
  const VectorXd xx = dense ? VectorXd(x_.diagonal()) : VectorXd(x_.col(0)),
                 gg = dense ? VectorXd(g_.diagonal()) : VectorXd(g_.col(0));
  VectorXd scale(n_);
  for (Eigen::Index i = 0; i < n_; ++i) {
    const double s = std::pow(xx[i] / gg[i], 0.25);
    scale[i] = s > 0 && std::isfinite(s) ? s : xx[i] > 0 ? std::sqrt(xx[i] / static_cast<double>(freedom_)) : 1;
  }
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  std::vector<double> out(static_cast<std::size_t>(n_ * n_));
  Eigen::Map<RowMajor> F(out.data(), n_, n_);
  F.setZero();
  F.diagonal() = scale;
  const double draws = static_cast<double>(freedom_) / static_cast<double>(n_), kept = 1 - std::exp(-3 * draws * draws);
  if (!dense || kept < least_kept) return out;
  const MatrixXd across = scale.cwiseInverse().asDiagonal() * across_ * scale.asDiagonal(),
                 mean = geometric_mean(scaled(x_, scale.cwiseInverse(), kept), scaled(g_, scale, kept), across,
                                       kept > 0.9 ? step : 0);
  if (nearly_diagonal(mean)) {
    F.diagonal() = scale.cwiseProduct(mean.diagonal().cwiseSqrt());
    return out;
  }
  if (const auto L = cholesky(mean)) F = scale.asDiagonal() * *L;
  return out;
}

template <class Real>
std::vector<double> agreement(const std::vector<Real>& x, const std::vector<Real>& g, const std::vector<double>& factor,
                              Index n) {
  using Rows = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Index all = std::ssize(x) / n;
  const Eigen::Map<const Rows> points(x.data(), all, n), slopes(g.data(), all, n);
  MatrixXd at(all, n), by(all, n);
  Eigen::Index kept = 0;
  for (Eigen::Index k = 0; k < all; ++k)
    if (points.row(k).allFinite() && slopes.row(k).allFinite()) {
      at.row(kept) = points.row(k).template cast<double>();
      by.row(kept++) = slopes.row(k).template cast<double>();
    }
  const Eigen::Map<const MatrixXd> Ft(factor.data(), n, n);  // rows of F are its columns
  const auto centred = [](MatrixXd m) { return MatrixXd(m.rowwise() - m.colwise().mean()); };
  const MatrixXd a = centred(at.topRows(kept)), slope = centred(by.topRows(kept)),
                 b = n <= most_dense ? MatrixXd(-times(times_transposed(slope, Ft), Ft))
                                     : MatrixXd(-slope * Ft.diagonal().cwiseAbs2().asDiagonal());
  std::vector<double> out;
  for (Eigen::Index i = 0; i < n; ++i) out.push_back(a.col(i).dot(b.col(i)) / (a.col(i).norm() * b.col(i).norm()));
  return out;
}

template <class Real>
std::vector<double> mean_of(const std::vector<Real>& x, const std::vector<Real>& g, const std::vector<double>& factor,
                            const std::vector<double>& agreement) {
  const Index n = std::ssize(agreement), all = std::ssize(x) / n;
  VectorXd mean = VectorXd::Zero(n), slope = mean;
  double kept = 0;
  for (Index k = 0; k < all; ++k) {
    const VectorXd at = Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, 1>>(&x[k * n], n).template cast<double>(),
                   by = Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, 1>>(&g[k * n], n).template cast<double>();
    if (at.allFinite() && by.allFinite()) mean += at, slope += by, ++kept;
  }
  const Eigen::Map<const MatrixXd> Ft(factor.data(), n, n);
  const VectorXd way = n <= most_dense ? VectorXd(transposed_times(Ft, times(Ft, slope)))
                                       : VectorXd(Ft.diagonal().cwiseAbs2().cwiseProduct(slope));
  std::vector<double> out;
  for (Index i = 0; i < n; ++i) out.push_back((mean[i] + std::max(0.0, agreement[i]) * way[i]) / kept);
  return out;
}

template void MetricLearner::add(const float*, const float*, Index);
template void MetricLearner::add(const double*, const double*, Index);
template std::vector<double> agreement(const std::vector<float>&, const std::vector<float>&, const std::vector<double>&,
                                       Index);
template std::vector<double> agreement(const std::vector<double>&, const std::vector<double>&,
                                       const std::vector<double>&, Index);
template std::vector<double> mean_of(const std::vector<float>&, const std::vector<float>&, const std::vector<double>&,
                                     const std::vector<double>&);
template std::vector<double> mean_of(const std::vector<double>&, const std::vector<double>&, const std::vector<double>&,
                                     const std::vector<double>&);

}  // namespace kilochain
