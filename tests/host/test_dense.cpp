// Dense linear algebra by its definitions, entry by entry; tolerances are roundings, c n eps of entries near 1.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "base/dense.hpp"

namespace kilochain {
namespace {

using Eigen::MatrixXd;

MatrixXd normals(Eigen::Index rows, Eigen::Index columns, int seed) {
  std::mt19937 bits(static_cast<unsigned>(seed));
  std::normal_distribution<double> normal;
  return MatrixXd::NullaryExpr(rows, columns, [&] { return normal(bits); });
}
double rounding(Eigen::Index n) { return 100 * static_cast<double>(n) * std::numeric_limits<double>::epsilon(); }
double distance(const MatrixXd& a, const MatrixXd& b) { return (a - b).cwiseAbs().maxCoeff(); }

TEST(Dense, IsWhatItsDefinitionsSay) {
  for (const int n : {1, 2, 31, 33, 65}) {
    SCOPED_TRACE(n);
    const MatrixXd A = normals(n, n + 2, 1), B = normals(n + 2, 3, 2), I = MatrixXd::Identity(n, n);
    MatrixXd sum = MatrixXd::Zero(n, 3), square = MatrixXd::Zero(n, n);
    for (int k = 0; k < n + 2; ++k) {
      sum += A.col(k) * B.row(k);
      square += A.col(k) * A.col(k).transpose();
    }
    const double bar = rounding(n);
    EXPECT_LT(distance(times(A, B), sum), bar);
    EXPECT_LT(distance(transposed_times(A.transpose(), B), sum), bar);
    EXPECT_LT(distance(times_transposed(A, B.transpose()), sum), bar);
    EXPECT_LT(distance(times_own_transpose(A), square), bar);

    const MatrixXd S = I + square / n;
    const auto L = cholesky(S);
    ASSERT_TRUE(L);
    EXPECT_LT(distance(times_own_transpose(*L), S), bar);
    EXPECT_LT(distance(times(*L, solve_lower(*L, I)), I), bar);
    EXPECT_LT(distance(transposed_times(*L, solve_lower_transposed(*L, I)), I), bar);
    EXPECT_FALSE(cholesky(-S));

    const auto eigen = symmetric_eigen(S);
    ASSERT_TRUE(eigen);
    EXPECT_LT(distance(eigen->with_values(eigen->values), S), bar);
    EXPECT_TRUE(std::is_sorted(eigen->values.begin(), eigen->values.end()));
    const auto solved = solve_symmetric(-S, I);
    ASSERT_TRUE(solved);
    EXPECT_LT(distance(times(-S, *solved), I), bar);
    EXPECT_FALSE(solve_symmetric(S, I * NAN));

    const MatrixXd tall = normals(n + 2, n, 3), Q = orthonormal(tall);
    EXPECT_LT(distance(transposed_times(Q, Q), I), bar);
    EXPECT_LT(distance(times(Q, transposed_times(Q, tall)), tall), bar);
  }
}

}  // namespace
}  // namespace kilochain
