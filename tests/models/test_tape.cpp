// The tape against duals, which are tested against differences; and which of them a model gets.
#include <gtest/gtest.h>

#include <cmath>

#include "model/densities.hpp"
#include "tests/models/evaluated.hpp"
#include "tests/models/functions.hpp"
#include "tests/support/tolerance.hpp"

namespace kilochain {
namespace {

using namespace testing_support;

TEST(Tape, FunctionsHaveTheDerivativesOfDuals) {
  Each::visit([](const char* name, double x, auto f) {
    Dual<double, 1> u(x);
    u.d[0] = 1;
    const auto want = f(u);
    auto& tape = Tape<double>::start(2);
    const Var<double> y = f(Var<double>(x, 1));
    const double* slopes = tape.sweep(y.node);
    EXPECT_TRUE(rounding<double>(y.v, want.v, 4, 10, 1 + std::abs(want.v))) << name;  // 10 operations
    EXPECT_TRUE(rounding<double>(slopes[1], want.d[0], 4, 10, 1 + std::abs(want.d[0]))) << name;
    EXPECT_EQ(slopes[0], 0) << name;
  });
}

TEST(Tape, SecondDerivativesAreThoseOfDuals) {
  Each::visit([](const char* name, double x, auto f) {
    using First = Dual<double, 1>;
    Dual<First, 1> u(x);
    u.v.d[0] = 1;
    u.d[0] = First(1.0);
    First along(x);
    along.d[0] = 1;
    auto& tape = Tape<First>::start(1);
    const Var<First> y = f(Var<First>(along, 0));
    const double want = f(u).d[0].d[0];
    EXPECT_TRUE(rounding<double>(tape.sweep(y.node)->d[0], want, 4, 20, 10 + std::abs(want))) << name;
  });
}

TEST(Tape, NumbersAndUnusedInputsHaveNoDerivative) {
  auto& tape = Tape<double>::start(3);
  const Var<double> number = exp(Var<double>(2.0)) * 3.0 + Var<double>(1.0);
  EXPECT_EQ(number.node, -1);
  EXPECT_EQ(tape.sweep(number.node)[0], 0);
  Var<double> y = Var<double>(5.0, 1);
  y += 2.0, y -= number, y *= number, y /= 2.0;
  const double* slopes = tape.sweep(y.node);
  EXPECT_EQ(slopes[0], 0);
  EXPECT_EQ(slopes[1], number.v / 2);
  EXPECT_EQ(slopes[2], 0);
}

/// A value that is computed and not used may have an infinite slope.
TEST(Tape, WhatIsNotUsedDoesNotMatter) {
  auto& tape = Tape<double>::start(1);
  const Var<double> x(0.0, 0);
  const auto unused = log(x) + sqrt(x);
  EXPECT_EQ(unused.v, outside);
  const auto y = 3.0 * x;
  EXPECT_EQ(tape.sweep(y.node)[0], 3);
  const auto last = y + exp(x) * Var<double>(0.0);
  static_cast<void>(log(x));
  EXPECT_EQ(tape.sweep(last.node)[0], 3);
}

/// Sums of inputs, of values that have nodes of their own, and one inside another.
TEST(Tape, WeightedSums) {
  const double x[] = {0.5, -1, 2, 0.25}, w[] = {2, 3, -1, 4};
  auto& tape = Tape<double>::start(4);
  const Parameters<Var<double>>::View<false> a{{x}, 0, 3, "a"};
  const auto plain = dot(w, a, 3);
  EXPECT_EQ(plain.v, 1 - 3 - 2);
  struct Squares {
    decltype(a) inputs;
    const double* w;
    Var<double> operator[](Index i) const { return inputs[i] * dot(w, inputs, i + 1); }
  };
  const auto nested = dot(w, Squares{a, w}, 2) + plain * 0.0;
  // 2 a0 (2 a0) + 3 a1 (2 a0 + 3 a1)
  EXPECT_EQ(nested.v, 4 * 0.25 + 3 * -1 * (1 - 3));
  const double* slopes = tape.sweep(nested.node);
  EXPECT_EQ(slopes[0], 8 * 0.5 + 6 * -1);
  EXPECT_EQ(slopes[1], 6 * 0.5 + 18 * -1);
  EXPECT_EQ(slopes[2], 0);
  slopes = tape.sweep(plain.node);
  EXPECT_EQ(std::vector<double>(slopes, slopes + 4), (std::vector<double>{2, 3, -1, 0}));
  EXPECT_EQ(dot(w, x, 4), 1 - 3 - 2 + 1);
}

/// Groups with their own means, every constraint, densities with parameters everywhere.
template <int groups>
struct Hierarchy {
  static constexpr const char* meaning = "groups";
  template <class P>
  static auto log_density(P& p, const model_detail::Nothing&) {
    const auto mu = p.real("mu");
    const auto tau = p.positive("tau");
    const auto nu = p.lower("nu", 2.0);
    const auto rho = p.interval("rho", -1.0, 1.0);
    const auto weight = p.simplex("weight", size<3>);
    const auto cut = p.ordered("cut", size<3>);
    const auto scale = p.positives("scale", groups);
    const auto mean = p.reals("mean", groups);
    const double alpha[] = {1.5, 2, 3};
    auto lp = normal_lp(mu, 0, 5) + half_cauchy_lp(tau, 5) + gamma_lp(nu, 2, 0.1) + dirichlet_lp<3>(weight, alpha);
    for (int k = 0; k < 3; ++k) lp += normal_lp(cut[k], rho * mu, 3.0) + log_sum_exp(weight[k] * mu, cut[k]);
    for (int j = 0; j < groups; ++j) {
      lp += student_t_lp(mean[j], nu, mu, tau) + lognormal_lp(scale[j], 0, 1);
      for (int i = 0; i < 4; ++i) lp += normal_lp(0.3 * i + 0.1 * j, mean[j], scale[j]);
    }
    const double row[] = {0.2, -0.4, 0.1};
    if (groups >= 3) lp += bernoulli_logit_lp(1, dot(row, mean, 3)) + poisson_log_lp(2, dot(row, scale, 3));
    return lp;
  }
};

template <int groups, class Real>
void expect_same() {
  Evaluated<Hierarchy<groups>, Real> model;
  const auto n = static_cast<std::size_t>(model.data.n);
  ASSERT_EQ(n, 9u + 2 * groups);
  std::vector<Real> x(n), direction(n), tape, duals;
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = static_cast<Real>(0.8 * std::sin(1.0 + 2.3 * static_cast<double>(i)));
    direction[i] = static_cast<Real>(std::cos(1.7 * static_cast<double>(i)));
  }
  for (const Needs needs : {Needs::gradient, Needs::hessian_vector, Needs::gradient}) {
    model.data.by_tape = true;
    const double a = model.at(x, needs, &tape, direction);
    model.data.by_tape = false;
    const double b = model.at(x, needs, &duals, direction);
    // Sums of about 20 terms a group, which for mu and tau come from all groups.
    EXPECT_TRUE(rounding<double>(a, b, 8, 20.0 * groups, 10));
    for (std::size_t i = 0; i < n; ++i)
      EXPECT_TRUE(rounding<Real>(tape[i], duals[i], 8, sizeof(Real) == 4 ? 1 : 20.0 * groups, 10 + std::abs(duals[i])))
          << "coordinate " << i << " of " << n;
  }
}

TEST(Tape, ModelsHaveTheDerivativesOfDuals) {
  expect_same<1, double>();
  expect_same<3, double>();
  expect_same<31, double>();
  expect_same<257, double>();
  expect_same<33, float>();
}

/// Few coordinates: duals; many: the tape. The choice is made of counts: the same every time.
TEST(Tape, IsChosenWhereItIsQuicker) {
  const auto chosen = [](auto kind) {
    Evaluated<decltype(kind), double> model;
    EXPECT_FALSE(model.data.by_tape);
    decltype(model)::Target::prepare_host(model.data);
    return model.data.by_tape;
  };
  EXPECT_FALSE(chosen(Hierarchy<1>{}));
  EXPECT_TRUE(chosen(Hierarchy<31>{}));
  EXPECT_TRUE(chosen(Hierarchy<257>{}));
}

/// Outside a density's support the value is -infinity, and no derivative is NaN where duals have none.
TEST(Tape, OutsideTheSupport) {
  auto& tape = Tape<double>::start(1);
  const auto lp = exponential_lp(Var<double>(-1.0, 0), 2.0);
  EXPECT_EQ(lp.v, outside);
  EXPECT_EQ(tape.sweep(lp.node)[0], -2);
}

}  // namespace
}  // namespace kilochain
