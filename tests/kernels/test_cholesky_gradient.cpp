// Three steps of the factor against a naive dense reference: every optimiser, both shapes, one to three outer products,
// one chain's source and a pooled matrix; the floor of the diagonal; beta's closed form.
#include <gtest/gtest.h>

#include "kernels/adapt/cholesky_covariance.hpp"
#include "kernels/adapt/cholesky_gradient.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/packed_factor.hpp"
#include "tests/support/team_cases.hpp"
#include "tests/support/tolerance.hpp"

namespace kilochain::testing_support {
namespace {

template <class>
class CholeskyGradient : public ::testing::Test {};
TYPED_TEST_SUITE(CholeskyGradient, Cases);

/// The factor's memory, and the same matrices in plain double.
template <class Team, class Real>
struct Fixture {
  Index n;
  FactorSettings settings;
  PackedFactor<Team, Real> L, second, first;
  double beta = 1;
  FactorAdaptation<Real> a;
  std::vector<double> dense, dense_second, dense_first;
  std::vector<std::vector<Real>> rows;

  Fixture(Index n_, FactorShape shape, Optimizer optimizer)
      : n(n_), settings(0.05, 0.3), L(n_, shape, 1), second(n_, shape, 2), first(n_, shape, 3) {
    settings.optimizer = optimizer;
    settings.factor = shape;
    settings.diagonal_floor = 1.2;  // some diagonal entries of L start below it
    std::fill(second.packed.begin(), second.packed.end(), Real(0));
    std::fill(first.packed.begin(), first.packed.end(), Real(0));
    a = {L.factor(), second.factor(), first.factor(), {&beta}};
    const std::size_t size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    dense.resize(size), dense_second.resize(size), dense_first.resize(size);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) dense[at(i, j)] = L.dense(i, j);
  }
  std::size_t at(Index i, Index j) const {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(n) + static_cast<std::size_t>(j);
  }
  Signal<Real> signal(int rank, int step, double acceptance) {
    Signal<Real> s;
    s.rank = rank;
    s.acceptance = acceptance;
    rows.clear();
    for (int k = 0; k < 2 * rank; ++k)
      rows.push_back(padded_row<Real>(n, static_cast<std::uint32_t>(100 + 10 * step + k)));
    for (int k = 0; k < rank; ++k)
      s.a[k] = row_of(rows[static_cast<std::size_t>(2 * k)]),
      s.b[k] = row_of(rows[static_cast<std::size_t>(2 * k + 1)]);
    return s;
  }
  /// The reference, straight from the formulas of kernels/adapt/cholesky_gradient.hpp.
  void reference(const Signal<Real>& s, double old_beta, int t, int num_warmup) {
    if (settings.optimizer == Optimizer::natural && settings.factor == FactorShape::dense)
      return natural_reference(s, old_beta, t);
    const bool relative = settings.optimizer == Optimizer::relative || settings.optimizer == Optimizer::natural;
    const std::vector<double> before = dense;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j <= i; ++j) {
        if (settings.factor == FactorShape::diagonal && i != j) continue;
        double grad = i == j ? old_beta / dense[at(i, i)] : 0.0;
        for (int k = 0; k < s.rank; ++k) grad += static_cast<double>(s.a[k][i]) * static_cast<double>(s.b[k][j]);
        double &entry = dense[at(i, j)], &g2 = dense_second[at(i, j)], &g1 = dense_first[at(i, j)];
        if (relative) {
          const double kappa = t == 0 ? 1.0 : 0.1, scale = before[at(i, i)];
          g2 = kappa * scale * scale * grad * grad + (1 - kappa) * g2;
          entry += relative_rate() * scale * scale * grad / (1 + std::sqrt(g2));
        } else if (settings.optimizer == Optimizer::rmsprop) {
          const double kappa = t == 0 ? 1.0 : 0.1;
          g2 = kappa * grad * grad + (1 - kappa) * g2;
          entry += 0.05 * grad / (1 + std::sqrt(g2));
        } else if (settings.optimizer == Optimizer::adam) {
          g1 = 0.9 * g1 + 0.1 * grad;
          g2 = 0.999 * g2 + 0.001 * grad * grad;
          entry += 0.05 * (g1 / (1 - std::pow(0.9, t + 1))) / (std::sqrt(g2 / (1 - std::pow(0.999, t + 1))) + 1e-8);
        } else {
          entry += 0.05 / (1 + t / (num_warmup / 4.0)) * grad;
        }
        if (i == j && !relative) entry = std::max(entry, 1.2);
      }
  }
  /// One chain bears a tenth of a step divided by n in the natural rule.
  double relative_rate() const { return settings.optimizer == Optimizer::natural ? std::min(0.05, 0.1 / n) : 0.05; }
  /// L <- L (I + B), B = eta A / (1 + sqrt G), A the signal (whitened by the sampler) plus beta I.
  void natural_reference(const Signal<Real>& s, double old_beta, int t) {
    std::vector<double> B(dense.size(), 0.0), next(dense.size(), 0.0);
    const double kappa = t == 0 ? 1.0 : 0.1;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j <= i; ++j) {
        double A = i == j ? old_beta : 0.0;
        for (int k = 0; k < s.rank; ++k) A += static_cast<double>(s.a[k][i]) * static_cast<double>(s.b[k][j]);
        double& g2 = dense_second[at(i, j)];
        g2 = kappa * A * A + (1 - kappa) * g2;
        B[at(i, j)] = relative_rate() * A / (1 + std::sqrt(g2));
      }
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j <= i; ++j) {
        next[at(i, j)] = dense[at(i, j)];
        for (Index k = j; k <= i; ++k) next[at(i, j)] += dense[at(i, k)] * B[at(k, j)];
      }
    dense = next;
  }
};

