// Time in models: the likelihood of a hidden Markov chain, and ordinary differential equations.
#pragma once
#include "model/multivariate.hpp"

namespace kilochain {

/// The log likelihood of n observations of a chain of K hidden states, by the forward algorithm: log_emission(t, k) of
/// observation t in state k, log_transition(j, k) from j to k, log_start(k). Cost: n K^2 exponentials.
template <class E, class A, class S, class P>
KC_INLINE typename P::Scalar hmm_lp(Index n, Index K, const E& log_emission, const A& log_transition,
                                    const S& log_start, P& p) {
  using T = typename P::Scalar;
  const auto borrowed = p.borrow();
  const auto forward = p.matrix(2, K, "hmm_lp");
  for (Index k = 0; k < K; ++k) forward(0, k) = log_start(k) + log_emission(0, k);
  for (Index t = 1; t < n; ++t) {
    const auto before = forward.row((t - 1) % 2), now = forward.row(t % 2);
    for (Index k = 0; k < K; ++k) {
      const auto inner = p.borrow();
      const auto way = p.array(K, "hmm_lp");
      for (Index j = 0; j < K; ++j) way[j] = before[j] + log_transition(j, k);
      now[k] = log_sum_exp(K, [&](Index j) -> T { return way[j]; }) + log_emission(t, k);
    }
  }
  return log_sum_exp(K, [&](Index k) -> T { return forward((n - 1) % 2, k); });
}

/// What a solver aims at: an error of a step of at most absolute + relative |y|, as a root mean square over values.
struct Tolerances {
  double relative = 1e-6, absolute = 1e-6;
  int max_num_steps = 100000;  ///< more are given up, with NaN: the point is rejected
};

/// Solves dy/dt = f from y at `start` and calls each(i, y) at times[i], which ascend,
/// with derivatives of all that f and y depend on. f(t, y, slope): N numbers y, of which it sets N slopes.
/// Dormand and Prince 1980, order 5(4), with the step chosen by the values alone; not for stiff equations.
template <int N, class T, class F, class Times, class Each>
KC_INLINE void ode_rk45(const F& f, T* y, double start, const Times& times, const Tolerances& tolerances,
                        const Each& each) {
  constexpr double nodes[7] = {0, 0.2, 0.3, 0.8, 8.0 / 9, 1, 1};
  constexpr double weights[7][7] = {{},
                                    {1.0 / 5},
                                    {3.0 / 40, 9.0 / 40},
                                    {44.0 / 45, -56.0 / 15, 32.0 / 9},
                                    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
                                    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
                                    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
  constexpr double errors[7] = {71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40};
  T slopes[7][N] = {}, next[N] = {};
  const auto column = [&](int i) {
    struct Column {
      const T (*slopes)[N];
      int i;
      KC_INLINE T operator[](Index s) const { return slopes[s][i]; }
    };
    return Column{slopes, i};
  };
  const auto size = [&](int i) {
    const double a = ::fabs(value_of(y[i])), b = ::fabs(value_of(next[i]));
    return tolerances.absolute + tolerances.relative * (a > b ? a : b);
  };
  double t = start, h = 0;
  int steps = 0;
  f(t, static_cast<const T*>(y), slopes[0]);
  double of_y = 0, of_slope = 0;
  for (int i = 0; i < N; ++i) {
    next[i] = y[i];
    of_y += square(value_of(y[i]) / size(i)), of_slope += square(value_of(slopes[0][i]) / size(i));
  }
  h = of_y > 1e-10 && of_slope > 1e-10 ? 0.01 * ::sqrt(of_y / of_slope) : 1e-6;  // Hairer, Norsett and Wanner, II.4
  for (Index at = 0; at < static_cast<Index>(times.size()); ++at) {
    const double end = times[at];
    while (t < end) {
      const bool ends = t + h * 1.0000001 >= end;
      const double step = ends ? end - t : h;
      for (int s = 1; s < 7; ++s) {
        double w[7];
        for (int r = 0; r < s; ++r) w[r] = step * weights[s][r];
        for (int i = 0; i < N; ++i) next[i] = y[i] + dot(w, column(i), s);
        f(t + nodes[s] * step, static_cast<const T*>(next), slopes[s]);
      }
      double sum = 0;
      for (int i = 0; i < N; ++i) {
        double error = 0;
        for (int s = 0; s < 7; ++s) error += step * errors[s] * value_of(slopes[s][i]);
        sum += square(error / size(i));
      }
      const double error = ::sqrt(sum / N);
      const bool small = error <= 1;  // and a number
      const double factor = small || error > 1 ? 0.9 * ::pow(error + 1e-10, -0.2) : 0.1;
      if (small) {
        t = ends ? end : t + step;
        for (int i = 0; i < N; ++i) y[i] = next[i], slopes[0][i] = slopes[6][i];
      }
      if (!small || !ends || factor < 1) h = step * (factor > 5 ? 5 : factor < 0.1 ? 0.1 : factor);
      if (++steps > tolerances.max_num_steps || !(h > 1e-15 * ::fabs(t))) {
        for (int i = 0; i < N; ++i) y[i] = std::numeric_limits<double>::quiet_NaN();
        t = std::numeric_limits<double>::infinity();
      }
    }
    each(at, static_cast<const T*>(y));
  }
}

namespace dynamics_detail {

/// Row i of a matrix of stages, for dot.
template <int N, class T>
struct Column {
  const T (*stages)[N];
  int i;
  KC_INLINE T operator[](Index s) const { return stages[s][i]; }
};

/// The steps of ode_rk45 (which is slower where it calls this) for a solver whose error is of order 1 / power; `slope`:
/// at y. attempt(t, h, error) makes `next` of y and N errors, and accept(t) is told that y is now `next`.
template <int N, class T, class Times, class Attempt, class Accept, class Each>
KC_INLINE void take_steps(T* y, T* next, const T* slope, double start, const Times& times, const Tolerances& tolerances,
                          double power, const Attempt& attempt, const Accept& accept, const Each& each) {
  const auto size = [&](int i) {
    const double a = ::fabs(value_of(y[i])), b = ::fabs(value_of(next[i]));
    return tolerances.absolute + tolerances.relative * (a > b ? a : b);
  };
  double t = start, of_y = 0, of_slope = 0, errors[N];
  int steps = 0;
  for (int i = 0; i < N; ++i) {
    next[i] = y[i];
    of_y += square(value_of(y[i]) / size(i)), of_slope += square(value_of(slope[i]) / size(i));
  }
  // Hairer, Norsett and Wanner, II.4
  double h = of_y > 1e-10 && of_slope > 1e-10 ? 0.01 * ::sqrt(of_y / of_slope) : 1e-6;
  for (Index at = 0; at < static_cast<Index>(times.size()); ++at) {
    const double end = times[at];
    while (t < end) {
      const bool ends = t + h * 1.0000001 >= end;
      const double step = ends ? end - t : h;
      attempt(t, step, errors);
      double sum = 0;
      for (int i = 0; i < N; ++i) sum += square(errors[i] / size(i));
      const double error = ::sqrt(sum / N);
      const bool small = error <= 1;  // and a number
      const double factor = small || error > 1 ? 0.9 * ::pow(error + 1e-10, -power) : 0.1;
      if (small) {
        t = ends ? end : t + step;
        for (int i = 0; i < N; ++i) y[i] = next[i];
        accept(t);
      }
      if (!small || !ends || factor < 1) h = step * (factor > 5 ? 5 : factor < 0.1 ? 0.1 : factor);
      if (++steps > tolerances.max_num_steps || !(h > 1e-15 * ::fabs(t))) {
        for (int i = 0; i < N; ++i) y[i] = std::numeric_limits<double>::quiet_NaN();
        t = std::numeric_limits<double>::infinity();
      }
    }
    each(at, static_cast<const T*>(y));
  }
}

/// A = P L U in its place, the largest value of a column as its pivot; diagonals of U as their inverses.
template <int N, class T>
KC_INLINE void factorise(T (&A)[N][N], int (&row)[N]) {
  for (int k = 0; k < N; ++k) {
    row[k] = k;
    for (int i = k + 1; i < N; ++i)
      if (::fabs(value_of(A[i][k])) > ::fabs(value_of(A[row[k]][k]))) row[k] = i;
    for (int j = 0; j < N; ++j) {
      const T other = A[row[k]][j];
      A[row[k]][j] = A[k][j], A[k][j] = other;
    }
    A[k][k] = 1.0 / A[k][k];
    for (int i = k + 1; i < N; ++i) {
      A[i][k] *= A[k][k];
      for (int j = k + 1; j < N; ++j) A[i][j] -= A[i][k] * A[k][j];
    }
  }
}
/// x = A^-1 x.
template <int N, class T>
KC_INLINE void solve(const T (&A)[N][N], const int (&row)[N], T (&x)[N]) {
  for (int k = 0; k < N; ++k) {
    const T other = x[row[k]];
    x[row[k]] = x[k], x[k] = other;
  }
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < i; ++j) x[i] -= A[i][j] * x[j];
  for (int i = N - 1; i >= 0; --i) {
    for (int j = i + 1; j < N; ++j) x[i] -= A[i][j] * x[j];
    x[i] *= A[i][i];
  }
}

}  // namespace dynamics_detail

/// The same for stiff equations, by linear systems and nothing to iterate: RODAS4P, order 4(3), stiffly accurate, which
/// keeps its order on solutions that are drawn to a slow curve (Steinebach 1995). df/dy is of differences of f, in the
/// numbers T: what is differentiated is the scheme. Cost of a step: N + 7 calls of f, N^3 / 3 + 6 N^2 products.
template <int N, class T, class F, class Times, class Each>
KC_INLINE void ode_rodas(const F& f, T* y, double start, const Times& times, const Tolerances& tolerances,
                         const Each& each) {
  constexpr double gamma = 0.25, nodes[6] = {0, 0.75, 0.21, 0.63, 1, 1};
  constexpr double of_time[6] = {0.25, -0.5, -0.023504, -0.0362, 0, 0};
  constexpr double a[6][5] = {{},
                              {3},
                              {1.831036793486759, 0.4955183967433795},
                              {2.304376582692669, -0.05249275245743001, -1.176798761832782},
                              {-7.170454962423024, -4.741636671481785, -16.31002631330971, -1.062004044111401},
                              {-7.170454962423024, -4.741636671481785, -16.31002631330971, -1.062004044111401, 1}};
  constexpr double c[6][5] = {
      {},
      {-12},
      {-8.791795173947035, -2.207865586973518},
      {10.81793056857153, 6.780270611428266, 19.53485944642410},
      {34.19095006749676, 15.49671153725963, 54.74760875964130, 14.16005392148534},
      {34.62605830930532, 15.30084976114473, 56.99955578662667, 18.40807009793095, -5.714285714285717}};
  constexpr double fine = 1.5e-8;  // the square root of the rounding error
  T A[N][N], u[6][N] = {}, next[N] = {}, slope[N] = {}, moved[N] = {}, change[N] = {};
  int row[N];
  f(start, static_cast<const T*>(y), slope);
  const auto attempt = [&](double t, double h, double* error) {
    for (int j = 0; j < N; ++j) {
      for (int i = 0; i < N; ++i) next[i] = y[i];
      const double d = fine * (::fabs(value_of(y[j])) + h * ::fabs(value_of(slope[j])) + tolerances.absolute);
      next[j] += d;
      f(t, static_cast<const T*>(next), moved);
      for (int i = 0; i < N; ++i) A[i][j] = (slope[i] - moved[i]) / d;
      A[j][j] += 1 / (gamma * h);
    }
    const double later = fine * (::fabs(t) + h);
    f(t + later, static_cast<const T*>(y), moved);
    for (int i = 0; i < N; ++i) change[i] = (moved[i] - slope[i]) / later;
    dynamics_detail::factorise(A, row);
    for (int s = 0; s < 6; ++s) {
      double w[5];
      for (int r = 0; r < s; ++r) w[r] = c[s][r] / h;
      for (int i = 0; i < N; ++i) next[i] = y[i] + dot(a[s], dynamics_detail::Column<N, T>{u, i}, s);
      if (s > 0) f(t + nodes[s] * h, static_cast<const T*>(next), moved);
      for (int i = 0; i < N; ++i)
        u[s][i] =
            (s > 0 ? moved[i] : slope[i]) + h * of_time[s] * change[i] + dot(w, dynamics_detail::Column<N, T>{u, i}, s);
      dynamics_detail::solve(A, row, u[s]);
    }
    for (int i = 0; i < N; ++i) {
      next[i] += u[5][i];
      error[i] = value_of(u[5][i]);
    }
  };
  const auto accept = [&](double t) { f(t, static_cast<const T*>(y), slope); };
  dynamics_detail::take_steps<N>(y, next, slope, start, times, tolerances, 0.25, attempt, accept, each);
}

}  // namespace kilochain
