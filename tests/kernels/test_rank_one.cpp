// Rank-one and full changes of a factor against naive loops over the dense matrix: on the CPU's path and on the one
// that a GPU runs, in both shapes and precisions, at sizes around register and panel widths; ten thousand of them
// without drift.
#include <gtest/gtest.h>

#include <type_traits>

#include "kernels/linalg/rank_one.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/packed_factor.hpp"
#include "tests/support/team_cases.hpp"
#include "tests/support/tolerance.hpp"

namespace kilochain::testing_support {
namespace {

template <class>
class RankOne : public ::testing::Test {};
TYPED_TEST_SUITE(RankOne, Cases);

template <class Real>
Row<Real> row_in(std::vector<Real>& v, Index n) {
  return {v.data(), std::size_t(n)};
}
template <class Packed>
double product(const Packed& L, Index i, Index j) {
  double s = 0;
  for (Index k = 0; k <= std::min(i, j); ++k) s += L.dense(i, k) * L.dense(j, k);
  return s;
}
/// The change is taken in naive loops, so entries of a diagonal factor are compared on the diagonal alone.
bool compared(FactorShape shape, Index i, Index j) { return shape == FactorShape::dense || i == j; }

TYPED_TEST(RankOne, IsTheNaiveChange) {
  using Real = typename TypeParam::Real;
  const typename TypeParam::Team team;
  for (const FactorShape shape : factor_shapes)
    for (const Index n : factor_sizes)
      for (const double sign : {1.0, -1.0}) {
        SCOPED_TRACE(n);
        PackedFactor<typename TypeParam::Team, Real> L(n, shape, 1);
        const auto before = L;
        auto w = padded_row<Real>(n, 2);
        std::vector<Real> own(w.size()), below(w.size());
        const auto w0 = w;
        double square = 0;
        for (const Real e : w) square += double(e) * double(e);
        const double c = sign * 0.5 / square, g = 0.75;  // away from a singular matrix: 1 + c |w|^2 is 1.5 or 0.5
        scale_rank_one(team, L.factor(), Real(c), Real(g), row_in(w, n), row_in(own, n), row_in(below, n), n);
        EXPECT_TRUE(L.rest_is_zero());
        std::vector<double> v(static_cast<std::size_t>(n)), back = v;
        for (Index i = 0; i < n; ++i)
          for (Index k = 0; k <= i; ++k) {
            v[std::size_t(i)] += before.dense(i, k) * double(w0[std::size_t(k)]);
            back[std::size_t(i)] += L.dense(i, k) * double(w[std::size_t(k)]);
          }
        for (Index i = 0; i < n; ++i) {
          for (Index j = 0; j <= i; ++j) {
            if (!compared(shape, i, j)) continue;
            const double change = c * v[std::size_t(i)] * v[std::size_t(j)];
            const double size = std::sqrt(product(before, i, i) * product(before, j, j)) + std::abs(change);
            EXPECT_TRUE(rounding<Real>(product(L, i, j), g * g * (product(before, i, j) + change), 4, n + 4, size))
                << i << ", " << j;
          }
          EXPECT_TRUE(rounding<Real>(back[std::size_t(i)], v[std::size_t(i)], 4, n + 4, 2 + std::sqrt(double(n))))
              << "coordinates of the same vector, row " << i;
        }
      }
}

TYPED_TEST(RankOne, SaysItsDeterminant) {
  using Real = typename TypeParam::Real;
  const typename TypeParam::Team team;
  for (const FactorShape shape : factor_shapes)
    for (const Index n : factor_sizes) {
      PackedFactor<typename TypeParam::Team, Real> L(n, shape, 1);
      double change = 0;
      for (Index i = 0; i < n; ++i) change -= std::log(L.dense(i, i));
      auto w = padded_row<Real>(n, 2);
      std::vector<Real> own(w.size()), below(w.size());
      const double said =
          scale_rank_one(team, L.factor(), Real(0.7), Real(1), row_in(w, n), row_in(own, n), row_in(below, n), n);
      for (Index i = 0; i < n; ++i) change += std::log(L.dense(i, i));
      EXPECT_TRUE(rounding<Real>(said, change, 4, n + 4, n)) << n;
    }
}

/// The closed form of the symmetric root, I + (sqrt(1 + c|w|^2) - 1) w w^T/|w|^2, gives the same covariance.
TYPED_TEST(RankOne, IsTheSymmetricRootToo) {
  using Real = typename TypeParam::Real;
  const typename TypeParam::Team team;
  for (const Index n : factor_sizes) {
    PackedFactor<typename TypeParam::Team, Real> L(n, FactorShape::dense, 1);
    const auto before = L;
    auto w = padded_row<Real>(n, 2);
    const auto w0 = w;
    std::vector<Real> own(w.size()), below(w.size());
    scale_rank_one(team, L.factor(), Real(0.25), Real(1), row_in(w, n), row_in(own, n), row_in(below, n), n);
    double square = 0;
    for (const Real e : w0) square += double(e) * double(e);
    const double rank_one = (std::sqrt(1 + 0.25 * square) - 1) / square;
    const auto root = [&](Index i, Index j) {  // entry of L times the root
      double s = before.dense(i, j), along = 0;
      for (Index k = 0; k <= i; ++k) along += before.dense(i, k) * double(w0[std::size_t(k)]);
      return s + rank_one * along * double(w0[std::size_t(j)]);
    };
    for (Index i = 0; i < std::min(n, 33); ++i)
      for (Index j = 0; j <= i; ++j) {
        double s = 0;
        for (Index k = 0; k < n; ++k) s += root(i, k) * root(j, k);
        EXPECT_TRUE(rounding<Real>(product(L, i, j), s, 4, n + 4, 4 + 0.25 * square)) << n << ": " << i << ", " << j;
      }
  }
}

TYPED_TEST(RankOne, FullChange) {
  using Real = typename TypeParam::Real;
  const typename TypeParam::Team team;
  for (const FactorShape shape : factor_shapes)
    for (const Index n : factor_sizes) {
      if (n > 65) continue;
      SCOPED_TRACE(n);
      PackedFactor<typename TypeParam::Team, Real> L(n, shape, 1), K(n, shape, 5), B(n, shape, 5);
      const auto before = L, root = K;
      double log_det = 0;
      for (Index i = 0; i < n; ++i) {
        log_det += std::log(root.dense(i, i));
        for (Index j = 0; j <= i; ++j)
          if (compared(shape, i, j)) B.at(i, j) = static_cast<Real>(product(root, i, j));
      }
      EXPECT_TRUE(rounding<Real>(decompose(team, B.factor(), n), log_det, 8, n + 4, n));
      scale_by(team, L.factor(), B.factor(), Real(0.5), n);
      EXPECT_TRUE(L.rest_is_zero());
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j <= i; ++j) {
          double s = 0;
          for (Index k = j; k <= i; ++k) s += before.dense(i, k) * root.dense(k, j);
          EXPECT_TRUE(rounding<Real>(L.dense(i, j), 0.5 * s, 16, n + 4, 4)) << i << ", " << j;
        }
    }
}

TYPED_TEST(RankOne, OuterProductsAndFloors) {
  using Real = typename TypeParam::Real;
  constexpr int P = TypeParam::Team::template panel<Real>;
  const typename TypeParam::Team team;
  for (const FactorShape shape : factor_shapes)
    for (const Index n : factor_sizes) {
      PackedFactor<typename TypeParam::Team, Real> A(n, shape, 1);
      const auto before = A;
      auto v = padded_row<Real>(n, 2);
      add_outer(team, A.factor(), Real(0.5), row_in(v, n), n);
      EXPECT_TRUE(A.rest_is_zero());
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j <= i; ++j)
          if (compared(shape, i, j)) {
            EXPECT_TRUE(rounding<Real>(A.dense(i, j),
                                       before.dense(i, j) + 0.5 * double(v[std::size_t(i)]) * double(v[std::size_t(j)]),
                                       2, 1, 4));
          }
      if (shape == FactorShape::dense && n > 1) {
        EXPECT_TRUE(rounding<Real>(product_entry<P>(A.factor(), n - 1, 1), product(A, n - 1, 1), 2, n + 1, 8));
      }
      floor_diagonal(team, A.factor(), Real(1.4), n);
      for (Index i = 0; i < n; ++i) EXPECT_GE(A.dense(i, i), double(Real(1.4)));
    }
}