TYPED_TEST(CholeskyGradient, StepsMatchTheFormulas) {
  using Real = typename TypeParam::Real;
  using Team = typename TypeParam::Team;
  for (const Optimizer optimizer :
       {Optimizer::rmsprop, Optimizer::robbins_monro, Optimizer::adam, Optimizer::relative, Optimizer::natural})
    for (const FactorShape shape : factor_shapes)
      for (const Index n : factor_sizes)
        for (const int rank : {1, 3}) {
          if (n > 65 && rank == 3) continue;
          SCOPED_TRACE(::testing::Message() << "optimiser " << static_cast<int>(optimizer) << " shape "
                                            << static_cast<int>(shape) << " n " << n << " rank " << rank);
          Fixture<Team, Real> f(n, shape, optimizer);
          for (int t = 0; t < 3; ++t) {
            const Signal<Real> s = f.signal(rank, t, t == 1 ? 1.0 : 0.0);
            const double old_beta = f.beta;
            adapt_factor(Team{}, f.settings, Schedule{t, 40, 1, true}, ChainSource<Real>{s}, f.a, n);
            f.reference(s, old_beta, t, 40);
          }
          // Steps of at most 0.05 each way of entries near 1; Adam's first steps have slope up to 1/|grad|.
          const double c = optimizer == Optimizer::adam ? 4000 : 40;
          for (Index i = 0; i < n; ++i)
            for (Index j = 0; j <= i; ++j)
              ASSERT_TRUE(rounding<Real>(f.L.dense(i, j), f.dense[f.at(i, j)], c, 1, 1)) << i << ", " << j;
          EXPECT_TRUE(f.L.rest_is_zero());
        }
}

TYPED_TEST(CholeskyGradient, PooledMatrixGivesTheSameStep) {
  using Real = typename TypeParam::Real;
  using Team = typename TypeParam::Team;
  constexpr int P = Team::template panel<Real>;
  for (const FactorShape shape : factor_shapes)
    for (const Index n : {1, 17, 33}) {
      Fixture<Team, Real> chain(n, shape, Optimizer::rmsprop), pooled(n, shape, Optimizer::rmsprop);
      pooled.settings.pooled_speedup = 1;
      const Signal<Real> s = chain.signal(3, 0, 0.25);
      std::vector<Real> matrix(pooled.L.packed.size(), Real(0));
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j <= i; ++j)
          if (shape == FactorShape::dense || i == j)
            matrix[shape == FactorShape::dense ? factor_index<P>(i, j) : std::size_t(i)] =
                ChainSource<Real>{s}(i, j, 0);
      adapt_factor(Team{}, chain.settings, Schedule{0, 40, 1, true}, ChainSource<Real>{s}, chain.a, n);
      adapt_factor(Team{}, pooled.settings, Schedule{0, 40, 1, true},
                   PooledSource<Real>{matrix.data(), nullptr, 0.25, 1.0}, pooled.a, n);
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j <= i; ++j)
          EXPECT_TRUE(rounding<Real>(pooled.L.dense(i, j), chain.L.dense(i, j), 40, 1, 1))
              << n << ": " << i << ", " << j;
      EXPECT_EQ(pooled.beta, chain.beta);
    }
}

