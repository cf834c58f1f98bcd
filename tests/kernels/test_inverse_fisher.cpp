// The factor learnt from gradients (kernels/adapt/inverse_fisher.hpp) against the matrix that it stands for, in naive
// loops: tr(L L^T) = n sigma^2, and L L^T (damping I + sum s s^T) is a multiple of the identity. One chain and pooled,
// on the CPU's path and on the one that a GPU runs, in both precisions, at sizes around register and panel widths.
#include <gtest/gtest.h>

#include "kernels/adapt/inverse_fisher.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/packed_factor.hpp"
#include "tests/support/team_cases.hpp"

namespace kilochain::testing_support {
namespace {

template <class>
class InverseFisher : public ::testing::Test {};
TYPED_TEST_SUITE(InverseFisher, Cases);

constexpr double damping = 10, first_variance = 0.3;
constexpr int signals = 12;

/// Memory of an adaptation, and the matrix A^-1 in naive loops.
template <class Team, class Real>
struct Learner {
  static constexpr int P = Team::template panel<Real>;
  Index n;
  bool pooled;
  PackedFactor<Team, Real> L, precision, work;
  std::vector<Real> phi, own, below;
  std::vector<double> numbers = std::vector<double>(4), inverse;
  FisherAdaptation<Real> a;

  Learner(Index n_, bool pooled_)
      : n(n_),
        pooled(pooled_),
        L(n, FactorShape::dense, 1),
        precision(L),
        work(L),
        phi(padded_row<Real>(n, 1)),
        own(phi),
        below(phi),
        inverse(std::size_t(n) * std::size_t(n)) {
    for (auto* all : {&L.packed, &precision.packed, &work.packed}) std::fill(all->begin(), all->end(), Real(0));
    a.L = L.factor(), a.precision = precision.factor(), a.work = work.factor();
    a.phi = Row<Real>(phi.data(), phi.size()), a.own = Row<Real>(own.data(), own.size());
    a.below = Row<Real>(below.data(), below.size());
    a.variance = Scalar<double>(&numbers[0]), a.unit = Scalar<double>(&numbers[1]);
    a.count = Scalar<double>(&numbers[2]), a.next = Scalar<double>(&numbers[3]);
    start_fisher(Team{}, damping, first_variance, pooled, a, n);
    for (Index i = 0; i < n; ++i) at(i, i) = damping;
  }
  double& at(Index i, Index j) { return inverse[std::size_t(i * n + j)]; }
  /// Learns from s, counted `chains` times; each alone the signal is L^T s.
  void take(const std::vector<Real>& s, double chains, double variance) {
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) at(i, j) += chains * double(s[std::size_t(i)]) * double(s[std::size_t(j)]);
    if (pooled) {
      PackedFactor<Team, Real> mean(n, FactorShape::dense, 1);
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j <= i; ++j) mean.at(i, j) = s[std::size_t(i)] * s[std::size_t(j)];
      add_signals(Team{}, PooledSource<Real>{mean.packed.data(), nullptr, 0.5, chains}, variance, a, n);
    } else {
      std::vector<Real> whitened(s.size());
      for (Index j = 0; j < n; ++j)
        for (Index i = j; i < n; ++i) whitened[std::size_t(j)] += Real(L.dense(i, j)) * s[std::size_t(i)];
      Signal<Real> signal;
      signal.vector = Row<Real>(whitened.data(), whitened.size());
      add_signal(Team{}, ChainSource<Real>{signal}, variance, a, n);
    }
  }
  double product(Index i, Index j) const {
    double s = 0;
    for (Index k = 0; k <= std::min(i, j); ++k) s += L.dense(i, k) * L.dense(j, k);
    return s;
  }
};

TYPED_TEST(InverseFisher, IsTheInverseAtItsScale) {
  using Real = typename TypeParam::Real;
  for (const bool pooled : {false, true})
    for (const Index n : factor_sizes) {
      SCOPED_TRACE(testing::Message() << "n = " << n << (pooled ? ", pooled" : ""));
      Learner<typename TypeParam::Team, Real> learner(n, pooled);
      double variance = first_variance;
      for (int k = 0; k < signals; ++k) {
        variance *= 0.9;
        auto s = padded_row<Real>(n, std::uint32_t(10 + k));
        for (Real& e : s) e *= Real(5);
        learner.take(s, pooled ? 3 : 1, variance);
        if (pooled && k + 1 < signals) *learner.a.next = k + 2;  // L of every sum, which is the test's alone
      }
      EXPECT_TRUE(learner.L.rest_is_zero());
      EXPECT_DOUBLE_EQ(*learner.a.variance, variance);
      double trace = 0, scale = 0;
      for (Index i = 0; i < n; ++i) trace += learner.product(i, i);
      EXPECT_NEAR(trace, n * variance, (sizeof(Real) == 4 ? 1e-4 : 1e-11) * n * variance);
      for (Index k = 0; k < n; ++k) scale += learner.product(0, k) * learner.at(k, 0);
      const double most = n > 100 ? 3 : 1, bar = most * (sizeof(Real) == 4 ? 2e-3 : 1e-10);
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) {
          double entry = 0;
          for (Index k = 0; k < n; ++k) entry += learner.product(i, k) * learner.at(k, j);
          ASSERT_NEAR(entry / scale, i == j, bar) << i << ", " << j;
        }
    }
}

TYPED_TEST(InverseFisher, OneSignalNarrowsByABoundedFactor) {
  using Real = typename TypeParam::Real;
  const Index n = 5;
  Learner<typename TypeParam::Team, Real> learner(n, false);
  const std::vector<Real> nothing(32), far(32, Real(1e12));
  learner.take(nothing, 1, 0.2);
  EXPECT_NEAR(learner.product(2, 2), 0.2, 1e-6) << "no signal is the step's alone";
  learner.take(far, 1, 0.2);
  const double across = 2 * (learner.product(0, 0) - learner.product(0, 1));  // of x_0 - x_1
  double along = 0;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) along += learner.product(i, j) / n;
  EXPECT_NEAR(along / (across / 2), 1.0 / 1001, 1e-4);
}

}  // namespace
}  // namespace kilochain::testing_support
