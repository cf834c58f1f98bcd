// Dense linear algebra in double: products, factors and eigenvalues. Eigen's part of it is compiled once, in dense.cpp:
// a source that says A * B, or decomposes an expression, compiles it again, for ten seconds and more.
// Matrices are by columns; a map or a block of one is taken where it lies, any other expression is copied first.
// Cost: 2 m n k of a product, n^3 / 3 of a Cholesky factor, 9 n^3 of eigenvalues with vectors.
#pragma once
#include <Eigen/Core>
#include <optional>

namespace kilochain {

using DenseView = const Eigen::Ref<const Eigen::MatrixXd>&;

Eigen::MatrixXd times(DenseView A, DenseView B);             ///< A B
Eigen::MatrixXd transposed_times(DenseView A, DenseView B);  ///< A^T B
Eigen::MatrixXd times_transposed(DenseView A, DenseView B);  ///< A B^T
Eigen::MatrixXd times_own_transpose(DenseView A);            ///< A A^T, half of whose products are made

/// Lower L, L L^T = A, of which the lower triangle is read; none where A is not positive definite.
std::optional<Eigen::MatrixXd> cholesky(DenseView A);
Eigen::MatrixXd solve_lower(DenseView L, Eigen::MatrixXd B);             ///< L^-1 B
Eigen::MatrixXd solve_lower_transposed(DenseView L, Eigen::MatrixXd B);  ///< L^-T B
/// A^-1 B of a symmetric A, definite or not; none where the solution is not finite.
std::optional<Eigen::MatrixXd> solve_symmetric(DenseView A, DenseView B);

/// Orthonormal columns that span those of A, of which there are no more than rows.
Eigen::MatrixXd orthonormal(DenseView A);

/// A = vectors diag(values) vectors^T, values ascending.
struct SymmetricEigen {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;

  Eigen::MatrixXd with_values(const Eigen::VectorXd& others) const;  ///< vectors diag(others) vectors^T
};
/// None where the iteration does not end, as of values that are not finite.
std::optional<SymmetricEigen> symmetric_eigen(DenseView A);

}  // namespace kilochain
