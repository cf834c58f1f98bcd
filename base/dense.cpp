#include "base/dense.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>

namespace kilochain {

using Eigen::MatrixXd;

MatrixXd times(DenseView A, DenseView B) { return A * B; }
MatrixXd transposed_times(DenseView A, DenseView B) { return A.transpose() * B; }
MatrixXd times_transposed(DenseView A, DenseView B) { return A * B.transpose(); }
MatrixXd times_own_transpose(DenseView A) {
  MatrixXd lower = MatrixXd::Zero(A.rows(), A.rows());
  lower.selfadjointView<Eigen::Lower>().rankUpdate(A);
  return lower.selfadjointView<Eigen::Lower>();
}

std::optional<MatrixXd> cholesky(DenseView A) {
  const Eigen::LLT<MatrixXd> llt(A);
  if (llt.info() != Eigen::Success) return {};
  return llt.matrixL();
}
MatrixXd solve_lower(DenseView L, MatrixXd B) {
  L.triangularView<Eigen::Lower>().solveInPlace(B);
  return B;
}
MatrixXd solve_lower_transposed(DenseView L, MatrixXd B) {
  L.triangularView<Eigen::Lower>().transpose().solveInPlace(B);
  return B;
}
std::optional<MatrixXd> solve_symmetric(DenseView A, DenseView B) {
  const Eigen::LDLT<MatrixXd> ldlt(A);
  if (ldlt.info() != Eigen::Success) return {};
  MatrixXd solution = ldlt.solve(B);
  if (!solution.allFinite()) return {};
  return solution;
}

MatrixXd orthonormal(DenseView A) {
  return Eigen::HouseholderQR<MatrixXd>(A).householderQ() * MatrixXd::Identity(A.rows(), A.cols());
}

MatrixXd SymmetricEigen::with_values(const Eigen::VectorXd& others) const {
  const MatrixXd scaled = vectors * others.asDiagonal();
  return scaled * vectors.transpose();
}
std::optional<SymmetricEigen> symmetric_eigen(DenseView A) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(A);
  if (solver.info() != Eigen::Success) return {};
  return SymmetricEigen{solver.eigenvalues(), solver.eigenvectors()};
}

}  // namespace kilochain
