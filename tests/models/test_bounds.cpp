// Parameters whose bounds depend on others, and those whose length data say: their values, their Jacobian against the
// determinant of differences, derivatives of every way; arrays to compute in.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "model/densities.hpp"
#include "tests/models/derivatives.hpp"

namespace kilochain {
namespace {

using testing_support::Evaluated;
using testing_support::expect_derivatives;

/// Every kind with sizes and bounds that are known when the model runs. flat: the Jacobian alone.
template <bool flat>
struct Bounded {
  static constexpr const char* meaning = "bounded";
  struct Data {
    DataArray limit;
  };
  static Data load(const model_detail::Nothing&, Loader& loader) { return {loader.put("limit", {0.5, 1, 2})}; }
  template <class P>
  KC_HD static scalar_of<P> log_density(P& p, const Data& d) {
    const Index n = d.limit.size();
    const auto alpha1 = p.interval("alpha1", 0, 1);
    const auto beta1 = p.interval("beta1", 0, 1 - alpha1);
    const auto low = p.lower("low", 2 * beta1);
    const auto high = p.upper("high", alpha1 - low);
    const auto lowers = p.lowers("lowers", n, d.limit);
    const auto uppers = p.uppers("uppers", n, lowers);
    const auto inside = p.intervals("inside", n, uppers, lowers);
    const auto cut = p.ordered("cut", n);
    const auto scale = p.positive_ordereds("scale", 2, n);
    const auto cuts = p.ordereds("cuts", 2, 2);
    const auto weight = p.simplex("weight", n);
    const auto weights = p.simplexes("weights", 2, n);
    const auto L = p.cholesky_corr("L", 4);
    if (flat) return 0.0;
    scalar_of<P> lp = normal_lp(low, high, 1 + alpha1) + normal_lp(beta1, 0, 1);
    const auto eta = p.array(n);
    for (Index i = 0; i < n; ++i) eta[i] = lowers[i] * inside[i] - uppers[i] + cut[i] * weight[i];
    const scalar_of<P> local[] = {alpha1, beta1, low};
    lp += normal_lp(dot(d.limit, eta), dot(d.limit, local), 2.0);
    for (Index r = 0; r < 2; ++r)
      for (Index i = 0; i < n; ++i) lp += log(weights(r, i)) * 2 - scale(r, i) - 0.1 * square(cut[i] - cuts(r, i % 2));
    for (Index i = 0; i < 4; ++i)
      for (Index j = 0; j <= i; ++j) lp += normal_lp(L(i, j), 0.1 * i, 0.5 + 0.1 * j);
    return lp;
  }
};
constexpr int coordinates = 4 + 9 + 3 + 6 + 4 + 2 + 4 + 6;

std::vector<double> point(double step) {
  std::vector<double> u(coordinates);
  for (std::size_t i = 0; i < u.size(); ++i) u[i] = 0.7 * std::sin(step + 2.3 * static_cast<double>(i));
  return u;
}

TEST(Bounds, NamesShapesAndWhatIsTheSameInEveryDraw) {
  Evaluated<Bounded<true>, double> model;
  EXPECT_EQ(model.info.dim, coordinates);
  const auto shape = [&](const std::string& name) {
    for (const auto& v : model.info.variables)
      if (v.name == name) return v.shape;
    return std::vector<std::size_t>{999};
  };
  using Shape = std::vector<std::size_t>;
  EXPECT_EQ(shape("beta1"), Shape{});
  EXPECT_EQ(shape("lowers"), Shape{3});
  EXPECT_EQ(shape("weight"), Shape{3});
  EXPECT_EQ(shape("weights"), (Shape{2, 3}));
  EXPECT_EQ(shape("L"), (Shape{4, 4}));
  EXPECT_EQ(model.info.names.back(), "L[3,3]");
  EXPECT_EQ(model.info.fixed,
            (std::vector<std::string>{"L[0,0]", "L[0,1]", "L[0,2]", "L[0,3]", "L[1,2]", "L[1,3]", "L[2,3]"}));
}

struct RecordedValues {
  std::map<std::string, double> at;
  template <class Model>
  RecordedValues(const Model& model, const std::vector<double>& u) {
    std::vector<double> values(model.info.names.size());
    model.info.constrain(u.data(), {}, values.data());
    for (std::size_t k = 0; k < values.size(); ++k) at[model.info.names[k]] = values[k];
  }
  double operator[](const std::string& name) const { return at.at(name); }
};

TEST(Bounds, ValuesKeepTheirConstraints) {
  Evaluated<Bounded<true>, double> model;
  for (const double step : {0.1, 1.1, 2.2, 3.3}) {
    auto u = point(step);
    for (double& x : u) x *= 5;
    const RecordedValues v(model, u);
    EXPECT_TRUE(0 < v["beta1"] && v["beta1"] < 1 - v["alpha1"]);
    EXPECT_GT(v["low"], 2 * v["beta1"]);
    EXPECT_LT(v["high"], v["alpha1"] - v["low"]);
    for (const auto i : {"[0]", "[1]", "[2]"}) {
      EXPECT_LT(v[std::string("uppers") + i], v[std::string("inside") + i]);
      EXPECT_LT(v[std::string("inside") + i], v[std::string("lowers") + i]);
    }
    EXPECT_GT(v["lowers[2]"], 2);
    EXPECT_TRUE(v["cut[0]"] < v["cut[1]"] && v["cuts[1,0]"] < v["cuts[1,1]"] && 0 < v["scale[1,0]"]);
    EXPECT_NEAR(v["weight[0]"] + v["weight[1]"] + v["weight[2]"], 1, 4 * 2.3e-16);
    EXPECT_NEAR(v["weights[1,0]"] + v["weights[1,1]"] + v["weights[1,2]"], 1, 4 * 2.3e-16);
    for (int i = 0; i < 4; ++i) {
      double squares = 0;
      for (int j = 0; j < 4; ++j) {
        const double x = v["L[" + std::to_string(i) + "," + std::to_string(j) + "]"];
        squares += x * x;
        EXPECT_TRUE(j > i ? x == 0 : j < i || x > 0);
      }
      EXPECT_NEAR(squares, 1, 20 * 2.3e-16);
    }
  }
}

/// What is left out follows from the others: the last weight of a simplex, L's diagonal.
TEST(Bounds, TheJacobianIsThatOfDifferences) {
  Evaluated<Bounded<true>, double> model;
  std::vector<std::string> free;
  for (const auto& name : model.info.names) {
    const bool last = name == "weight[2]" || name == "weights[0,2]" || name == "weights[1,2]";
    const bool upper = name[0] == 'L' && name[2] <= name[4];
    if (!last && !upper) free.push_back(name);
  }
  ASSERT_EQ(free.size(), static_cast<std::size_t>(coordinates));
  for (const double step : {0.1, 1.1, 2.2}) {
    const auto u = point(step);
    Eigen::MatrixXd jacobian(coordinates, coordinates);
    for (int j = 0; j < coordinates; ++j) {
      auto a = u, b = u;
      a[static_cast<std::size_t>(j)] += 1e-5, b[static_cast<std::size_t>(j)] -= 1e-5;
      const RecordedValues up(model, a), down(model, b);
      for (int i = 0; i < coordinates; ++i) {
        const auto& name = free[static_cast<std::size_t>(i)];
        jacobian(i, j) = (up[name] - down[name]) / 2e-5;
      }
    }
    // An entry's error is 1e-10 (rounding) + 1e-10 (curvature) of it; the determinant has 38 rows.
    EXPECT_NEAR(model.at(u, Needs::value), std::log(std::abs(jacobian.determinant())), 38 * 1e-8) << step;
  }
}

TEST(Bounds, DerivativesOfEveryWay) {
  expect_derivatives<Bounded<true>>(point(0.1));
  expect_derivatives<Bounded<false>>(point(0.1));
  expect_derivatives<Bounded<false>>(point(1.3));
}

/// A user's own change of variables: x = sinh u, a normal density of x, is one of u.
struct OwnJacobian {
  static constexpr const char* meaning = "own Jacobian";
  template <class P>
  static scalar_of<P> log_density(P& p, const model_detail::Nothing&) {
    const auto u = p.real("u");
    p.add_jacobian(log(0.5 * (exp(u) + exp(-u))));
    return normal_lp(0.5 * (exp(u) - exp(-u)), 0.0, 1.0);
  }
};
TEST(Bounds, AnOwnJacobianIsAdded) {
  Evaluated<OwnJacobian, double> model;
  double sum = 0;
  for (int k = -400; k <= 400; ++k) sum += 0.01 * std::exp(model.at({0.01 * k}, Needs::value));
  EXPECT_NEAR(sum, 1, 1e-12);  // the trapezoidal rule of what is smooth and vanishes at the ends
}

/// Arrays that were not asked for in the first evaluation have no room; borrowed room is used again.
template <bool more>
struct Borrows {
  static constexpr const char* meaning = "borrows";
  template <class P>
  static scalar_of<P> log_density(P& p, const model_detail::Nothing&) {
    const auto a = p.real("a");
    scalar_of<P> lp = 0.0;
    for (int i = 0; i < 100; ++i) {
      const auto borrowed = p.borrow();
      const auto x = p.matrix(2, 3);
      x(1, 2) = a * i;
      lp -= square(x(1, 2)) + x(0, 1);
    }
    if (more && value_of(a) > 20) p.array(7, "late")[6] = a;
    return lp;
  }
};
TEST(Bounds, RoomIsWhatTheFirstEvaluationTook) {
  Evaluated<Borrows<true>, double> model;
  EXPECT_EQ(model.data.layout.room, 6);
  EXPECT_EQ(model.at({1}, Needs::value), -328350);
  try {
    model.at({21}, Needs::value);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "model \"borrows\" takes more room for arrays than before (7 numbers for \"late\", 6 in all before). "
                 "Do its arrays have the same lengths every time?");
  }
}

}  // namespace
}  // namespace kilochain