/// Ten thousand changes, one in seven a taking away, in double: within 1e-9 of the covariance carried along naively.
TEST(RankOneDrift, TenThousandUpdates) {
  const HostTeam team;
  for (const Index n : {1, 2, 8, 33}) {
    PackedFactor<HostTeam, double> L(n, FactorShape::dense, 1);
    std::vector<double> C(static_cast<std::size_t>(n * n));
    const auto at = [n](Index i, Index j) { return static_cast<std::size_t>(i * n + j); };
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) C[at(i, j)] = product(L, i, j);
    std::vector<double> w(padded(std::size_t(n))), own(w.size()), below(w.size()), v(static_cast<std::size_t>(n));
    for (std::int64_t t = 0; t < 10000; ++t) {
      normals(team, Rng{3, 0, t}, Purpose::proposal, row_in(w, n), n);
      for (Index i = 0; i < n; ++i) v[std::size_t(i)] = w[std::size_t(i)] * (1 + i);  // a law of its own, not L's
      w.assign(w.size(), 0.0);
      std::copy(v.begin(), v.end(), w.begin());
      solve_lower(team, L.factor(), row_in(w, n), n);
      double square = 0;
      for (const double e : w) square += e * e;
      const bool away = t % 7 == 6;
      const double rate = 0.02, c = away ? -0.3 / square : rate / (1 - rate), g = away ? 1 : std::sqrt(1 - rate);
      scale_rank_one(team, L.factor(), c, g, row_in(w, n), row_in(own, n), row_in(below, n), n);
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) C[at(i, j)] = g * g * (C[at(i, j)] + c * v[std::size_t(i)] * v[std::size_t(j)]);
    }
    double off = 0, size = 0;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) {
        off += std::pow(C[at(i, j)] - product(L, std::max(i, j), std::min(i, j)), 2);
        size += C[at(i, j)] * C[at(i, j)];
      }
    std::printf("n = %d: drift %.1e\n", n, std::sqrt(off / size));
    EXPECT_LT(std::sqrt(off / size), 1e-9);
  }
}

}  // namespace
}  // namespace kilochain::testing_support
