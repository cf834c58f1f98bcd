#include "host/run/hierarchy.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

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
  const Eigen::LLT<MatrixXd> llt((w.L * w.L.transpose())(out.others, out.others));
  if (llt.info() != Eigen::Success || !(robust_sd(d.x.row(v)) > 0)) return {};
  out.L = llt.matrixL(), out.mean = w.mean(out.others);
  out.t = (d.x.row(v).array() - out.centre).transpose();
  out.z = out.L.triangularView<Eigen::Lower>().solve(MatrixXd(d.x(out.others, Eigen::all).colwise() - out.mean));
  out.h = out.L.transpose() * d.g(out.others, Eigen::all);
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
  MatrixXd gram = weighted * basis.transpose();
  gram.diagonal() *= 1 + 1e-6;
  const Eigen::LDLT<MatrixXd> ldlt(gram);
  if (ldlt.info() != Eigen::Success) return {};
  const MatrixXd fit = ldlt.solve(weighted * at.h.transpose());  // (2 m + 3, m)
  if (!fit.allFinite()) return {};
  Hierarchy out{-(fit.topRows(m) + fit.topRows(m).transpose()) / 2,
                -(fit.middleRows(m, m) + fit.middleRows(m, m).transpose()) / 2, fit.row(2 * m).transpose(),
                fit.row(2 * m + 1).transpose(), fit.row(2 * m + 2).transpose()};
  // The largest eigenvalue of a symmetric matrix of independent errors.
  const MatrixXd left = (at.h - fit.transpose() * basis) * at.weights.sqrt().matrix().asDiagonal();
  const MatrixXd covariance = ldlt.solve(MatrixXd::Identity(2 * m + 3, m));
  const double error =
      left.squaredNorm() / static_cast<double>(m * (draws - 2 * m - 3)) * covariance.topRows(m).diagonal().mean();
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
  Hierarchy out{at.L.transpose() * scaled_L, {}, -(scaled_L.transpose() * at.mean), VectorXd::Zero(m), {}};
  const ArrayXd above = (-2 * scaled.rate * at.t).min(30).exp();
  const MatrixXd pulls = at.h + ((out.P * at.z).colwise() - out.above) * above.matrix().asDiagonal();
  MatrixXd basis(m + 1, draws);
  basis.topRows(m) = at.z, basis.row(m).setOnes();
  const MatrixXd weighted = basis * at.weights.matrix().asDiagonal();
  MatrixXd gram = weighted * basis.transpose();
  gram.diagonal() *= 1 + 1e-6;
  const Eigen::LDLT<MatrixXd> ldlt(gram);
  if (ldlt.info() != Eigen::Success) return {};
  const MatrixXd fit = ldlt.solve(weighted * pulls.transpose());
  if (!fit.allFinite()) return {};
  // The likelihood's precision, without what noise makes negative of it.
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(-(fit.topRows(m) + fit.topRows(m).transpose()) / 2);
  out.R = eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).asDiagonal() * eigen.eigenvectors().transpose();
  out.data = fit.row(m).transpose();
  return out;
}

std::optional<Noncentring> step_of(const Given& at, double c, const Hierarchy& model) {
  const Index n = at.L.rows() + 1, m = n - 1;
  // B = P + R = C C^T; C^-1 P C^-T = U share U^T.
  Eigen::SelfAdjointEigenSolver<MatrixXd> whole(model.P + model.R);
  const VectorXd roots = whole.eigenvalues().cwiseMax(0.02).cwiseSqrt();
  const MatrixXd C = whole.eigenvectors() * roots.asDiagonal() * whole.eigenvectors().transpose(),
                 inverse = whole.eigenvectors() * roots.cwiseInverse().asDiagonal() * whole.eigenvectors().transpose();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(inverse * model.P * inverse);
  std::vector<Index> kept;
  if (!(eigen.eigenvalues()[m - 1] < most_share + model.noise)) return {};
  for (Index k = 0; k < m; ++k)
    if (eigen.eigenvalues()[k] > std::max(least_share, model.noise)) kept.push_back(k);
  if (kept.empty()) return {};
  const auto count = static_cast<Index>(kept.size());
  const MatrixXd U = eigen.eigenvectors()(Eigen::all, kept), W = inverse * U, D = U.transpose() * C;
  const ArrayXd share = eigen.eigenvalues()(kept).array().min(1);
  Noncentring step{at.v, at.centre, MatrixXd::Zero(n, count), MatrixXd::Zero(n, count), {}, {}, {}, {}, {}};
  step.directions(at.others, Eigen::all) = at.L * W;
  step.along(at.others, Eigen::all) = MatrixXd(at.L.transpose().triangularView<Eigen::Upper>().solve(D.transpose()));
  const ArrayXd a = (W.transpose() * model.above).array(), b = (W.transpose() * model.data).array();
  step.rates = ArrayXd::Constant(count, c);
  step.data = (1 - share) / share;
  step.fixed = a / share;
  step.shifts = (share < 0.999).select(b / (1 - share).max(1e-3) - step.fixed, 0.0);
  step.between = (W.transpose() * model.between).array() / share;
  step.fixed += (step.along(at.others, Eigen::all).transpose() * at.mean).array();
  return step;
}

}  // namespace kilochain
