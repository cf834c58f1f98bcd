// The solver of stiff equations: known solutions and their derivatives, its order, its cost, every way to derivatives.
#include <gtest/gtest.h>

#include <cmath>

#include "model/densities.hpp"
#include "model/dynamics.hpp"
#include "tests/models/derivatives.hpp"

namespace kilochain {
namespace {

/// Robertson 1966: the rates are 0.04, 3e7 and 1e4.
template <class T>
struct Robertson {
  T rate[3] = {0.04, 3e7, 1e4};
  KC_HD void operator()(double, const T* y, T* slope) const {
    const T slow = rate[0] * y[0], quick = rate[1] * square(y[1]), back = rate[2] * y[1] * y[2];
    slope[0] = back - slow, slope[1] = slow - back - quick, slope[2] = quick;
  }
};
template <class T>
void solve_robertson(const Robertson<T>& f, T (&y)[3], double tolerance, double end) {
  y[0] = 1, y[1] = y[2] = 0;
  const double times[] = {end};
  ode_rodas<3>(f, y, 0, DataArray(times, 1, "t"), {tolerance, 1e-6 * tolerance}, [](Index, const T*) {});
}

/// scipy.integrate.solve_ivp, 1.17.1, Radau, rtol 1e-12; 0.7158, 9.185e-6, 0.2842 is everybody's.
TEST(Stiff, RobertsonsReaction) {
  for (const double tolerance : {1e-4, 1e-7, 1e-10}) {
    double y[3];
    solve_robertson(Robertson<double>{}, y, tolerance, 40);
    const double known[] = {0.7158270687194, 9.185534764558e-06, 0.2841637457458};
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(y[i] / known[i], 1, 20 * tolerance) << i << ", " << tolerance;
  }
}

/// Along the logarithm of each rate: differences of the solution at a tight tolerance.
TEST(Stiff, SensitivitiesAreThoseOfTheSolution) {
  using T = Dual<double, 3>;
  Robertson<T> f;
  for (int k = 0; k < 3; ++k) f.rate[k].d[k] = f.rate[k].v;
  T y[3];
  solve_robertson(f, y, 1e-8, 40);
  for (int k = 0; k < 3; ++k) {
    const double h = 1e-3;
    double up[3], down[3];
    Robertson<double> above, below;
    above.rate[k] *= std::exp(h), below.rate[k] *= std::exp(-h);
    solve_robertson(above, up, 1e-11, 40);
    solve_robertson(below, down, 1e-11, 40);
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(y[i].d[k] / y[i].v, (up[i] - down[i]) / (2 * h) / y[i].v, 1e-6) << i << ", " << k;
    }
  }
}

/// Prothero and Robinson 1974: y' = -a (y - cos t) from 0 is (a^2 cos t + a sin t - a^2 e^-at) / (1 + a^2).
TEST(Stiff, AQuickDecayToASlowCurve) {
  for (const double rate : {0.7, 1e3, 1e7}) {
    using T = Dual<double, 1>;
    T a = rate, y[] = {0.0};
    a.d[0] = 1;
    int calls = 0;
    const double times[] = {0.5, 2, 10};
    const auto f = [&](double t, const T* at, T* slope) { slope[0] = -a * (at[0] - std::cos(t)), ++calls; };
    ode_rodas<1>(f, y, 0, DataArray(times, 3, "t"), {1e-8, 1e-8}, [&](Index k, const T* at) {
      const T t = times[k], decay = exp(-a * t);
      const T exact = (square(a) * std::cos(times[k]) + a * std::sin(times[k]) - square(a) * decay) / (1.0 + square(a));
      EXPECT_NEAR(at[0].v, exact.v, 1e-7) << rate;
      EXPECT_NEAR(rate * at[0].d[0], rate * exact.d[0], 1e-7) << rate;
    });
    EXPECT_LT(calls, 3000) << rate;  // an explicit solver: 3 a of them
  }
}

const auto predator_and_prey = [](double t, const auto* y, auto* slope) {
  slope[0] = (1 + 0.3 * std::sin(t)) * y[0] - 0.5 * y[0] * y[1];
  slope[1] = 0.3 * y[0] * y[1] - 0.8 * y[1];
};

/// Steps as long as the times are apart, where any error is allowed: half of them, a 16th of the error.
TEST(Stiff, IsOfOrderFour) {
  const auto error = [](int steps) {
    std::vector<double> times;
    for (int k = 0; k <= steps; ++k) times.push_back(1 + 4.0 * k / steps);
    double y[] = {1.5, 0.7}, exact[] = {0, 0};
    ode_rodas<2>(predator_and_prey, y, 0, DataArray(times.data(), steps + 1, "t"), {1e9, 1e9},
                 [&](Index k, const double* at) {
                   if (k == 0) exact[0] = at[0], exact[1] = at[1];
                 });
    const double end[] = {5};
    ode_rk45<2>(predator_and_prey, exact, 1, DataArray(end, 1, "t"), {1e-13, 1e-13}, [](Index, const double*) {});
    return std::hypot(y[0] - exact[0], y[1] - exact[1]);
  };
  for (const int steps : {20, 40, 80}) {
    EXPECT_NEAR(std::log2(error(steps) / error(2 * steps)), 4, 0.3) << steps;
  }
}

TEST(Stiff, AgreesWithTheExplicitSolver) {
  using T = Dual<double, 2>;
  const double times[] = {0.3, 4, 11};
  std::vector<T> seen[2];
  for (const int stiff : {0, 1}) {
    T y[] = {1.5, 0.7};
    y[0].d[0] = y[1].d[1] = 1;
    const auto keep = [&](Index, const T* at) { seen[stiff].insert(seen[stiff].end(), at, at + 2); };
    const DataArray t(times, 3, "t");
    if (stiff)
      ode_rodas<2>(predator_and_prey, y, 0, t, {1e-10, 1e-10}, keep);
    else
      ode_rk45<2>(predator_and_prey, y, 0, t, {1e-10, 1e-10}, keep);
  }
  for (std::size_t k = 0; k < 6; ++k) {
    EXPECT_NEAR(seen[0][k].v, seen[1][k].v, 1e-7) << k;
    for (int j = 0; j < 2; ++j) EXPECT_NEAR(seen[0][k].d[j], seen[1][k].d[j], 1e-6) << k;
  }
}

TEST(Stiff, WhatCannotBeSolvedIsNotANumber) {
  const double ends[] = {0.5, 2};
  for (const double power : {2.0, 0.0}) {
    double y[] = {1}, last = 0;
    const auto f = [&](double, const double* at, double* slope) { slope[0] = power > 0 ? at[0] * at[0] : NAN; };
    ode_rodas<1>(f, y, 0, DataArray(ends, 2, "t"), {}, [&](Index, const double* at) { last = at[0]; });
    EXPECT_TRUE(std::isnan(last));
  }
}

struct Reaction {
  static constexpr const char* meaning = "Robertson's reaction";
  struct Data {
    DataArray t;
  };
  static Data load(const model_detail::Nothing&, Loader& loader) { return {loader.put("t", {0.4, 40})}; }
  template <class P>
  KC_HD static scalar_of<P> log_density(P& p, const Data& d) {
    using T = scalar_of<P>;
    Robertson<T> f;
    f.rate[0] = 0.04 * p.positive("slow");
    f.rate[2] = 1e4 * p.positive("back");
    T y[] = {1.0, 0.0, 0.0}, lp = 0.0;
    ode_rodas<3>(f, y, 0, d.t, {1e-10, 1e-14}, [&](Index, const T* at) { lp += normal_lp(at[2], 0.1, 0.3); });
    return lp;
  }
};
TEST(Stiff, DerivativesOfEveryWay) {
  testing_support::expect_derivatives<Reaction>({0.1, -0.2},
                                                1e-10);  // rounding is as large as the differences for df/dy leave it
}

}  // namespace
}  // namespace kilochain
