// Densities of vectors, matrices, chains and solutions of equations: known values, sums and integrals that are one, and
// derivatives of every way.
#include <gtest/gtest.h>

#include <cmath>

#include "model/dynamics.hpp"
#include "tests/models/derivatives.hpp"

namespace kilochain {
namespace {

using testing_support::Evaluated;
using testing_support::expect_derivatives;

/// Runs f(p) with numbers, as a model that records does.
template <class F>
double with_room(F&& f) {
  Variables variables("room");
  Recorder finds(variables);
  Parameters<double> p({nullptr}, {}, finds);
  return f(p);
}
template <class Row>
void fill(const Values2<double>& to, std::initializer_list<Row> rows) {
  Index i = 0;
  for (const auto& row : rows) {
    for (Index j = 0; j < to.columns(); ++j) to(i, j) = row[static_cast<std::size_t>(j)];
    ++i;
  }
}

using Row = std::vector<double>;
const std::initializer_list<Row> covariance = {{2, 0.5, 0.3}, {0.5, 1.5, -0.2}, {0.3, -0.2, 1}};
constexpr double y3[] = {0.3, -1, 0.5}, mean3[] = {0.1, 0.2, -0.3};

/// scipy.stats.multivariate_normal, 1.17.1.
TEST(Multivariate, NormalIsThatOfScipy) {
  const double scipy = -3.938339838028385;
  with_room([&](auto& p) {
    const auto S = p.matrix(3, 3);
    fill(S, covariance);
    const DataArray y(y3, 3, "y");
    EXPECT_NEAR(multi_normal_lp(y, mean3, S, p), scipy, 50 * 2.3e-16);
    cholesky_decompose(S);
    EXPECT_NEAR(multi_normal_cholesky_lp(y, mean3, S, p), scipy, 50 * 2.3e-16);
    Index i = 0;
    for (const auto& row : covariance) {  // L L^T is the covariance again
      for (Index j = 0; j < 3; ++j) {
        double sum = 0;
        for (Index k = 0; k < 3; ++k) sum += S(i, k) * S(j, k);
        EXPECT_NEAR(sum, row[static_cast<std::size_t>(j)], 10 * 2.3e-16);
      }
      ++i;
    }
    S(0, 0) = 1, S(1, 0) = 2, S(1, 1) = 3;  // 3 < 2^2
    cholesky_decompose(S);
    EXPECT_TRUE(std::isnan(S(1, 1)));
    return 0;
  });
}

TEST(Multivariate, GaussianProcessesHaveTheirCovariance) {
  with_room([&](auto& p) {
    const double at[] = {0, 1, 0.5, 2, -1, 0.25};
    const auto K = gp_exp_quad_cov(DataMatrix(at, 3, 2, "x"), 1.5, 0.7, p);
    EXPECT_EQ(K(1, 1), 2.25);
    EXPECT_NEAR(K(2, 0), 2.25 * std::exp(-(1 + 0.5625) / (2 * 0.49)), 4 * 2.3e-16);
    EXPECT_EQ(K(0, 2), K(2, 0));
    const auto line = gp_exp_quad_cov(DataArray(at, 3, "x"), 1.5, 0.7, p);
    EXPECT_NEAR(line(1, 0), 2.25 * std::exp(-1 / (2 * 0.49)), 4 * 2.3e-16);
    return 0;
  });
}

TEST(Multivariate, CategoriesSumToOne) {
  const double eta[] = {0.3, -1, 700, 701}, cuts[] = {-1, 0.4, 2.2};
  const DataArray logits(eta, 4, "logits"), cut(cuts, 3, "cut");
  double sum = 0, ordered = 0, far = 0, multinomial = 0;
  for (int k = 0; k < 4; ++k) {
    sum += std::exp(categorical_logit_lp(k, logits));
    ordered += std::exp(ordered_logistic_lp(k, 0.7, cut));
    far += std::exp(ordered_logistic_lp(k, 40.0, cut));
  }
  EXPECT_NEAR(sum, 1, 10 * 2.3e-16 * 700);
  EXPECT_NEAR(ordered, 1, 20 * 2.3e-16);
  EXPECT_NEAR(far, 1, 20 * 2.3e-16);
  // Far out: what is left of the difference of two probabilities near 1. log(e^-38.x ...) by hand.
  EXPECT_NEAR(ordered_logistic_lp(1, 40.0, cut), std::log(std::exp(0.4 - 40) - std::exp(-1 - 40.0)), 40 * 2.3e-16 * 4);
  const double theta[] = {0.5, 0.2, 0.3};
  for (int a = 0; a <= 5; ++a)
    for (int b = 0; a + b <= 5; ++b) {
      const double counts[] = {double(a), double(b), double(5 - a - b)};
      multinomial += std::exp(multinomial_lp(counts, DataArray(theta, 3, "theta")));
    }
  EXPECT_NEAR(multinomial, 1, 100 * 2.3e-16);
  const double counts[] = {3, 0, 2}, zero[] = {0.6, 0, 0.4};  // scipy.stats.multinomial
  EXPECT_NEAR(multinomial_lp(counts, DataArray(theta, 3, "theta")), -2.184802057337662, 20 * 2.3e-16);
  EXPECT_TRUE(std::isfinite(multinomial_lp(counts, DataArray(zero, 3, "theta"))));
}

/// In coordinates the density of a factor integrates to one: transform and density belong together.
/// The trapezoidal rule of what is smooth and vanishes at the ends.
TEST(Multivariate, CorrelationsIntegrateToOne) {
  for (const double eta : {0.8, 1.0, 3.0}) {
    const double h = 0.15;
    double sum = 0;
    const auto lp = [&](std::initializer_list<double> u, Index K) {
      double x[9], j = 0;
      transforms::cholesky_corr(
          K, [&](Index k) { return u.begin()[k]; }, x, j);
      double nowhere = 0;
      return std::exp(lkj_corr_cholesky_lp(Values2<double>{x, &nowhere, K, K, "L"}, eta) + j);
    };
    for (double u = -30; u < 30; u += h) sum += h * lp({u}, 2);
    EXPECT_NEAR(sum, 1, 1e-10) << eta;
    sum = 0;
    for (double a = -12; a < 12; a += h)
      for (double b = -12; b < 12; b += h)
        for (double c = -12; c < 12; c += h) sum += h * h * h * lp({a, b, c}, 3);
    EXPECT_NEAR(sum, 1, 1e-7) << eta;  // e^(-1.6 12) is left out at either end of each
  }
}

/// Against the sum over all 2^5 ways through the states.
TEST(Dynamics, HiddenMarkovChainsSumOverAllWays) {
  const double start[] = {0.3, 0.7}, step[][2] = {{0.9, 0.1}, {0.4, 0.6}}, y[] = {0.2, 1.5, -0.3, 2, 1.1};
  const auto emission = [&](Index t, Index k) { return normal_lp(y[t], 1.5 * k, 0.8); };
  double sum = 0;
  for (int way = 0; way < 32; ++way) {
    double lp = 0;
    for (int t = 0; t < 5; ++t) {
      const int now = way >> t & 1;
      lp += emission(t, now) + std::log(t == 0 ? start[now] : step[way >> (t - 1) & 1][now]);
    }
    sum += std::exp(lp);
  }
  with_room([&](auto& p) {
    const double lp = hmm_lp(
        5, 2, emission, [&](Index j, Index k) { return std::log(step[j][k]); },
        [&](Index k) { return std::log(start[k]); }, p);
    EXPECT_NEAR(lp, std::log(sum), 100 * 2.3e-16);
    const double never = hmm_lp(
        5, 2, emission, [&](Index, Index) { return outside; }, [&](Index) { return 0.0; }, p);
    EXPECT_EQ(never, outside);
    return 0;
  });
}

TEST(Dynamics, AnOscillatorGoesRound) {
  const double ends[] = {0, 0.5, 1, 6.28318530717958648, 20};
  double y[] = {1, 0};
  int seen = 0;
  ode_rk45<2>([](double, const double* y, double* slope) { slope[0] = y[1], slope[1] = -y[0]; }, y, 0,
              DataArray(ends, 5, "t"), {1e-9, 1e-9},
              [&](Index i, const double* at) {
                EXPECT_NEAR(at[0], std::cos(ends[i]), 1e-6) << i;
                EXPECT_NEAR(at[1], -std::sin(ends[i]), 1e-6) << i;
                ++seen;
              });
  EXPECT_EQ(seen, 5);
}

TEST(Dynamics, WhatCannotBeSolvedIsNotANumber) {
  const double ends[] = {0.5, 2, 3};
  double y[] = {1}, last = 0;
  ode_rk45<1>([](double, const double* y, double* slope) { slope[0] = y[0] * y[0]; }, y, 0, DataArray(ends, 3, "t"), {},
              [&](Index i, const double* at) {  // y = 1 / (1 - t)
                if (i == 0) {
                  EXPECT_NEAR(at[0], 2, 1e-4);
                }
                last = at[0];
              });
  EXPECT_TRUE(std::isnan(last));
}

/// Linear: y' = -a y has y = y0 e^(-a t), whose derivatives along a and y0 are known.
TEST(Dynamics, SensitivitiesAreThoseOfTheSolution) {
  using T = Dual<double, 2>;
  T a(0.7), y[] = {T(2.0)};
  a.d[0] = 1, y[0].d[1] = 1;
  const double ends[] = {1.5};
  ode_rk45<1>([&](double, const T* y, T* slope) { slope[0] = -a * y[0]; }, y, 0, DataArray(ends, 1, "t"),
              {1e-10, 1e-10},
              [&](Index, const T* at) {
                EXPECT_NEAR(at[0].v, 2 * std::exp(-1.05), 1e-8);
                EXPECT_NEAR(at[0].d[0], -1.5 * 2 * std::exp(-1.05), 1e-7);
                EXPECT_NEAR(at[0].d[1], std::exp(-1.05), 1e-8);
              });
}

struct Everything {
  static constexpr const char* meaning = "everything";
  struct Data {
    DataArray y, x, t, counts;
  };
  static Data load(const model_detail::Nothing&, Loader& loader) {
    return {loader.put("y", {0.3, -1, 0.5}), loader.put("x", {0, 1, 2.5}), loader.put("t", {0.5, 1, 3}),
            loader.put("counts", {3, 0, 2})};
  }
  template <class P>
  KC_HD static scalar_of<P> log_density(P& p, const Data& d) {
    using T = scalar_of<P>;
    const auto alpha = p.positive("alpha"), rho = p.positive("rho"), sigma = p.positive("sigma");
    const auto mu = p.real("mu");
    const auto L = p.cholesky_corr("L", 3);
    const auto cut = p.ordered("cut", 3);
    const auto theta = p.simplex("theta", 3);
    const auto eta = p.reals("eta", 3);
    const auto K = gp_exp_quad_cov(d.x, alpha, rho, p);
    for (Index i = 0; i < 3; ++i) K(i, i) += square(sigma);
    T lp = multi_normal_lp(d.y, mu, K, p) + multi_normal_cholesky_lp(eta, cut, L, p) + lkj_corr_cholesky_lp(L, alpha);
    lp += categorical_logit_lp(1, eta) + multinomial_lp(d.counts, theta);
    for (int k = 0; k < 4; ++k) lp += ordered_logistic_lp(k, eta[0], cut);
    lp += hmm_lp(
        3, 3, [&](Index t, Index k) { return normal_lp(d.y[t], cut[k], sigma); },
        [&](Index j, Index k) { return log(theta[(j + k) % 3]); }, [&](Index k) { return log(theta[k]); }, p);
    T state[] = {alpha, rho};
    const auto predator_and_prey = [&](double, const T* y, T* slope) {
      slope[0] = sigma * y[0] - 0.5 * y[0] * y[1];
      slope[1] = 0.3 * y[0] * y[1] - theta[0] * y[1];
    };
    ode_rk45<2>(predator_and_prey, state, 0, d.t, {1e-12, 1e-12},
                [&](Index i, const T* y) { lp += normal_lp(d.y[i], y[0] - y[1], 0.8); });
    lp += von_mises_lp(mu, 0.1, alpha) + skew_normal_lp(mu, cut[0], rho, eta[1]) + laplace_lp(eta[2], 0.1, rho);
    return lp + neg_binomial_2_log_lp(2, mu, alpha) + weibull_lp(rho, alpha, sigma) + logistic_lp(mu, eta[0], rho);
  }
};
TEST(Dynamics, DerivativesOfEveryWay) {
  std::vector<double> u(15);
  for (const double step : {0.3, 1.9}) {
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = 0.5 * std::sin(step + 2.3 * static_cast<double>(i));
    expect_derivatives<Everything>(u);
  }
}

}  // namespace
}  // namespace kilochain
