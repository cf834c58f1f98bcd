// Products of a matrix with several columns, which read the matrix once for several of them.
// Promise: a column's result has the same bits alone and among others, which Eigen's has not: so draws do not depend on
// which chains are evaluated together.
// Cost: 2 m k operations a column; a column alone takes the time that its matrix takes to read.
#pragma once
#include <Eigen/Core>

namespace kilochain {

/// y += a b, of a (m, k), b (k, columns) and y (m, columns).
void add_product(const Eigen::MatrixXd& a, const Eigen::Ref<const Eigen::MatrixXd>& b, Eigen::Ref<Eigen::MatrixXd> y);
/// y = a^T b, of a (m, k), b (m, columns) and y (k, columns).
void transposed_product(const Eigen::MatrixXd& a, const Eigen::Ref<const Eigen::MatrixXd>& b,
                        Eigen::Ref<Eigen::MatrixXd> y);

}  // namespace kilochain
