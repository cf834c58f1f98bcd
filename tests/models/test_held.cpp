// Models that are wrong: they read other parameters than the first time, or past the end of an array. On the CPU each
// is an Error that names what and where; on a device the density is not defined and nothing outside the arrays is
// touched.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "model/densities.hpp"
#include "tests/models/evaluated.hpp"

namespace kilochain {
namespace {

using testing_support::Evaluated;

/// Lanes that each have one direction, as on a device.
struct LaneTeam : HostTeam {
  static constexpr bool on_host = false;
};

template <class F>
std::string message(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    return error.what();
  }
  return "no error";
}

#define EXPECT_IN(part, text) EXPECT_NE((text).find(part), std::string::npos) << (text)

/// Reads a, then whatever `Wrong` reads where a > 20.
template <class Wrong>
struct Changing {
  static constexpr const char* meaning = "changing";
  template <class P>
  static typename P::Scalar log_density(P& p, const model_detail::Nothing&) {
    const auto a = p.real("a");
    if (value_of(a) > 20) return Wrong::read(p, a);
    auto lp = normal_lp(a, 0.0, 1.0) + normal_lp(p.positive("b"), 0.0, 1.0);
    const auto c = p.reals("c", 3);
    for (int i = 0; i < 3; ++i) lp += normal_lp(c[i], 0.0, 1.0);
    if (p.recording()) p.report("d", 2.0 * a);
    return lp;
  }
};
struct More {
  template <class P, class T>
  static T read(P& p, const T& a) {
    const T b = p.positive("b");
    const auto c = p.reals("c", 3);
    return a + b + c[0] + p.real("extra");
  }
};
struct Fewer {
  template <class P, class T>
  static T read(P& p, const T& a) {
    return a + p.positive("b");
  }
};
struct OtherKind {
  template <class P, class T>
  static T read(P& p, const T& a) {
    const T b = p.real("b");
    return a + b + p.reals("c", 3)[0];
  }
};
struct OtherName {
  template <class P, class T>
  static T read(P& p, const T& a) {
    const T b = p.positive("beta");
    return a + b + p.reals("c", 3)[0];
  }
};
struct OtherSize {
  template <class P, class T>
  static T read(P& p, const T& a) {
    const T b = p.positive("b");
    return a + b + p.reals("c", 1000)[0];
  }
};
struct OtherOrder {
  template <class P, class T>
  static T read(P& p, const T& a) {
    const auto c = p.reals("c", 3);
    return a + c[0] + p.positive("b");
  }
};

template <class Wrong, class Real>
std::string changed() {
  Evaluated<Changing<Wrong>, Real> model;
  EXPECT_EQ(model.data.n, 5);
  const std::vector<Real> right{1, 2, 3, 4, 5}, wrong{21, 2, 3, 4, 5}, direction(5, Real(1));
  std::vector<Real> g;
  const std::vector<double> at(wrong.begin(), wrong.end());
  const std::string text = message([&] { model.at(wrong, Needs::value); });
  for (const bool tape : {false, true}) {  // and what was right stays right after an Error
    model.data.by_tape = tape;
    for (const Needs needs : {Needs::gradient, Needs::hessian_vector}) {
      EXPECT_EQ(message([&] { model.at(wrong, needs, &g, direction); }), text);
      model.at(right, needs, &g, direction);
      for (const Real x : g) EXPECT_TRUE(std::isfinite(x));
    }
  }
  const std::string what = text.substr(0, text.find(" ("));  // what stood there may be a report
  EXPECT_IN(what, message([&] { model.info.check(at.data()); }));
  std::vector<double> values(model.info.names.size());
  EXPECT_IN(what, message([&] { model.info.constrain(at.data(), {}, values.data()); }));
  for (const Needs needs : {Needs::value, Needs::gradient}) {
    double lp = NAN;  // an array that is not there has no elements: on a device NaN as well
    message([&] { lp = model.template at<LaneTeam>(wrong, needs, &g); });
    EXPECT_FALSE(std::isfinite(lp));
    EXPECT_TRUE(std::isfinite(model.template at<LaneTeam>(right, needs, &g)));
  }
  return text;
}
template <class Wrong>
std::string changed() {
  const std::string text = changed<Wrong, double>();
  EXPECT_EQ((changed<Wrong, float>()), text);
  return text;
}

TEST(Held, AnEvaluationThatReadsOtherParametersIsAnErrorThatNamesThem) {
  const std::string more = changed<More>();
  EXPECT_IN("model \"changing\" reads real \"extra\", which it did not read there before", more);
  EXPECT_IN("(before it read no more; it reads real \"a\", positive \"b\", reals \"c\" of 3)", more);
  EXPECT_IN("put the condition around their use?", more);
  EXPECT_IN("does not read reals \"c\" of 3, which it read before (it reads real \"a\"", changed<Fewer>());
  EXPECT_IN("reads real \"b\", which it did not read there before (before it was positive \"b\"", changed<OtherKind>());
  EXPECT_IN("reads reals \"c\" of 1000, which it did not read there before (before it was reals \"c\" of 3",
            changed<OtherSize>());
  EXPECT_IN("reads reals \"c\" of 3, which it did not read there before (before it was positive \"b\"",
            changed<OtherOrder>());
}

/// A device does not read names: it has none. Its draws are recorded on the host, which does.
TEST(Held, AnotherNameIsAnErrorOnTheHost) {
  Evaluated<Changing<OtherName>, double> model;
  const std::string text = message([&] { model.at({21, 2, 3, 4, 5}, Needs::gradient); });
  EXPECT_IN("reads positive \"beta\", which it did not read there before (before it was positive \"b\"", text);
  const double x[] = {21, 2, 3, 4, 5};
  double values[6];
  EXPECT_EQ(message([&] { model.info.constrain(x, {}, values); }), text);
}

/// Equal texts in different places are one name; and texts need not outlive the call.
struct Numbered {
  static constexpr const char* meaning = "numbered";
  template <class P>
  static typename P::Scalar log_density(P& p, const model_detail::Nothing&) {
    typename P::Scalar lp = 0.0;
    for (int i = 0; i < 4; ++i) lp += normal_lp(p.real(std::string("a" + std::to_string(i)).c_str()), 0.0, 1.0);
    return lp;
  }
};
TEST(Held, NamesAreComparedAsTexts) {
  Evaluated<Numbered, double> model;
  EXPECT_EQ(model.info.names, (std::vector<std::string>{"a0", "a1", "a2", "a3"}));
  std::vector<double> g;
  EXPECT_EQ(model.at({1, 1, 1, 1}, Needs::gradient, &g), 4 * (-0.5 - 0.5 * log_2pi));
  EXPECT_EQ(g, (std::vector<double>{-1, -1, -1, -1}));
}

template <int twice>
struct SameName {
  static constexpr const char* meaning = "twice";
  template <class P>
  static typename P::Scalar log_density(P& p, const model_detail::Nothing&) {
    const auto mu = p.real("mu");
    if constexpr (twice == 0) return mu + p.real("mu");
    if constexpr (twice == 1) return mu + p.positive("mu");
    if constexpr (twice == 2) p.report("mu", 1.0);
    if constexpr (twice == 3) return mu + p.reals("z", 0).size();
    return mu;
  }
};
TEST(Held, ANameStandsForOneVariable) {
  EXPECT_EQ(message([] { Evaluated<SameName<0>, double>(); }),
            "model \"twice\": two variables are named \"mu\" (real \"mu\", then real \"mu\"). "
            "Read a parameter once and give each variable a name of its own?");
  EXPECT_IN("(real \"mu\", then positive \"mu\")", message([] { Evaluated<SameName<1>, double>(); }));
  EXPECT_IN("(real \"mu\", then report \"mu\")", message([] { Evaluated<SameName<2>, double>(); }));
  EXPECT_IN("an array has at least one element", message([] { Evaluated<SameName<3>, double>(); }));
}

/// Index `at` of parameters (0), constrained ones (1), data (2), a matrix (3, 4), in a report (5), a dot (6, 7), where
/// a > 0.
template <int where, int index>
struct PastTheEnd {
  static constexpr const char* meaning = "past the end";
  struct Data {
    DataArray y;
    DataMatrix x;
  };
  static Data load(const model_detail::Nothing&, Loader& loader) {
    return {loader.put("y", {1, 2, 3}), loader.put("x", {1, 2, 3, 4, 5, 6}, 2)};
  }
  template <class P>
  static typename P::Scalar log_density(P& p, const Data& d) {
    const auto a = p.real("a");
    const auto b = p.reals("b", 3);
    const auto c = p.simplex("c", size<3>);
    auto lp = normal_lp(a, 0.0, 1.0) + normal_lp(b[0], 0.0, 1.0) + log(c[2]) + d.y[2] + d.x(2, 1);
    const bool wrong = value_of(a) > 0;
    p.report("e", wrong);
    if (!wrong) return lp;
    if constexpr (where == 0) lp += b[index];
    if constexpr (where == 1) lp += c[index];
    if constexpr (where == 2) lp += d.y[index];
    if constexpr (where == 3) lp += d.x(index, 0);
    if constexpr (where == 4) lp += d.x(0, index);
    if constexpr (where == 6) lp += dot(d.y.data(), b, index);
    if constexpr (where == 7) lp += dot(d.x.row(0), b);
    return lp;
  }
};

template <int where, int index>
std::string past() {
  Evaluated<PastTheEnd<where, index>, double> model;
  std::vector<double> right(6), wrong(6), g;
  right[0] = -1, wrong[0] = 1;
  const std::string text = message([&] { model.at(wrong, Needs::value); });
  for (const bool tape : {false, true}) {
    model.data.by_tape = tape;
    EXPECT_EQ(message([&] { model.at(wrong, Needs::gradient, &g); }), text);
    EXPECT_TRUE(std::isfinite(model.at(right, Needs::gradient, &g)));
  }
  EXPECT_EQ(message([&] { model.info.check(wrong.data()); }), text);
  EXPECT_EQ(message([&] { model.info.check(right.data()); }), "no error");
  return text;
}

TEST(Held, AnIndexOutOfRangeIsAnErrorThatNamesTheArray) {
  EXPECT_EQ((past<0, 3>()),
            "model: index 3 of \"b\" is out of range (it has 3 elements, 0 to 2). "
            "Does a loop in log_density run too far, or is the array shorter than it should be?");
  EXPECT_IN("index -1 of \"b\"", (past<0, -1>()));
  EXPECT_IN("index 1000000000 of \"b\"", (past<0, 1000000000>()));
  EXPECT_IN("index 3 of \"c\" is out of range (it has 3", (past<1, 3>()));
  EXPECT_IN("index -1 of \"c\"", (past<1, -1>()));
  EXPECT_IN("index 3 of \"y\" is out of range (it has 3", (past<2, 3>()));
  EXPECT_IN("index -2147483647 of \"y\"", (past<2, -2147483647>()));
  EXPECT_IN("index 3 of \"x\" is out of range (it has 3", (past<3, 3>()));
  EXPECT_IN("index 2 of \"x\" is out of range (it has 2", (past<4, 2>()));
  EXPECT_IN("index 3 of \"b\" is out of range", (past<6, 4>()));
  EXPECT_IN("\"x\" has the wrong length for a dot product (2 elements, 3 on the other side)", (past<7, 0>()));
}

/// docs/add_a_target.md shows what the program says.
TEST(Held, TheTutorialShowsTheMessages) {
  std::ifstream in(KILOCHAIN_SOURCE_DIR "/docs/add_a_target.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  EXPECT_IN("\n" + changed<More>() + "\n", page);
  EXPECT_IN("\n" + (past<0, 3>()) + "\n", page);
}

/// What is only reported is computed when draws are recorded; the check before a run does so too.
struct WrongReport {
  static constexpr const char* meaning = "report";
  template <class P>
  static typename P::Scalar log_density(P& p, const model_detail::Nothing&) {
    const auto b = p.reals("b", 2);
    p.report("twice", 2, [&](Index i) { return 2 * b[value_of(b[0]) > 0 ? i + 1 : i]; });
    return normal_lp(b[0], 0.0, 1.0) + normal_lp(b[1], 0.0, 1.0);
  }
};
TEST(Held, ReportsAreCheckedToo) {
  Evaluated<WrongReport, double> model;
  const double right[] = {-1, 1}, wrong[] = {1, 1};
  EXPECT_NO_THROW(model.info.check(right));
  EXPECT_TRUE(std::isfinite(model.at({1, 1}, Needs::value)));
  EXPECT_IN("index 2 of \"b\"", message([&] { model.info.check(wrong); }));
}

/// Models with plain pointers.
template <int wrong>
struct Pointers {
  static constexpr const char* meaning = "pointers";
  struct Data {};
  static int dim(const Data&) { return 3; }
  static double log_density_and_gradient(const Data&, const double* x, double* g) {
    double lp = 0;
    for (int i = 0; i < (wrong == 1 ? 4 : 3); ++i) lp -= 0.5 * x[i] * x[i];
    for (int i = 0; i < (wrong == 2 ? 4 : wrong == 3 ? 2 : 3); ++i) g[i] = -x[i];
    if (wrong == 4) g[1] = -x[-1];
    return lp;
  }
};
struct PointersForValues {
  static constexpr const char* meaning = "values";
  struct Data {};
  static int dim(const Data&) { return 2; }
  static double log_density(const Data&, const double* x) { return -x[0] * x[0] - x[1] * x[2]; }
};
template <class Model>
std::string checked() {
  Evaluated<Model, double> model;
  const double x[] = {1, 2, 3};
  return message([&] { model.info.check(x); });
}

TEST(Held, PlainPointersAreWatched) {
  EXPECT_EQ(checked<Pointers<0>>(), "no error");
  EXPECT_EQ(
      checked<Pointers<1>>(),
      "model \"pointers\" reads beside its coordinates (the value depends on what stands there; it has coordinates "
      "0 to 2). Does a loop run too far, or is dim(data) another number?");
  EXPECT_IN("model \"pointers\" writes gradient[3], which is not there", checked<Pointers<2>>());
  EXPECT_IN("does not set gradient[2]", checked<Pointers<3>>());
  EXPECT_IN("gradient[1] depends on what stands there", checked<Pointers<4>>());
  EXPECT_IN("model \"values\" reads beside its coordinates", checked<PointersForValues>());
}

}  // namespace
}  // namespace kilochain
