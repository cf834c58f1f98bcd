#include "host/learn/least_squares.hpp"

#include <cmath>

#include "base/dense.hpp"

namespace kilochain {

using Eigen::MatrixXd, Eigen::RowVectorXd, Eigen::VectorXd;

VectorXd standardise(Eigen::Ref<MatrixXd> rows) {
  rows.colwise() -= VectorXd(rows.rowwise().mean());
  VectorXd lengths = rows.rowwise().norm();
  for (Eigen::Index i = 0; i < rows.rows(); ++i) rows.row(i) *= lengths[i] > 0 ? 1 / lengths[i] : 0;
  return lengths;
}

MatrixXd smooth_functions(const RowVectorXd& v, const RowVectorXd& weights) {
  const double middle = v.mean(), sd = std::sqrt((v.array() - middle).square().mean());
  const RowVectorXd t = ((v.array() - middle) / std::max(sd, 1e-300)).max(-4).min(4);
  MatrixXd out(powers + 1, v.size());
  out.row(0) = t.cwiseProduct(weights);
  for (Eigen::Index k = 1; k < powers; ++k) out.row(k) = out.row(k - 1).cwiseProduct(t);
  out.row(powers) = weights;
  standardise(out);
  return out;
}

RowVectorXd weights_by_size(const MatrixXd& rows) {
  constexpr double far_out = 30;
  const VectorXd usual = rows.cwiseAbs().rowwise().mean().cwiseMax(1e-300);
  const RowVectorXd largest = (usual.cwiseInverse().asDiagonal() * rows).cwiseAbs().colwise().maxCoeff();
  return (largest.array() / far_out).max(1).inverse();
}

Fit fit(const MatrixXd& gram, const VectorXd& with, double square) {
  MatrixXd ridged = gram;
  ridged.diagonal().array() += ridge;
  const auto solved = solve_symmetric(ridged, with);
  if (!solved || !(square > 0)) return {};
  Fit out{*solved, 1};
  const VectorXd explained = times(gram, *solved);
  out.left = (square - 2 * out.coefficients.dot(with) + out.coefficients.dot(explained)) / square;
  return out;
}

}  // namespace kilochain
