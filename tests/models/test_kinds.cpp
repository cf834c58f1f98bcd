// Models with a gradient of their own, and with none; and one whose parameters are all of a kind.
#include <gtest/gtest.h>

#include <cmath>

#include "model/densities.hpp"
#include "tests/models/evaluated.hpp"

namespace kilochain {
namespace {

using testing_support::Evaluated;

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
    return dirichlet_lp(weight, alpha);
  }
};
struct Empty {
  static constexpr const char* meaning = "nothing";
  template <class P>
  static double log_density(P&, const model_detail::Nothing&) {
    return 0;
  }
};

TEST(Kinds, OwnGradientIsUsedInBothPrecisions) {
  Evaluated<OwnGradient, double> model;
  std::vector<double> g;
  EXPECT_EQ(model.at({1, 2, -0.5}, Needs::gradient, &g), -2 * 5.25);
  EXPECT_EQ(g, (std::vector<double>{-4, -8, 2}));
  EXPECT_EQ(model.info.offers, Needs::gradient);
  EXPECT_EQ(model.info.names[2], "x[2]");
  Evaluated<OwnGradient, float> single;
  std::vector<float> f;
  EXPECT_EQ(single.at({1, 2, -0.5f}, Needs::gradient, &f), -2 * 5.25);
  EXPECT_EQ(f, (std::vector<float>{-4, -8, 2}));
}

TEST(Kinds, ValueOnlyOffersNoGradient) {
  Evaluated<ValueOnly, double> model;
  EXPECT_EQ(model.at({3, 4}, Needs::value), -12.5);
  EXPECT_EQ(model.info.offers, Needs::value);
}

/// A flat density on the simplex: in coordinates it is the Jacobian, whose largest value is at the centre, u = 0.
TEST(Kinds, TheJacobianIsAdded) {
  Evaluated<Weights, double> model;
  std::vector<double> g;
  const double lp = model.at({0, 0}, Needs::gradient, &g);
  EXPECT_NEAR(lp, std::log(2.0) + 3 * std::log(1.0 / 3), 50 * 2.3e-16);
  EXPECT_NEAR(g[0], 0, 50 * 2.3e-16);
  EXPECT_NEAR(g[1], 0, 50 * 2.3e-16);
  EXPECT_EQ(model.info.dim, 2);
  EXPECT_EQ(model.info.names.size(), 3u);
}

TEST(Kinds, AModelWithoutParametersIsRefused) { EXPECT_THROW((Evaluated<Empty, double>()), Error); }

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
  // What a model without Settings of its own has: the section "data", or the whole file.
  const auto of_file = [&] { DataFile{path}.json().numbers("y", 2); };
  EXPECT_EQ(message("{\"data\": {\"y\": [1, 2]}, \"y\": [1]}", of_file), "no error");
  EXPECT_EQ(message("{\"y\": [1, 2]}", of_file), "no error");
  EXPECT_NE(message("{\"y\": [1]}", of_file).find("1 numbers, not 2"), std::string::npos);
  EXPECT_THROW(DataFile{}.json(), Error);
  EXPECT_NE(message("", [] { JsonData("/nonexistent/file.json"); }).find("no such file"), std::string::npos);
}

TEST(Loader, PutsArraysThatKnowTheirShape) {
  const Context context = cpu_context(1);
  Arena<double> arena(context);
  Loader loader(arena);
  const std::vector<double> six{1, 2, 3, 4, 5, 6};
  const DataArray y = loader.put(std::string("y"), six);
  EXPECT_EQ(y.size(), 6);
  EXPECT_EQ(y[5], 6);
  EXPECT_STREQ(y.name(), "y");
  EXPECT_EQ(std::vector<double>(y.begin(), y.end()), six);
  const DataMatrix x = loader.put("x", six, 2);
  EXPECT_EQ(x.rows(), 3);
  EXPECT_EQ(x.columns(), 2);
  EXPECT_EQ(x(2, 0), 5);
  EXPECT_EQ(x.row(1)[1], 4);
  const double w[] = {10, 1};
  EXPECT_EQ(dot(w, x.row(2), 2), 56);
  EXPECT_THROW(loader.put("x", six, 4), Error);
  EXPECT_THROW(loader.put("x", six, 0), Error);
}

}  // namespace
}  // namespace kilochain
