// Models with a gradient of their own, and with none; and one whose parameters are all of a kind.
#include <gtest/gtest.h>

#include <cmath>

#include "host/run/cpu_target.hpp"
#include "model/densities.hpp"
#include "model/model.hpp"

namespace kilochain {
namespace {

struct OwnGradient {
  static constexpr const char* meaning = "normal, with its gradient";
  struct Data {
    double precision = 4;
  };
  static Data load(const model_detail::Nothing&, Loader&) { return {}; }
  static int dim(const Data&) { return 3; }
  static double log_density_and_gradient(const Data& d, const double* x, double* gradient) {
    double lp = 0;
    for (int i = 0; i < 3; ++i) gradient[i] = -d.precision * x[i], lp -= 0.5 * d.precision * x[i] * x[i];
    return lp;
  }
};
struct ValueOnly {
  static constexpr const char* meaning = "normal, value only";
  struct Data {};
  static int dim(const Data&) { return 2; }
  static double log_density(const Data&, const double* x) { return -0.5 * (x[0] * x[0] + x[1] * x[1]); }
};
struct Weights {
  static constexpr const char* meaning = "point of a simplex";
  template <class P>
  static auto log_density(P& p, const model_detail::Nothing&) {
    const auto weight = p.simplex("weight", size<3>);
    const double alpha[] = {1, 1, 1};
    return dirichlet_lp<3>(weight, alpha);
  }
};
struct Empty {
  static constexpr const char* meaning = "nothing";
  template <class P>
  static double log_density(P&, const model_detail::Nothing&) {
    return 0;
  }
};

template <class Model, class Real>
void evaluate(Needs needs, std::vector<Real> x, double& lp, std::vector<Real>& gradient, TargetInfo& info) {
  using T = ModelTarget<Model, Real>;
  const Context context = cpu_context(1);
  Arena<Real> arena(context);
  const auto data = T::prepare({}, arena, info);
  std::vector<Real> direction(x.size()), hessian(x.size()), scratch(T::scratch(data));
  gradient.assign(x.size(), 0);
  T::evaluate(HostTeam{}, data, needs, Query<Real>{x.data(), direction.data(), &needs},
              Reply<Real>{&lp, gradient.data(), hessian.data()}, scratch.data());
}

TEST(Kinds, OwnGradientIsUsedInBothPrecisions) {
  double lp = 0;
  TargetInfo info;
  std::vector<double> g;
  evaluate<OwnGradient, double>(Needs::gradient, {1, 2, -0.5}, lp, g, info);
  EXPECT_EQ(lp, -2 * 5.25);
  EXPECT_EQ(g, (std::vector<double>{-4, -8, 2}));
  EXPECT_EQ(info.offers, Needs::gradient);
  EXPECT_EQ(info.names[2], "x[2]");
  std::vector<float> f;
  evaluate<OwnGradient, float>(Needs::gradient, {1, 2, -0.5f}, lp, f, info);
  EXPECT_EQ(f, (std::vector<float>{-4, -8, 2}));
}

TEST(Kinds, ValueOnlyOffersNoGradient) {
  double lp = 0;
  TargetInfo info;
  std::vector<double> g;
  evaluate<ValueOnly, double>(Needs::value, {3, 4}, lp, g, info);
  EXPECT_EQ(lp, -12.5);
  EXPECT_EQ(info.offers, Needs::value);
}

/// A flat density on the simplex: in coordinates it is the Jacobian, whose largest value is at the centre, u = 0.
TEST(Kinds, TheJacobianIsAdded) {
  double lp = 0;
  TargetInfo info;
  std::vector<double> g;
  evaluate<Weights, double>(Needs::gradient, {0, 0}, lp, g, info);
  EXPECT_NEAR(lp, std::log(2.0) + 3 * std::log(1.0 / 3), 50 * 2.3e-16);
  EXPECT_NEAR(g[0], 0, 50 * 2.3e-16);
  EXPECT_NEAR(g[1], 0, 50 * 2.3e-16);
  EXPECT_EQ(info.dim, 2);
  EXPECT_EQ(info.names.size(), 3u);
}

TEST(Kinds, AModelWithoutParametersIsRefused) {
  double lp;
  TargetInfo info;
  std::vector<double> g;
  EXPECT_THROW((evaluate<Empty, double>(Needs::value, {}, lp, g, info)), Error);
}

TEST(Loader, SaysWhatIsWrongWithData) {
  const std::string path = testing::TempDir() + "kilochain_model.json";
  const auto message = [&](const char* text, auto&& read) -> std::string {
    std::FILE* f = std::fopen(path.c_str(), "w");
    std::fputs(text, f);
    std::fclose(f);
    try {
      read();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::data);
      return error.what();
    }
    return "no error";
  };
  const auto y = [&] { JsonData(path, "data").numbers("y", 2); };
  EXPECT_NE(message("{", y).find("not JSON"), std::string::npos);
  EXPECT_NE(message("{\"a\": 1}", y).find("no section \"data\""), std::string::npos);
  EXPECT_NE(message("{\"data\": {\"x\": [1]}}", y).find("no data \"y\" (there are x)"), std::string::npos)
      << message("{\"data\": {\"x\": [1]}}", y);
  EXPECT_NE(message("{\"data\": {\"y\": [1, \"a\"]}}", y).find("y[1] is not a number"), std::string::npos);
  EXPECT_NE(message("{\"data\": {\"y\": [1]}}", y).find("1 numbers, not 2"), std::string::npos);
  EXPECT_EQ(message("{\"data\": {\"y\": [1, 2]}}", y), "no error");
  EXPECT_NE(message("", [] { JsonData("/nonexistent/file.json"); }).find("no such file"), std::string::npos);
}

}  // namespace
}  // namespace kilochain
