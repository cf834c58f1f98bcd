#include "host/learn/logistic_lines.hpp"

#include <algorithm>
#include <cmath>

#include "base/dense.hpp"

namespace kilochain {
namespace {

using Eigen::ArrayXd, Eigen::MatrixXd, Eigen::VectorXd;

constexpr double most_products = 2e9;  // of observations, coordinates and draws
constexpr Eigen::Index most = 2000;    // draws
constexpr Eigen::Index block = 512;    // observations: their logits stay in a cache
constexpr int parts = 8;               // of observations, for threads
constexpr double most_sds = 4;         // standard deviations of a logit

/// log sigma(u).
double log_sigma(double u) { return std::min(u, 0.0) - std::log1p(std::exp(-std::abs(u))); }

}  // namespace

LogisticRows::LogisticRows(const Design& design, double prior_sd)
    : x_(design.x.data(), static_cast<Eigen::Index>(design.rows), static_cast<Eigen::Index>(design.columns)),
      sign_(2 * Eigen::Map<const ArrayXd>(design.y.data(), x_.rows()) - 1),
      prior_sd_(prior_sd) {}

Eigen::Index LogisticRows::most_draws() const {
  const double affordable = most_products / (static_cast<double>(rows()) * static_cast<double>(dim()));
  return static_cast<Eigen::Index>(std::min<double>(affordable, most));
}

LogisticLines LogisticRows::lines(const MatrixXd& draws) const {
  LogisticLines out{ArrayXd(rows()), ArrayXd(rows()), ArrayXd(rows()), ArrayXd(rows()), ArrayXd(rows())};
  const Eigen::Map<const MatrixXd> columns(x_.data(), dim(), rows());  // an observation each
#pragma omp parallel for schedule(static)
  for (Eigen::Index first = 0; first < rows(); first += block) {
    const Eigen::Index count = std::min(block, rows() - first);
    const MatrixXd logits = transposed_times(draws, columns.middleCols(first, count));
    for (Eigen::Index k = 0; k < count; ++k) {
      const double s = sign_[first + k];
      const ArrayXd t = logits.col(k), r = s / (1 + (s * t).exp());
      const double mean = t.mean(), residual = r.mean(), variance = (t - mean).square().mean(),
                   p = 1 / (1 + std::exp(-mean));
      const double slope = variance > 1e-12 ? ((t - mean) * (r - residual)).mean() / variance : -p * (1 - p);
      const auto leaves = [&](double by) {
        return std::abs(log_sigma(s * (mean + by)) - log_sigma(s * mean) - residual * by - slope * by * by / 2);
      };
      // log sigma(u) = u + log(1 - sigma(u)), u = s t
      out.log_likelihood[first + k] = s * mean + (s * r).max(1e-300).log().mean();
      const double away = most_sds * std::sqrt(variance);
      out.logit[first + k] = mean, out.residual[first + k] = residual, out.slope[first + k] = std::min(slope, 0.0);
      out.leaves[first + k] = std::max(leaves(away), leaves(-away));
    }
  }
  return out;
}

std::optional<LogisticRows::Normal> LogisticRows::normal(const LogisticLines& lines, const ArrayXd& slope,
                                                         const VectorXd& middle) const {
  const Eigen::Index n = dim();
  const double prior = 1 / (prior_sd_ * prior_sd_);
  const Eigen::Map<const MatrixXd> columns(x_.data(), n, rows());
  std::vector<MatrixXd> sums(parts, MatrixXd::Zero(n, n));  // whatever the number of threads
  const Eigen::Index each = (rows() + parts - 1) / parts;
#pragma omp parallel for schedule(static)
  for (int k = 0; k < parts; ++k) {
    const Eigen::Index end = std::min(rows(), (k + 1) * each);
    for (Eigen::Index first = k * each; first < end; first += block) {
      const Eigen::Index count = std::min(block, end - first);
      const VectorXd root = (-slope.segment(first, count)).sqrt();
      sums[static_cast<std::size_t>(k)] += times_own_transpose(columns.middleCols(first, count) * root.asDiagonal());
    }
  }
  MatrixXd H = MatrixXd::Zero(n, n);
  for (const MatrixXd& part : sums) H += part;
  H.diagonal().array() += prior;
  const auto precision = cholesky(H);
  if (!precision) return {};
  const VectorXd slope_there = times(columns, lines.residual.matrix()) - prior * middle;
  const MatrixXd inverse = solve_lower(*precision, MatrixXd::Identity(n, n));  // covariance = inverse^T inverse
  const auto factor = cholesky(times_own_transpose(inverse.transpose()));
  const VectorXd mean = middle + transposed_times(inverse, times(inverse, slope_there));
  if (!factor || !mean.allFinite()) return {};
  return Normal{*factor, mean};
}

}  // namespace kilochain
