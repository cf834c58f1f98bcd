// Constrained parameters: in their range, and with the Jacobian that differences give.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "model/parameters.hpp"

namespace kilochain {
namespace {

/// Log |det| of the derivative of the first n constrained values with respect to n coordinates, by duals that were
/// tested against differences.
template <int N, class F>
double log_determinant(const double* u, F&& transform) {
  Eigen::MatrixXd jacobian(N, N);
  for (Index j = 0; j < N; ++j) {
    using T = Dual<double, 1>;
    T x[N + 1] = {}, ignored = 0.0;
    const Coordinates<T> coordinates{u, j};
    transform([&](Index k) { return coordinates(k); }, x, ignored);
    for (int i = 0; i < N; ++i) jacobian(i, j) = x[i].d[0];
  }
  return std::log(std::abs(jacobian.determinant()));
}

const double points[][4] = {{0.3, -0.7, 1.2, 0.1}, {-2, 3, 0, -1}, {0, 0, 0, 0}, {8, -9, 7, -8}};
constexpr double c = 100 * 2.3e-16;  // 100 operations, logs of numbers down to e^-20

template <int N, class F>
void expect_jacobian(const char* name, F&& transform) {
  for (const auto& u : points) {
    double x[N + 1] = {}, log_jacobian = 0;
    transform([&](Index k) { return u[k]; }, x, log_jacobian);
    EXPECT_NEAR(log_jacobian, log_determinant<N>(u, transform), 1000 * c * (1 + std::abs(log_jacobian)))
        << name << " from " << u[0];
  }
}

TEST(Transforms, LogJacobiansAreThoseOfTheDerivatives) {
  expect_jacobian<1>("lower", [](auto&& u, auto* x, auto& j) { x[0] = transforms::lower(u(0), 2.0, j); });
  expect_jacobian<1>("upper", [](auto&& u, auto* x, auto& j) { x[0] = transforms::upper(u(0), -1.0, j); });
  expect_jacobian<1>("interval", [](auto&& u, auto* x, auto& j) { x[0] = transforms::interval(u(0), -1.0, 3.0, j); });
  expect_jacobian<4>("ordered", [](auto&& u, auto* x, auto& j) { transforms::ordered(4, u, x, j); });
  expect_jacobian<4>("positive_ordered", [](auto&& u, auto* x, auto& j) { transforms::positive_ordered(4, u, x, j); });
  expect_jacobian<4>("simplex", [](auto&& u, auto* x, auto& j) { transforms::simplex(5, u, x, j); });
  expect_jacobian<1>("simplex of two", [](auto&& u, auto* x, auto& j) { transforms::simplex(2, u, x, j); });
}

TEST(Transforms, ValuesKeepTheirConstraints) {
  for (const auto& u : points) {
    double x[5], j = 0;
    EXPECT_GT(transforms::lower(u[0], 2.0, j), 2.0);
    EXPECT_LT(transforms::upper(u[0], -1.0, j), -1.0);
    const double inside = transforms::interval(u[0], -1.0, 3.0, j);
    EXPECT_TRUE(inside > -1 && inside < 3);
    const auto at = [&](Index k) { return u[k]; };
    transforms::ordered(4, at, x, j);
    EXPECT_TRUE(x[0] < x[1] && x[1] < x[2] && x[2] < x[3]);
    transforms::positive_ordered(4, at, x, j);
    EXPECT_TRUE(0 < x[0] && x[0] < x[1] && x[1] < x[2] && x[2] < x[3]);
    transforms::simplex(5, at, x, j);
    double sum = 0;
    for (const double p : x) {
      EXPECT_GT(p, 0);
      sum += p;
    }
    EXPECT_NEAR(sum, 1, c);
  }
  double x[5], j = 0;
  transforms::simplex(
      5, [](Index) { return 0.0; }, x, j);
  for (const double p : x) EXPECT_NEAR(p, 0.2, c);
}

template <class P>
void read_all(P& p) {
  EXPECT_EQ(p.real("a"), 0.5);
  EXPECT_EQ(p.positive("b"), std::exp(-1));
  EXPECT_EQ(p.reals("c", 2)[1], 0.1);
  p.simplex("d", size<3>);
  EXPECT_EQ(p.ordered("e", size<2>)[0], -0.4);
  p.report("f", 7.0);
  p.report("g", 2, [](Index i) { return 10.0 * i; });
}

TEST(Parameters, AreReadInOrderAndRecorded) {
  const double u[] = {0.5, -1, 2, 0.1, 0.2, 0.3, -0.4, 0.9};
  Variables variables("all");
  Recorder finds(variables);
  Parameters<double> first({u}, {}, finds);
  read_all(first);
  EXPECT_EQ(variables.num_coordinates(), 8);
  ASSERT_EQ(variables.num_values(), 12);
  ASSERT_EQ(variables.all().size(), 7u);
  ASSERT_EQ(variables.parameters().size(), 5u);
  EXPECT_STREQ(variables.all()[3].recorded, "d");
  EXPECT_EQ(variables.all()[3].size, 3);
  EXPECT_FALSE(is_array(variables.all()[1].kind));
  double values[13] = {};
  values[12] = -1;
  Recorder recorder(variables, values);
  Parameters<double> p({u}, {}, recorder);
  read_all(p);
  p.finish(0.0);
  double weight[3], j = 0;
  transforms::simplex(
      3, [&](Index k) { return u[4 + k]; }, weight, j);
  EXPECT_EQ(values[6], weight[2]);
  EXPECT_EQ(values[11], 10.0);
  EXPECT_EQ(values[12], -1);
}

}  // namespace
}  // namespace kilochain
