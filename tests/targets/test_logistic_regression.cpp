// The posterior itself: published check values, derivatives against differences, evaluators against each other,
// extremes.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <limits>

#include "targets/logistic_regression.hpp"
#include "tests/targets/logistic_chains.hpp"

namespace kilochain::testing_support {
namespace {

using Vector = Eigen::VectorXd;

Eigen::Map<Vector> map(double* v, Index n) { return {v, n}; }

/// Newton's method to a gradient below `small`, its linear systems by conjugate gradients on the target's own Hessian
/// products. Returns lp there.
double climb(LogisticChains<double>& t, double small) {
  const auto gradient = [&] {
    t.ask(Needs::gradient), t.evaluate();
    return Vector(map(t.gradient.data(), t.n));
  };
  for (int newton = 0; newton < 30; ++newton) {
    Vector r = gradient(), step = Vector::Zero(t.n), p = r;
    if (r.norm() < small) break;
    const double goal = r.squaredNorm() * std::min(1e-4, r.norm());
    for (int k = 0; k < 3 * t.n && r.squaredNorm() > goal; ++k) {
      map(t.direction.data(), t.n) = p;
      t.ask(Needs::hessian_vector), t.evaluate();
      const Vector hp = -map(t.product.data(), t.n);
      const double square = r.squaredNorm(), a = square / p.dot(hp);
      step += a * p, r -= a * hp;
      p = r + r.squaredNorm() / square * p;
    }
    map(t.point.data(), t.n) += step;
  }
  gradient();
  return t.lp.data()[0];
}

struct Check {
  const char* name;
  double at_zero, at_map, first, bias;
};

/// The prior's precision is 1, so that a gradient below `small` means weights closer than that, and lp within its
/// square.
void check(const Check& c, const SettingTexts& texts, const std::string& evaluator, double small = 1e-8) {
  SCOPED_TRACE(std::string(c.name) + " " + evaluator);
  LogisticChains<double> t(texts, evaluator, 1);
  t.evaluate();
  EXPECT_NEAR(t.lp.data()[0], c.at_zero, 1e-9 * std::abs(c.at_zero));
  EXPECT_NEAR(climb(t, small), c.at_map, 1e-9 * std::abs(c.at_map));
  EXPECT_NEAR(t.point.data()[0], c.first, small);
  EXPECT_NEAR(t.point.data()[t.n - 1], c.bias, small);
}

TEST(LogisticRegression, CheckValuesOfPublicSets) {
  const std::string folder = shared_data();
  if (folder.empty()) GTEST_SKIP();
  const Check checks[] = {{"australian", -492.0556325844, -229.7109408754, 0.0055276040, -0.3155677858},
                          {"german", -716.1206438901, -492.1147077985, -0.7152849051, -1.1650107152},
                          {"heart", -200.0148782181, -104.4647508774, -0.1266286979, -0.2447824568},
                          {"pima", -376.1058083235, -241.9626980868, 0.3953383547, -0.9693888659},
                          {"ripley", -176.0436107396, -87.9646424459, 0.8730546212, -0.1346485429},
                          {"caravan", -4114.5315990756, -1212.5947501190, 0.5064484419, -3.2809226861}};
  for (const Check& c : checks)
    for (const char* evaluator : logistic_evaluators)
      if (std::string(c.name) != "caravan" ||
          std::string(evaluator) != "team")  // slow there, and covered by the others
        check(c, {{"data", folder + "/" + c.name + ".csv"}}, evaluator);
}

TEST(LogisticRegression, CheckValuesOfImages) {
  const std::string folder = shared_data();
  if (folder.empty()) GTEST_SKIP();
  const SettingTexts texts = {{"images", folder + "/mnist56-images-idx3-ubyte.gz"},
                              {"labels", folder + "/mnist56-labels-idx1-ubyte.gz"},
                              {"digits", "5,6"}};
  for (const char* evaluator : {"blocked", "sparse"})
    check({"mnist", -8580.9626289349, -1142.4728079023, 0, 2.7685377399}, texts, evaluator, 1e-5);
  // 145 pixels are 0 in all images: there the posterior is the prior, whatever the other weights are.
  LogisticChains<double> t(texts, "auto", 1);
  EXPECT_EQ(t.target->evaluation().rfind("sparse (auto)", 0), 0u) << t.target->evaluation();
  t.scatter(0.1);
  t.evaluate();
  const Design design = load_idx(texts.at("images"), texts.at("labels"), 5, 6, true);
  int black = 0;
  for (Index j = 0; j < t.n; ++j) {
    bool zero = true;
    for (std::size_t i = 0; i < design.rows; ++i) zero = zero && design.x[i * design.columns + j] == 0;
    if (zero) {
      EXPECT_EQ(t.gradient.data()[j], -t.point.data()[j]);
    }
    black += zero;
  }
  EXPECT_EQ(black, 145);
  EXPECT_EQ(t.n, 785);
  EXPECT_EQ(t.target->info().names.back(), "bias");
  EXPECT_EQ(t.target->info().constants.size(), 1u);  // x would be 71 MB
}

TEST(LogisticRegression, DerivativesMatchDifferences) {
  const ScratchFiles files;
  SettingTexts texts = generated_logistic(files, 65, 17);
  texts["prior_sd"] = "0.7";
  for (const char* evaluator : logistic_evaluators) {
    SCOPED_TRACE(evaluator);
    LogisticChains<double> t(texts, evaluator, 1);
    t.scatter(0.5);
    const double h =
        1e-5;  // error of a central difference: h^2/6 of a third derivative (at most some 65) + eps |lp| / h
    const Vector w = map(t.point.data(), t.n), v = map(t.direction.data(), t.n);
    t.evaluate();
    const Vector g = map(t.gradient.data(), t.n);
    t.ask(Needs::hessian_vector), t.evaluate();
    const Vector hv = map(t.product.data(), t.n);
    t.ask(Needs::gradient);
    double lp[2];
    Vector slope[2];
    for (int side = 0; side < 2; ++side) {
      map(t.point.data(), t.n) = w + (side ? h : -h) * v;
      t.evaluate();
      lp[side] = t.lp.data()[0], slope[side] = map(t.gradient.data(), t.n);
    }
    EXPECT_NEAR((lp[1] - lp[0]) / (2 * h), g.dot(v), 1e-7 * v.norm() * g.norm());
    EXPECT_LT(((slope[1] - slope[0]) / (2 * h) - hv).norm(), 1e-7 * hv.norm());
  }
}

/// By the definition, in long double.
struct Plain {
  long double lp = 0;
  std::vector<long double> gradient, product;
};
template <class Real>
Plain plain(const Design& d, const Real* w, const Real* v) {
  Plain p;
  const std::size_t n = d.columns;
  p.gradient.resize(n), p.product.resize(n);
  for (std::size_t i = 0; i < d.rows; ++i) {
    long double t = 0, s = 0;
    for (std::size_t j = 0; j < n; ++j)
      t += static_cast<long double>(Real(d.x[i * n + j])) * w[j],
          s += static_cast<long double>(Real(d.x[i * n + j])) * v[j];
    const long double u = d.y[i] == 1 ? t : -t;
    p.lp += u > 0 ? -std::log1p(std::exp(-u)) : u - std::log1p(std::exp(u));
    const long double sigma = 1 / (1 + std::exp(-t)), weight = sigma / (1 + std::exp(t));
    for (std::size_t j = 0; j < n; ++j)
      p.gradient[j] += d.x[i * n + j] * (d.y[i] - sigma), p.product[j] -= d.x[i * n + j] * weight * s;
  }
  for (std::size_t j = 0; j < n; ++j) {
    p.lp -= 0.5L * w[j] * w[j] + 0.5L * std::log(2 * 3.14159265358979323846L);
    p.gradient[j] -= w[j], p.product[j] -= v[j];
  }
  return p;
}

template <class Real>
void agrees_with_the_definition(const SettingTexts& texts, const std::string& evaluator) {
  const Design design = load_labelled_csv(texts.at("data"), {}, false, false);
  SCOPED_TRACE(std::to_string(design.rows) + " x " + std::to_string(design.columns) + " " + evaluator);
  LogisticChains<Real> t(texts, evaluator, 3);
  t.scatter(0.4);
  t.evaluate();
  t.ask(Needs::hessian_vector), t.evaluate();
  // Rounding: a sum of `rows` terms of size <= `largest`, each of a logit of `columns` terms.
  const double largest = std::max(5.0, *std::max_element(design.x.begin(), design.x.end()));
  const double bound =
      largest * static_cast<double>(design.rows + design.columns) * std::numeric_limits<Real>::epsilon();
  for (Index c = 0; c < 3; ++c) {
    const Plain p = plain(design, t.at(t.point, c), t.at(t.direction, c));
    EXPECT_NEAR(t.lp.data()[c], static_cast<double>(p.lp), bound * 2);
    for (Index j = 0; j < t.n; ++j) {
      const std::size_t k = static_cast<std::size_t>(j);
      EXPECT_NEAR(t.at(t.gradient, c)[j], static_cast<double>(p.gradient[k]), bound);
      EXPECT_NEAR(t.at(t.product, c)[j], static_cast<double>(p.product[k]), bound * 2);
    }
    for (std::size_t j = static_cast<std::size_t>(t.n); j < t.row; ++j)
      EXPECT_EQ(t.at(t.gradient, c)[j], 0) << "padding written";
  }
}
template <class Real>
void agree_with_the_definition(const ScratchFiles& files) {
  for (const std::size_t rows : {2, 31, 32, 33, 65, 257})
    for (const char* evaluator : logistic_evaluators) {
      for (const std::size_t columns : {1, 2, 17, 33})
        agrees_with_the_definition<Real>(generated_logistic(files, rows, columns), evaluator);
      for (const std::size_t columns : {3, 63, 64, 65, 131})
        for (const bool multiples : {false, true})
          agrees_with_the_definition<Real>(sparse_logistic(files, rows, columns, multiples), evaluator);
    }
  for (const bool multiples : {false, true})  // several slabs
    agrees_with_the_definition<Real>(sparse_logistic(files, 2500, 200, multiples), "sparse");
}
TEST(LogisticRegression, AwkwardSizesDouble) { agree_with_the_definition<double>(ScratchFiles()); }
TEST(LogisticRegression, AwkwardSizesFloat) { agree_with_the_definition<float>(ScratchFiles()); }

template <class Real>
void bear_extremes(const ScratchFiles& files) {
  const Real bad[] = {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity(),
                      -std::numeric_limits<Real>::infinity()};
  const std::string path = files.write("extreme.csv", "x,y\n1,1\n-1,0\n1,0\n-1,1\n0.5,1\n");
  for (const char* evaluator : logistic_evaluators) {
    SCOPED_TRACE(evaluator);
    LogisticChains<Real> t({{"data", path}, {"standardise", "no"}, {"bias", "no"}, {"prior_sd", "100"}}, evaluator, 1);
    for (const double w : {1e4, -1e4, 100.0, -90.0, 800.0}) {
      t.point.data()[0] = Real(w);
      t.ask(Needs::gradient), t.evaluate();
      // Two rows with u = w, two with -w, one with w/2: one side is -|u|, the other nothing.
      const double expected = -2 * std::abs(w) + (w < 0 ? w / 2 : 0) - 0.5 * w * w / 1e4 - std::log(100.0) -
                              0.5 * std::log(2 * 3.14159265358979);
      EXPECT_NEAR(t.lp.data()[0], expected, 1e-6 * std::abs(expected)) << w;
      const double slope = w > 0 ? -2 : 2.5;
      EXPECT_NEAR(t.gradient.data()[0], slope - w / 1e4, 1e-5) << w;
      t.direction.data()[0] = 1;
      t.ask(Needs::hessian_vector), t.evaluate();
      EXPECT_NEAR(t.product.data()[0], -1e-4, 1e-9) << w;
    }
    for (const Real w : bad) {
      t.point.data()[0] = w;
      t.ask(Needs::gradient), t.evaluate();
      EXPECT_FALSE(std::isfinite(t.lp.data()[0])) << w;
    }
  }
}
TEST(LogisticRegression, ExtremesDouble) { bear_extremes<double>(ScratchFiles()); }
TEST(LogisticRegression, ExtremesFloat) { bear_extremes<float>(ScratchFiles()); }

TEST(LogisticRegression, SaysWhatIsWrongWithTheData) {
  const auto make = [](const SettingTexts& texts) {
    return [texts] { make_target<double>(cpu_context(1), "logistic_regression", texts); };
  };
  const ExitStatus usage = ExitStatus::usage;
  expect_error(make({}), usage, "",
               "logistic_regression: no data (neither data nor images is set). Give --data FILE.csv, or --images FILE "
               "--labels FILE?");
  expect_error(make({{"data", "a.csv"}, {"images", "b"}}), usage, "",
               "logistic_regression: two kinds of data (data = a.csv and images = b). Give one or the other?");
  expect_error(make({{"images", "b"}}), usage, "",
               "logistic_regression: images without labels (images = b). Give --labels FILE?");
  expect_error(make({{"labels", "b"}}), usage, "",
               "logistic_regression: labels without images (labels = b). Give --images FILE?");
  expect_error(
      make({{"images", "a"}, {"labels", "b"}, {"digits", "56"}}), usage, "",
      "logistic_regression: digits = 56 (two digits 0 to 9 with a comma between are wanted). Write digits = 5,6?");
  expect_error(make({{"images", "a"}, {"labels", "b"}, {"label", "y"}}), usage, "",
               "logistic_regression: label names a column of a table (label = y, images = a). Did you mean labels?");
  expect_error(
      make({{"data", "a.csv"}, {"digits", "5,6"}}), usage, "",
      "logistic_regression: digits without images (digits = 5,6, data = a.csv). Remove digits, or give images?");
}

}  // namespace
}  // namespace kilochain::testing_support
