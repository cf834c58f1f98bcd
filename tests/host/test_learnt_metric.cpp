// What the default learns from draws and gradients: its audit's verdict, its metric, what finer steps and mixing tell.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "host/learn/audit.hpp"
#include "host/learn/learnt_metric.hpp"
#include "host/learn/mixing.hpp"

namespace kilochain {
namespace {

/// Independent standard normal draws of every chain, and where each stood before.
struct Draws {
  static constexpr Count chains = 64, count = 50, dim = 5;
  std::vector<double> x, lp, began;
  std::vector<float> accepted;
  explicit Draws(unsigned seed, double memory = 0) {
    std::mt19937 rng(seed);
    std::normal_distribution<double> normal;
    const double fresh = std::sqrt(1 - memory * memory);
    for (Count k = 0; k < chains * dim; ++k) began.push_back(normal(rng));
    for (Count c = 0; c < chains; ++c) {
      std::vector<double> now(began.begin() + c * dim, began.begin() + (c + 1) * dim);
      for (Count s = 0; s < count; ++s) {
        double square = 0;
        for (double& v : now) v = memory * v + fresh * normal(rng), square += v * v;
        x.insert(x.end(), now.begin(), now.end());
        lp.push_back(-square / 2);
        accepted.push_back(0.8F);
      }
    }
  }
  AuditFigures audit() const {
    FrozenDraws<double> block(chains, count, dim, 1);
    block.x = x, block.lp = lp;
    for (Count c = 0; c < chains; ++c) block.accepted[c] = accepted[c * count];
    for (Count c = 0; c < chains; ++c) block.running.push_back(c);
    return audit_of<double>(block, began, 1, [](Count i) { return std::to_string(i); });
  }
};

TEST(Audit, PassesExactDraws) {
  int failed = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) failed += !Draws(seed).audit().passed;
  // One alarm in 800 is expected of each; more than 4 of 300 come once in 10 000.
  EXPECT_LE(failed, 4);
  EXPECT_GT(Draws(1).audit().ess_per_iteration, 0.5 * Draws::chains);
}

TEST(Audit, RefusesWhatHasNotConverged) {
  const auto refused = [](const Draws& d, const char* why) {
    const AuditFigures figures = d.audit();
    EXPECT_FALSE(figures.passed) << why;
    EXPECT_NE(figures.note.find(why), std::string::npos) << figures.note;
  };
  refused(Draws(2, 0.99), "has not forgotten where it began");
  Draws stuck(3);
  std::fill_n(stuck.accepted.begin() + 7 * Draws::count, Draws::count, 0.0F);
  refused(stuck, "1 chains accept nothing");
  Draws drifts(4);
  for (Count c = 0; c < Draws::chains; ++c)
    for (Count s = 0; s < Draws::count; ++s) drifts.lp[static_cast<std::size_t>(c * Draws::count + s)] += 0.02 * s;
  refused(drifts, "the mean log density still moves");
  Draws far(5);
  for (Count s = 0; s < Draws::count; ++s) far.lp[static_cast<std::size_t>(9 * Draws::count + s)] -= 100;
  refused(far, "1 chains are far below the others");
  EXPECT_EQ(far.audit().stuck, std::vector<std::int64_t>{9});
  EXPECT_EQ(stuck.audit().stuck, std::vector<std::int64_t>{7});
}

/// F F^T of a factor.
std::vector<double> product_of(const std::vector<double>& F, Count n) {
  std::vector<double> out(static_cast<std::size_t>(n * n), 0.0);
  for (Count i = 0; i < n; ++i)
    for (Count j = 0; j < n; ++j)
      for (Count k = 0; k <= std::min(i, j); ++k) out[i * n + j] += F[i * n + k] * F[j * n + k];
  return out;
}

/// Draws from any law, gradients of N(mean, Sigma): sd 1e-6, 1 and 1e6, two of them correlated.
TEST(LearntMetric, OfAGaussianIsItsCovarianceWhateverTheDrawsAre) {
  constexpr Count n = 3, count = 400;
  const double s[n] = {1e-6, 1, 1e6}, rho = 0.9;  // of the first two
  std::mt19937 rng(9);
  std::uniform_real_distribution<double> uniform(3, 4);
  const double width[n] = {30, 0.3, 1};
  std::vector<double> x, g;
  for (Count k = 0; k < count; ++k) {
    double z[n];
    for (Count i = 0; i < n; ++i) z[i] = width[i] * uniform(rng) * (k == 7 ? 1e3 : 1), x.push_back(s[i] * z[i]);
    g.push_back(-(z[0] - rho * z[1]) / (1 - rho * rho) / s[0]);
    g.push_back(-(z[1] - rho * z[0]) / (1 - rho * rho) / s[1]);
    g.push_back(-z[2] / s[2]);
  }
  MetricLearner learner(n);
  learner.add(x.data(), g.data(), count);
  EXPECT_EQ(learner.freedom(), count - 1);
  for (const double step : {0.0, 0.1}) {  // however small steps are, nothing is widened
    const std::vector<double> A = product_of(learner.factor(step), n);
    for (Count i = 0; i < n; ++i)
      for (Count j = 0; j < n; ++j) {
        const double sigma = s[i] * s[j] * (i == j ? 1 : i + j == 1 ? rho : 0);
        // L^T Sg L has condition 1e8; shrinking takes e^-33. A covariance of these draws is off by factors.
        EXPECT_NEAR(A[i * n + j], sigma, 1e-6 * s[i] * s[j]) << i << " " << j;
      }
  }
}

// Correlations that change no eigenvalue by a tenth are left out, so that products with the factor take n: the sum of
// their squares is 2 rho^2 here, and the bar 0.01.
TEST(LearntMetric, IsADiagonalWhereCorrelationsHardlyCount) {
  constexpr Count n = 33, count = 200;
  std::mt19937 bits(17);
  std::normal_distribution<double> normal;
  for (const double rho : {0.0, 0.06, 0.08}) {
    std::vector<double> x, g;
    for (Count k = 0; k < count; ++k) {
      std::vector<double> z(n);
      for (double& v : z) v = normal(bits);
      x.insert(x.end(), z.begin(), z.end());
      for (Count i = 0; i < n; ++i) g.push_back(i < 2 ? -(z[i] - rho * z[1 - i]) / (1 - rho * rho) : -z[i]);
    }
    MetricLearner learner(n);
    learner.add(x.data(), g.data(), count);
    const std::vector<double> factor = learner.factor(0);
    Count beside = 0;
    for (Count i = 0; i < n; ++i) {
      EXPECT_NEAR(factor[i * n + i], 1, 0.01);
      for (Count j = 0; j < i; ++j) beside += factor[i * n + j] != 0;
    }
    EXPECT_EQ(beside == 0, rho < 0.07) << rho;
  }
}

// Two normals along a direction u that is no coordinate's, 4 apart; N(0, 1) across it. A is sqrt(5/0.8) = 2.5 along u.
// 4 000 draws: the standard error of a variance is 0.05 at most (of 5 along u: kurtosis 1.9), and 10 are allowed.
TEST(LearntMetric, IsWidenedToTheDrawsWhereStepsBearIt) {
  constexpr Count n = 4, count = 4000;
  std::mt19937 bits(13);
  std::normal_distribution<double> normal;
  std::vector<double> x, g;
  for (Count k = 0; k < count; ++k) {
    const double along = normal(bits) + (bits() % 2 ? 2 : -2), slope = -along + 2 * std::tanh(2 * along);
    double z[n], middle = 0;
    for (double& v : z) v = normal(bits), middle += v / n;
    for (const double v : z) x.push_back(v - middle + along / 2), g.push_back(-(v - middle) + slope / 2);
  }
  MetricLearner learner(n);
  learner.add(x.data(), g.data(), count);
  const auto along = [&](double step) {
    double sum = 0;
    for (const double a : product_of(learner.factor(step), n)) sum += a / n;
    return sum;
  };
  EXPECT_NEAR(along(0.1), 5, 0.5);
  EXPECT_LT(along(0), 3);
  EXPECT_EQ(along(0), along(2));  // such steps bear nothing wider
  const double between = along(0.6);
  EXPECT_TRUE(between > 1.01 * along(0) && between < 0.99 * along(0.1)) << between;
}

// 64 chains of 24 draws. Finer steps in a fifth of all trajectories, in a fifth of the chains, in one of 40, in none.
TEST(FinerSteps, AreForAllChainsOrForSome) {
  std::mt19937 bits(14);
  const auto of = [&](auto&& finer) {
    FrozenDraws<double> block(64, 24, 1, 1);
    for (Count c = 0; c < 64; ++c) {
      block.running.push_back(c);
      for (Count s = 0; s < 24; ++s) block.steps[c * 24 + s] = static_cast<float>((s % 3 + 1) * (finer(c) ? 6 : 1));
    }
    return finer_for_all(block);
  };
  EXPECT_TRUE(of([&](Count) { return bits() % 5 == 0; }));
  EXPECT_FALSE(of([&](Count c) { return c % 5 == 0; }));
  EXPECT_FALSE(of([&](Count) { return bits() % 40 == 0; }));
  EXPECT_FALSE(of([&](Count) { return false; }));
}

TEST(LearntMetric, FewDrawsKeepTheDiagonalAndLostOnesAreLeftOut) {
  constexpr Count n = 40;
  std::mt19937 rng(10);
  std::normal_distribution<double> normal;
  std::vector<double> x, g;
  for (Count k = 0; k < 5 * n; ++k) x.push_back(normal(rng) * 2), g.push_back(-x.back() / 4);
  x[7] = NAN, g[2 * n] = INFINITY;
  MetricLearner learner(n), none(n);
  learner.add(x.data(), g.data(), 5);
  EXPECT_EQ(learner.freedom(), 2);  // of three draws that can be used
  const std::vector<double> A = product_of(learner.factor(), n), I = product_of(none.factor(), n);
  for (Count i = 0; i < n; ++i)
    for (Count j = 0; j < n; ++j) {
      if (i == j) {
        EXPECT_NEAR(A[i * n + j], 4, 4 * 0.05) << i;
      } else {
        EXPECT_EQ(A[i * n + j], 0) << i << " " << j;  // less than a tenth of them would be kept
      }
      EXPECT_EQ(I[i * n + j], i == j);
    }
}

// However few draws, and wherever they are: with the law's own metric the mean is told exactly. Coordinates that do not
// agree with their gradients have that of the draws.
TEST(LearntMetric, TheMeanOfAGaussianIsToldByGradients) {
  constexpr Index count = 5;
  for (const Index n : {33, most_dense + 1}) {
    std::mt19937 bits(4);
    std::normal_distribution<double> normal;
    std::vector<double> x, g, F(static_cast<std::size_t>(n) * n), agree(n, 1.0);
    for (Index i = 0; i < n; ++i) F[i * n + i] = 1 + 0.1 * static_cast<double>(i);
    for (Index k = 0; k < count; ++k)
      for (Index i = 0; i < n; ++i) {
        const double sd = F[i * n + i];
        x.push_back(100 + sd * normal(bits));  // of a law whose mean is i
        g.push_back((static_cast<double>(i) - x.back()) / (sd * sd));
      }
    x.insert(x.end(), n, NAN), g.insert(g.end(), n, 0);
    for (const double a : agreement(x, g, F, n)) EXPECT_NEAR(a, 1, 1e-12) << n;
    agree[7] = -0.2;
    const std::vector<double> mean = mean_of(x, g, F, agree);
    for (Index i = 0; i < n; ++i)
      EXPECT_NEAR(mean[i], i == 7 ? (x[7] + x[n + 7] + x[2 * n + 7] + x[3 * n + 7] + x[4 * n + 7]) / 5 : i, 1e-11)
          << i << " of " << n;
  }
}

// 1 024 chains of 8 draws are more than it looks at: of every second chain.
TEST(Mixing, LooksAtSoManyChainsAndNoMore) {
  constexpr Count n = 3, count = 8, many = 1024;
  std::mt19937 bits(21);
  std::normal_distribution<double> normal;
  FrozenDraws<double> all(many, count, n, 1), half(many / 2, count, n, 1);
  for (double& v : all.x) v = normal(bits);
  for (Count c = 0; c < many; ++c) {
    all.running.push_back(c);
    if (c % 2) continue;
    half.running.push_back(c / 2);
    std::copy_n(all.row(c, 0), count * n, half.x.begin() + c / 2 * count * n);
  }
  const std::vector<double> F = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  EXPECT_EQ(mixing_of(all, F), mixing_of(half, F));
  EXPECT_GT(mixing_of(all, F), 0.8);  // independent draws
}

// One chain of 64 in a narrow place, where gradients of all coordinates are 50 times as large and alike: it would rule
// that direction. 1 008 other draws: a variance's standard error is 4.5 %, a metric's half of that.
TEST(LearntMetric, ANarrowPlaceDoesNotRuleADirection) {
  constexpr Count n = 20, count = 1024;
  std::mt19937_64 bits(12);
  std::normal_distribution<double> normal;
  std::vector<double> x, g;
  for (Count k = 0; k < count; ++k)
    for (Count i = 0; i < n; ++i) {
      x.push_back(normal(bits));
      g.push_back(k % 64 == 5 ? (k % 128 == 5 ? 50 : -50) : -x.back());
    }
  MetricLearner learner(n);
  learner.add(x.data(), g.data(), count);
  const std::vector<double> A = product_of(learner.factor(), n);
  double along = 0;
  for (const double a : A) along += a / n;
  EXPECT_NEAR(along, 1, 0.1);
}

// 4 000 draws: a correlation's standard error is at most 0.016.
TEST(LearntMetric, AgreementIsOneOfAGaussianAndNoneOfAFunnel) {
  std::mt19937_64 bits(11);
  std::normal_distribution<double> normal;
  const Index count = 4000;
  std::vector<double> x, g, funnel, slope;
  for (Index k = 0; k < count; ++k) {
    const double a = normal(bits), b = 0.9 * a + 0.1 * normal(bits);
    x.insert(x.end(), {a, b});
    g.insert(g.end(), {-a + 90 * (b - 0.9 * a), -100 * (b - 0.9 * a)});
    const double v = 3 * normal(bits), y = std::exp(v / 2) * normal(bits);
    funnel.insert(funnel.end(), {v, y});
    slope.insert(slope.end(), {-v / 9 - 0.5 + 0.5 * y * y * std::exp(-v), -y * std::exp(-v)});
  }
  const auto of = [&](const std::vector<double>& at, const std::vector<double>& gradients) {
    MetricLearner learner(2);
    learner.add(at.data(), gradients.data(), count);
    return agreement(at, gradients, learner.factor(), 2);
  };
  for (const double r : of(x, g)) EXPECT_GT(r, 1 - 1e-3);
  EXPECT_LT(of(funnel, slope)[1], 0.3);
  slope[0] = NAN;
  EXPECT_LT(of(funnel, slope)[1], 0.3);
}

}  // namespace
}  // namespace kilochain
