#include "host/run/hierarchy.hpp"

#include "base/dense.hpp"

namespace kilochain {
namespace {

using Eigen::ArrayXd, Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

// Of a direction's precision, at the parent's median: 1 where the data say nothing; beyond, it is no such model.
constexpr double least_share = 0.01, most_share = 1.3;

}  // namespace

std::optional<Given> given(Index v, const DrawsAndGradients& d, const Whitened& w) {
  Given out{v, median(d.x.row(v)), {}, {}, {}, {}, {}, {}, {}};
  for (Index i = 0; i < d.x.rows(); ++i)
    if (i != v) out.others.push_back(i);
  auto L = cholesky(times_own_transpose(w.L)(out.others, out.others));
  if (!L || !(robust_sd(d.x.row(v)) > 0)) return {};
  out.L = *std::move(L), out.mean = w.mean(out.others);
  out.t = (d.x.row(v).array() - out.centre).transpose();
  out.z = solve_lower(out.L, d.x(out.others, Eigen::all).colwise() - out.mean);
  out.h = transposed_times(out.L, d.g(out.others, Eigen::all));
  out.weights = (out.h.colwise().squaredNorm().cwiseMax(out.z.colwise().squaredNorm()).transpose().array() /
                 static_cast<double>(out.L.rows()))
                    .max(1)
                    .inverse();
  return out;
}

std::optional<Hierarchy> fitted(const Given& at, double c) {
  const Index m = at.z.rows(), draws = at.z.cols();
  if (draws < 3 * (m + 1)) return {};
  const ArrayXd above = (-2 * c * at.t).min(30).exp();
  MatrixXd basis(2 * m + 3, draws);
  basis.topRows(m) = at.z * above.matrix().asDiagonal();
  basis.middleRows(m, m) = at.z;
  basis.row(2 * m) = above.matrix().transpose();
  basis.row(2 * m + 1) = above.sqrt().matrix().transpose();
  basis.row(2 * m + 2).setOnes();
  const MatrixXd weighted = basis * at.weights.matrix().asDiagonal();
  MatrixXd gram = times_transposed(weighted, basis);
  gram.diagonal() *= 1 + 1e-6;
  MatrixXd right(2 * m + 3, 2 * m);
  right << times_transposed(weighted, at.h), MatrixXd::Identity(2 * m + 3, m);
  const auto solved = solve_symmetric(gram, right);
  if (!solved) return {};
  const MatrixXd fit = solved->leftCols(m);  // (2 m + 3, m)
  Hierarchy out{-(fit.topRows(m) + fit.topRows(m).transpose()) / 2,
                -(fit.middleRows(m, m) + fit.middleRows(m, m).transpose()) / 2, fit.row(2 * m).transpose(),
                fit.row(2 * m + 1).transpose(), fit.row(2 * m + 2).transpose()};
  // The largest eigenvalue of a symmetric matrix of independent errors.
  const MatrixXd left = (at.h - transposed_times(fit, basis)) * at.weights.sqrt().matrix().asDiagonal();
  const double variance = solved->rightCols(m).diagonal().mean(),  // of a coefficient, times that of what is left
      error = left.squaredNorm() / static_cast<double>(m * (draws - 2 * m - 3)) * variance;
  out.noise = std::sqrt(2 * static_cast<double>(m) * error);
  return out;
}

std::optional<Hierarchy> with_priors(const Given& at, const ScaledEffects& scaled) {
  const Index m = at.z.rows(), draws = at.z.cols();
  VectorXd precision = VectorXd::Zero(m);
  for (std::size_t k = 0; k < scaled.effects.size(); ++k) {
    const Index i = scaled.effects[k];
    precision[i - (i > at.v)] = scaled.precisions[k];
  }
  const MatrixXd scaled_L = precision.asDiagonal() * at.L;
  Hierarchy out{transposed_times(at.L, scaled_L), {}, -transposed_times(scaled_L, at.mean), VectorXd::Zero(m), {}};
  const ArrayXd above = (-2 * scaled.rate * at.t).min(30).exp();
  const MatrixXd pulls = at.h + (times(out.P, at.z).colwise() - out.above) * above.matrix().asDiagonal();
  MatrixXd basis(m + 1, draws);
  basis.topRows(m) = at.z, basis.row(m).setOnes();
  const MatrixXd weighted = basis * at.weights.matrix().asDiagonal();
  MatrixXd gram = times_transposed(weighted, basis);
  gram.diagonal() *= 1 + 1e-6;
  const auto fit = solve_symmetric(gram, times_transposed(weighted, pulls));
  if (!fit) return {};
  // The likelihood's precision, without what noise makes negative of it.
  const auto eigen = symmetric_eigen(-(fit->topRows(m) + fit->topRows(m).transpose()) / 2);
  if (!eigen) return {};
  out.R = eigen->with_values(eigen->values.cwiseMax(0));
  out.data = fit->row(m).transpose();
  return out;
}

std::optional<Noncentring> step_of(const Given& at, double c, const Hierarchy& model) {
  const Index n = at.L.rows() + 1, m = n - 1;
  // B = P + R = C C^T; C^-1 P C^-T = U share U^T.
  const auto whole = symmetric_eigen(model.P + model.R);
  if (!whole) return {};
  const VectorXd roots = whole->values.cwiseMax(0.02).cwiseSqrt();
  const MatrixXd C = whole->with_values(roots), inverse = whole->with_values(roots.cwiseInverse());
  const auto eigen = symmetric_eigen(times(times(inverse, model.P), inverse));
  if (!eigen || !(eigen->values[m - 1] < most_share + model.noise)) return {};
  std::vector<Index> kept;
  for (Index k = 0; k < m; ++k)
    if (eigen->values[k] > std::max(least_share, model.noise)) kept.push_back(k);
  if (kept.empty()) return {};
  const auto count = static_cast<Index>(kept.size());
  const MatrixXd U = eigen->vectors(Eigen::all, kept), W = times(inverse, U), CU = times(C, U);
  const ArrayXd share = eigen->values(kept).array().min(1);
  Noncentring step{at.v, at.centre, MatrixXd::Zero(n, count), MatrixXd::Zero(n, count), {}, {}, {}, {}, {}};
  step.directions(at.others, Eigen::all) = times(at.L, W);
  const MatrixXd along = solve_lower_transposed(at.L, CU);
  step.along(at.others, Eigen::all) = along;
  const ArrayXd a = transposed_times(W, model.above).array(), b = transposed_times(W, model.data).array();
  step.rates = ArrayXd::Constant(count, c);
  step.data = (1 - share) / share;
  step.fixed = a / share;
  step.shifts = (share < 0.999).select(b / (1 - share).max(1e-3) - step.fixed, 0.0);
  step.between = transposed_times(W, model.between).array() / share;
  step.fixed += transposed_times(along, at.mean).array();
  return step;
}

}  // namespace kilochain
