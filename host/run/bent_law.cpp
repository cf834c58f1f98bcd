#include "host/run/bent_law.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "host/run/learnt_metric.hpp"

namespace kilochain {
namespace {

using Eigen::ArrayXd, Eigen::MatrixXd, Eigen::VectorXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double most_products = 2e9;  // of observations, coordinates and draws
constexpr Eigen::Index fewest_draws = 200, most_draws = 2000;
constexpr double far = 4;     // standard deviations of a logit
constexpr double kept = 0.5;  // of the slope of an observation that bends the normal

/// What is known of one observation.
struct Line {
  ArrayXd logit, residual, slope, leaves;  ///< means over draws; the last: how far it leaves its parabola
};

/// log sigma(u).
double log_sigma(double u) { return std::min(u, 0.0) - std::log1p(std::exp(-std::abs(u))); }

Line lines_of(const Eigen::Map<const RowMajor>& X, const ArrayXd& sign, const MatrixXd& draws) {
  constexpr Eigen::Index block = 512;  // observations: their logits stay in a cache
  const Eigen::Index rows = X.rows();
  Line out{ArrayXd(rows), ArrayXd(rows), ArrayXd(rows), ArrayXd(rows)};
  for (Eigen::Index first = 0; first < rows; first += block) {
    const Eigen::Index count = std::min(block, rows - first);
    const RowMajor logits = X.middleRows(first, count) * draws;
    for (Eigen::Index k = 0; k < count; ++k) {
      const double s = sign[first + k];
      const ArrayXd t = logits.row(k), r = s / (1 + (s * t).exp());
      const double mean = t.mean(), residual = r.mean(), variance = (t - mean).square().mean(),
                   p = 1 / (1 + std::exp(-mean));
      const double slope = variance > 1e-12 ? ((t - mean) * (r - residual)).mean() / variance : -p * (1 - p);
      const auto leaves = [&](double by) {
        return std::abs(log_sigma(s * (mean + by)) - log_sigma(s * mean) - residual * by - slope * by * by / 2);
      };
      const double away = far * std::sqrt(variance);
      out.logit[first + k] = mean, out.residual[first + k] = residual, out.slope[first + k] = std::min(slope, 0.0);
      out.leaves[first + k] = std::max(leaves(away), leaves(-away));
    }
  }
  return out;
}

/// Some of the finite draws, (n, draw).
template <class Real>
MatrixXd some_of(const std::vector<Real>& draws, Eigen::Index n, Eigen::Index most) {
  const Eigen::Index all = std::ssize(draws) / n, every = (all + most - 1) / most;
  MatrixXd out(n, (all + every - 1) / every);
  Eigen::Index count = 0;
  for (Eigen::Index k = 0; k < all; k += every) {
    for (Eigen::Index i = 0; i < n; ++i)
      out(i, count) = static_cast<double>(draws[static_cast<std::size_t>(k * n + i)]);
    if (out.col(count).allFinite()) ++count;
  }
  return out.leftCols(count);
}

}  // namespace

template <class Real>
std::optional<BentLaw> bent_law(const Design& design, double prior_sd, const std::vector<Real>& draws, Index room) {
  const auto n = static_cast<Eigen::Index>(design.columns), rows = static_cast<Eigen::Index>(design.rows);
  if (n > most_dense) return {};
  const double affordable = most_products / (static_cast<double>(rows) * static_cast<double>(n));
  const auto most = static_cast<Eigen::Index>(std::min<double>(affordable, most_draws));
  if (most < std::max(fewest_draws, n)) return {};
  const MatrixXd x = some_of(draws, n, most);
  if (x.cols() < std::max(fewest_draws, n)) return {};
  const Eigen::Map<const RowMajor> X(design.x.data(), rows, n);
  const ArrayXd sign = 2 * Eigen::Map<const ArrayXd>(design.y.data(), rows) - 1;
  const Line line = lines_of(X, sign, x);

  std::vector<Eigen::Index> bend(static_cast<std::size_t>(rows));
  std::iota(bend.begin(), bend.end(), 0);
  const auto count = std::min<Eigen::Index>(room, rows);
  std::nth_element(bend.begin(), bend.begin() + count, bend.end(),
                   [&](auto a, auto b) { return line.leaves[a] > line.leaves[b]; });
  bend.resize(static_cast<std::size_t>(count));
  std::sort(bend.begin(), bend.end());
  ArrayXd slope = line.slope;
  for (const auto i : bend) slope[i] *= kept;

  const VectorXd middle = x.rowwise().mean();
  const RowMajor scaled = X.array().colwise() * (-slope).sqrt();
  MatrixXd H = MatrixXd::Identity(n, n) / (prior_sd * prior_sd);
  H.selfadjointView<Eigen::Lower>().rankUpdate(scaled.transpose());
  const Eigen::LLT<MatrixXd> precision(H.selfadjointView<Eigen::Lower>());
  if (precision.info() != Eigen::Success) return {};
  const VectorXd mean =
      middle + precision.solve(X.transpose() * line.residual.matrix() - middle / (prior_sd * prior_sd));
  const Eigen::LLT<MatrixXd> covariance(precision.solve(MatrixXd::Identity(n, n)));
  if (covariance.info() != Eigen::Success || !mean.allFinite()) return {};
  const MatrixXd F = covariance.matrixL();

  BentLaw out;
  out.factor.resize(static_cast<std::size_t>(n * n));
  Eigen::Map<RowMajor>(out.factor.data(), n, n) = F;
  out.mean.assign(mean.data(), mean.data() + n);
  out.bending.lines.resize(static_cast<std::size_t>(count * n));
  Eigen::Map<RowMajor> lines(out.bending.lines.data(), count, n);
  for (Eigen::Index k = 0; k < count; ++k) {
    const Eigen::Index i = bend[static_cast<std::size_t>(k)];
    lines.row(k) = X.row(i) * F;
    const double logit = X.row(i) * mean;
    out.bending.logit.push_back(logit), out.bending.sign.push_back(sign[i]), out.bending.slope.push_back(slope[i]);
    out.bending.offset.push_back(line.residual[i] + slope[i] * (logit - line.logit[i]));
  }
  return out;
}

template std::optional<BentLaw> bent_law(const Design&, double, const std::vector<float>&, Index);
template std::optional<BentLaw> bent_law(const Design&, double, const std::vector<double>&, Index);

}  // namespace kilochain
