// Products, solves and decompositions of packed factors against naive loops over the dense matrix, on the CPU's path
// and on the one that a GPU runs, in both shapes and precisions, at sizes around register and panel widths.
#include <gtest/gtest.h>

#include <type_traits>

#include "tests/support/cases.hpp"
#include "tests/support/packed_factor.hpp"
#include "tests/support/team_cases.hpp"
#include "tests/support/tolerance.hpp"

namespace kilochain::testing_support {
namespace {

template <class>
class Triangular : public ::testing::Test {};
TYPED_TEST_SUITE(Triangular, Cases);

/// Padding of a row is zero.
template <class Real>
bool padding_is_zero(const std::vector<Real>& v, Index n) {
  for (std::size_t i = static_cast<std::size_t>(n); i < v.size(); ++i)
    if (v[i] != Real(0)) return false;
  return true;
}

TYPED_TEST(Triangular, StorageHoldsEachEntryOnce) {
  using Real = typename TypeParam::Real;
  constexpr int P = TypeParam::Team::template panel<Real>;
  for (const Index n : factor_sizes) {
    std::vector<int> used(factor_size<P>(n, FactorShape::dense), 0);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j <= i; ++j) {
        ASSERT_LT(factor_index<P>(i, j), used.size());
        EXPECT_EQ(used[factor_index<P>(i, j)]++, 0) << n << ": " << i << ", " << j;
      }
  }
}

TYPED_TEST(Triangular, Products) {
  using Real = typename TypeParam::Real;
  const typename TypeParam::Team team;
  for (const FactorShape shape : factor_shapes)
    for (const Index n : factor_sizes) {
      SCOPED_TRACE(n);
      PackedFactor<typename TypeParam::Team, Real> L(n, shape, 1);
      auto v = padded_row<Real>(n, 2);
      std::vector<Real> y(v.size(), Real(0)), yt(v.size(), Real(0));
      multiply_lower(team, L.factor(), row_of(v), row_of(y), n);
      multiply_transposed(team, L.factor(), row_of(v), row_of(yt), n);
      for (Index i = 0; i < n; ++i) {
        double lower = 0, upper = 0, lower_size = 0, upper_size = 0;
        for (Index j = 0; j < n; ++j) {
          const double x = static_cast<double>(v[static_cast<std::size_t>(j)]);
          lower += L.dense(i, j) * x, lower_size += std::abs(L.dense(i, j) * x);
          upper += L.dense(j, i) * x, upper_size += std::abs(L.dense(j, i) * x);
        }
        EXPECT_TRUE(rounding<Real>(y[static_cast<std::size_t>(i)], lower, 0.5, n + 1, lower_size)) << "L v, row " << i;
        EXPECT_TRUE(rounding<Real>(yt[static_cast<std::size_t>(i)], upper, 0.5, n + 1, upper_size))
            << "L^T v, row " << i;
      }
      EXPECT_TRUE(padding_is_zero(y, n));
      EXPECT_TRUE(padding_is_zero(yt, n));
    }
}

TYPED_TEST(Triangular, SolveUndoesTheProduct) {
  using Real = typename TypeParam::Real;
  const typename TypeParam::Team team;
  for (const FactorShape shape : factor_shapes)
    for (const Index n : factor_sizes) {
      SCOPED_TRACE(n);
      PackedFactor<typename TypeParam::Team, Real> L(n, shape, 3);
      auto v = padded_row<Real>(n, 4);
      std::vector<Real> y = v;
      solve_lower(team, L.factor(), row_of(y), n);
      EXPECT_TRUE(padding_is_zero(y, n));
      // Backward error: L y = v up to n eps times what was added up.
      for (Index i = 0; i < n; ++i) {
        double sum = 0, size = 0;
        for (Index j = 0; j <= i; ++j) {
          const double term = L.dense(i, j) * static_cast<double>(y[static_cast<std::size_t>(j)]);
          sum += term, size += std::abs(term);
        }
        EXPECT_TRUE(rounding<Real>(sum, v[static_cast<std::size_t>(i)], 1, n + 1, size)) << "row " << i;
      }
    }
}

TYPED_TEST(Triangular, TransposedSolveUndoesTheProduct) {
  using Real = typename TypeParam::Real;
  const typename TypeParam::Team team;
  for (const FactorShape shape : factor_shapes)
    for (const Index n : factor_sizes) {
      SCOPED_TRACE(n);
      PackedFactor<typename TypeParam::Team, Real> L(n, shape, 3);
      auto v = padded_row<Real>(n, 4);
      std::vector<Real> w = v;
      solve_transposed(team, L.factor(), row_of(w), n);
      EXPECT_TRUE(padding_is_zero(w, n));
      for (Index i = 0; i < n; ++i) {
        double sum = 0, size = 0;
        for (Index j = i; j < n; ++j) {
          const double term = L.dense(j, i) * static_cast<double>(w[static_cast<std::size_t>(j)]);
          sum += term, size += std::abs(term);
        }
        EXPECT_TRUE(rounding<Real>(sum, v[static_cast<std::size_t>(i)], 1, n + 1, size)) << "column " << i;
      }
    }
}

TYPED_TEST(Triangular, CholeskyOfAProduct) {
  using Real = typename TypeParam::Real;
  constexpr int P = TypeParam::Team::template panel<Real>;
  const typename TypeParam::Team team;
  for (const Index n : factor_sizes) {
    SCOPED_TRACE(n);
    PackedFactor<typename TypeParam::Team, Real> L(n, FactorShape::dense, 5), A(n, FactorShape::dense, 6);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j <= i; ++j) {
        double s = 0;
        for (Index k = 0; k <= j; ++k) s += L.dense(i, k) * L.dense(j, k);
        A.at(i, j) = static_cast<Real>(s);
      }
    const auto before = A;
    auto v = padded_row<Real>(n, 7);
    const auto v0 = v;
    ASSERT_TRUE(cholesky(team, A.factor(), n, row_of(v)));
    EXPECT_TRUE(padding_is_zero(v, n));
    for (Index i = 0; i < n; ++i) {  // L v is what v was, up to n eps of what was added up
      double sum = 0, size = 0;
      for (Index j = 0; j <= i; ++j) {
        const double term = A.dense(i, j) * static_cast<double>(v[static_cast<std::size_t>(j)]);
        sum += term, size += std::abs(term);
      }
      EXPECT_TRUE(rounding<Real>(sum, v0[static_cast<std::size_t>(i)], 2, n + 1, size)) << "row " << i;
    }
    EXPECT_TRUE(A.rest_is_zero());
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j <= i; ++j) {
        double s = 0;
        for (Index k = 0; k <= j; ++k) s += A.dense(i, k) * A.dense(j, k);
        EXPECT_TRUE(rounding<Real>(s, before.dense(i, j), 1, n + 1, std::sqrt(before.dense(i, i) * before.dense(j, j))))
            << i << ", " << j;
      }
    auto bad = before;
    bad.packed[factor_index<P>(n / 2, n / 2)] = Real(-1);
    v = v0;
    EXPECT_FALSE(cholesky(team, bad.factor(), n, row_of(v)));
    EXPECT_TRUE(bad.rest_is_zero());
    EXPECT_TRUE(padding_is_zero(v, n));
  }
}

}  // namespace
}  // namespace kilochain::testing_support
