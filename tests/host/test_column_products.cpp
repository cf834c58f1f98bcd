// Products of a matrix with several columns: what they are, and that a column's bits do not depend on the others.
#include <gtest/gtest.h>

#include <cstdlib>

#include "host/learn/column_products.hpp"

namespace kilochain {
namespace {

using Eigen::MatrixXd;

TEST(ColumnProducts, AreProductsAndOneColumnHasTheBitsOfMany) {
  std::srand(1);  // of Eigen's Random
  constexpr double eps = 2.22e-16;
  for (const int m : {1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 65, 257})
    for (const int k : {1, 2, 5, 33, 64, 65, 130})
      for (const int columns : {0, 1, 3, 4, 5, 8, 9, 12, 13, 17}) {
        const MatrixXd a = MatrixXd::Random(m, k), b = MatrixXd::Random(k, columns), y = MatrixXd::Random(m, columns);
        MatrixXd sum = y, across(k, columns);
        add_product(a, b, sum);
        transposed_product(a, y, across);
        const auto what = ::testing::Message() << m << " x " << k << ", " << columns << " columns";
        if (columns == 0) continue;
        // Each of |a|, |b| and |y| is at most 1: rounding of k + 1 and m terms.
        EXPECT_LE((sum - (y + a * b)).cwiseAbs().maxCoeff(), 2 * (k + 1) * eps * (k + 1)) << what;
        EXPECT_LE((across - a.transpose() * y).cwiseAbs().maxCoeff(), 2 * m * eps * m) << what;
        for (int c = 0; c < columns; ++c) {
          MatrixXd one = y.col(c), alone(k, 1);
          add_product(a, b.col(c), one);
          transposed_product(a, y.col(c), alone);
          ASSERT_EQ(one, sum.col(c)) << what;
          ASSERT_EQ(alone, across.col(c)) << what;
        }
      }
}

/// Columns of a wider matrix are read and written where they lie.
TEST(ColumnProducts, TakeColumnsThatLieApart) {
  std::srand(2);
  const MatrixXd a = MatrixXd::Random(9, 5), b = MatrixXd::Random(11, 6);
  MatrixXd y = MatrixXd::Zero(14, 6), expected = y;
  add_product(a, b.middleRows(3, 5), y.middleRows(2, 9));
  expected.middleRows(2, 9) = a * b.middleRows(3, 5);
  EXPECT_LE((y - expected).cwiseAbs().maxCoeff(), 1e-15 * 25);
}

}  // namespace
}  // namespace kilochain