TYPED_TEST(CholeskyGradient, FloorHoldsAgainstAnyGradient) {
  using Real = typename TypeParam::Real;
  using Team = typename TypeParam::Team;
  for (const FactorShape shape : factor_shapes) {
    Fixture<Team, Real> f(33, shape, Optimizer::robbins_monro);
    const Real big = std::sqrt(std::numeric_limits<Real>::max()) / Real(4);
    std::vector<Real> a(64, Real(0)), b(64, Real(0));
    std::fill_n(a.begin(), 33, -big), std::fill_n(b.begin(), 33, big);
    Signal<Real> s;
    s.rank = 1, s.a[0] = row_of(a), s.b[0] = row_of(b);
    adapt_factor(Team{}, f.settings, Schedule{0, 40, 1, true}, ChainSource<Real>{s}, f.a, 33);
    for (Index i = 0; i < 33; ++i) EXPECT_EQ(f.L.at(i, i), static_cast<Real>(1.2));
  }
}

TEST(Beta, ClosedFormAndFloor) {
  double beta = 1, want = 1;
  double L = 1, second = 0, first = 0;
  constexpr auto diagonal = FactorShape::diagonal;
  FactorAdaptation<double> a{{&L, 1, diagonal}, {&second, 1, diagonal}, {&first, 1, diagonal}, {&beta}};
  FactorSettings s{1e-3, 0.55};
  s.factor = diagonal;
  std::vector<double> zero(32, 0.0);
  int accepted = 0;
  for (int t = 0; t < 500; ++t) {
    Signal<double> signal;
    signal.rank = 1, signal.a[0] = signal.b[0] = row_of(zero);
    signal.acceptance = t % 9 < 5 ? 1 : 0;
    accepted += signal.acceptance > 0;
    adapt_factor(HostTeam{}, s, Schedule{t, 500, 1, true}, ChainSource<double>{signal}, a, 1);
  }
  want = std::pow(1 + 0.02 * 0.45, accepted) * std::pow(1 - 0.02 * 0.55, 500 - accepted);
  EXPECT_TRUE(rounding<double>(beta, want, 4, 500, want));
  for (int t = 0; t < 2000; ++t) {
    Signal<double> signal;
    signal.rank = 1, signal.a[0] = signal.b[0] = row_of(zero);
    adapt_factor(HostTeam{}, s, Schedule{t, 500, 1, true}, ChainSource<double>{signal}, a, 1);
  }
  EXPECT_EQ(beta, 1e-4);
}

TYPED_TEST(CholeskyGradient, CovarianceTrackingMatchesTheFormulas) {
  using Real = typename TypeParam::Real;
  using Team = typename TypeParam::Team;
  for (const bool printed : {false, true})
    for (const FactorShape shape : factor_shapes)
      for (const Index n : {1, 2, 17, 33}) {
        Fixture<Team, Real> f(n, shape, Optimizer::rmsprop);
        const Signal<Real> s = f.signal(1, 0, 0);
        const auto old = f.dense;
        if (printed)
          track_covariance_printed(Team{}, 0.1, 1.2, ChainSource<Real>{s}, f.L.factor(), n);
        else
          track_covariance(Team{}, 0.1, 1.2, ChainSource<Real>{s}, f.L.factor(), n);
        for (Index i = 0; i < n; ++i)
          for (Index j = 0; j <= i; ++j) {
            if (shape == FactorShape::diagonal && i != j) continue;
            double product = printed ? 0 : static_cast<double>(s.a[0][i]) * static_cast<double>(s.b[0][j]);
            if (printed)
              for (Index k = j; k <= i; ++k)
                product += old[f.at(i, k)] * static_cast<double>(s.a[0][k]) * static_cast<double>(s.b[0][j]);
            double want = old[f.at(i, j)] + 0.1 * (product - old[f.at(i, j)]);
            if (i == j) want = std::max(want, 1.2);
            EXPECT_TRUE(rounding<Real>(f.L.dense(i, j), want, 2, n + 1, 2))
                << printed << " n " << n << ": " << i << ", " << j;
          }
        EXPECT_TRUE(f.L.rest_is_zero());
      }
}

}  // namespace
}  // namespace kilochain::testing_support
