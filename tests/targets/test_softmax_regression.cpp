// The softmax regression: against a naive sum over classes, derivatives against differences, its evaluators against
// each other, two classes against the logistic regression, and the data that it reads and refuses.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "targets/data/dataset.hpp"
#include "tests/support/tolerance.hpp"
#include "tests/targets/logistic_chains.hpp"

namespace kilochain::testing_support {
namespace {

const char* const evaluators[] = {"team", "auto"};

template <class Real>
LogisticChains<Real> softmax(const SettingTexts& texts, const std::string& evaluator, Index chains) {
  return {texts, evaluator, chains, "softmax_regression"};
}

/// Rows of `columns` numbers and one of `classes` names.
SettingTexts classified(const ScratchFiles& files, std::size_t rows, std::size_t columns, std::size_t classes) {
  std::string text;
  for (std::size_t j = 0; j < columns; ++j) text += "x" + std::to_string(j) + ",";
  text += "kind\n";
  std::uint32_t state = 2463534242u;
  const auto word = [&] { return (state = state * 1664525u + 1013904223u) >> 16; };
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) text += std::to_string(word() % 2001 / 1000.0 - 1) + ",";
    text += "kind" + std::to_string(100 + (i < classes ? i : word() % classes)) + "\n";
  }
  const std::string name = std::to_string(rows) + "x" + std::to_string(columns) + "x" + std::to_string(classes);
  return {{"data", files.write(name + ".csv", text)}, {"standardise", "no"}, {"bias", "no"}};
}

struct Naive {
  double lp;
  std::vector<double> gradient, product;
};
/// Sums as the definition has them, in double; sizes of what was added up come with them.
Naive naive(const Design& d, const std::vector<double>& w, const std::vector<double>& v) {
  const std::size_t n = d.columns, classes = d.classes.size();
  const double size = static_cast<double>(n * classes);
  Naive out{-0.5 * size * std::log(2 * std::numbers::pi), std::vector<double>(w.size()), std::vector<double>(w.size())};
  for (std::size_t j = 0; j < w.size(); ++j) {
    out.lp -= 0.5 * w[j] * w[j];
    out.gradient[j] = -w[j];
    out.product[j] = -v[j];
  }
  for (std::size_t i = 0; i < d.rows; ++i) {
    std::vector<double> t(classes), a(classes);
    double sum = 0, mean = 0;
    for (std::size_t k = 0; k < classes; ++k) {
      for (std::size_t j = 0; j < n; ++j) {
        t[k] += d.x[i * n + j] * w[k * n + j];
        a[k] += d.x[i * n + j] * v[k * n + j];
      }
      sum += std::exp(t[k]);
    }
    for (std::size_t k = 0; k < classes; ++k) mean += std::exp(t[k]) / sum * a[k];
    const auto y = static_cast<std::size_t>(d.y[i]);
    out.lp += t[y] - std::log(sum);
    for (std::size_t k = 0; k < classes; ++k) {
      const double p = std::exp(t[k]) / sum;
      for (std::size_t j = 0; j < n; ++j) {
        out.gradient[k * n + j] += ((k == y) - p) * d.x[i * n + j];
        out.product[k * n + j] -= p * (a[k] - mean) * d.x[i * n + j];
      }
    }
  }
  return out;
}

template <class Real>
void matches_naive(const SettingTexts& texts, double largest = 1) {
  const Design design = load_classified_csv(texts.at("data"), {}, false, false);
  for (const char* evaluator : evaluators) {
    auto chains = softmax<Real>(texts, evaluator, 3);
    SCOPED_TRACE(std::string(evaluator) + " " + texts.at("data"));
    chains.scatter(0.5);
    chains.evaluate();
    chains.ask(Needs::hessian_vector);
    chains.evaluate();
    for (Index c = 0; c < 3; ++c) {
      const auto w = chains.copy(chains.point, c), v = chains.copy(chains.direction, c);
      const Naive want = naive(design, {w.begin(), w.end()}, {v.begin(), v.end()});
      // Terms are at most 1 (residuals) times `largest` (features); logits add `columns` of them: c = 4 beside rows +
      // columns terms.
      const auto columns = static_cast<double>(design.columns);
      const double terms = static_cast<double>(design.rows) + columns, slope = (1 + columns) * largest;
      EXPECT_TRUE(rounding<Real>(chains.lp.data()[c], want.lp, 4, terms, 3 + columns * largest));
      for (std::size_t j = 0; j < w.size(); ++j) {
        EXPECT_TRUE(rounding<Real>(chains.at(chains.gradient, c)[j], want.gradient[j], 4, terms, largest)) << j;
        EXPECT_TRUE(rounding<Real>(chains.at(chains.product, c)[j], want.product[j], 4, terms, slope * largest)) << j;
      }
    }
  }
}

TEST(SoftmaxRegression, EqualsTheNaiveSums) {
  const ScratchFiles files;
  for (const std::size_t classes : {2, 3, 31, 33})
    for (const std::size_t columns : {1, 2, 33}) {
      matches_naive<double>(classified(files, 65, columns, classes));
      matches_naive<float>(classified(files, 65, columns, classes));
    }
  for (const std::size_t rows : {257, 513, 1025})
    matches_naive<double>(classified(files, rows, 5, 4));  // chunks of 512
}

/// Panels of zeros are left out, whether X is kept as numbers or as bytes; more than one slab of observations.
TEST(SoftmaxRegression, EqualsTheNaiveSumsWhereMuchIsZero) {
  const ScratchFiles files;
  for (const std::size_t rows : {65, 1500})
    for (const auto table : {sparse_numbers, sparse_levels}) matches_naive<double>(table(files, rows, 131), 3);
  matches_naive<float>(sparse_levels(files, 257, 131), 3);
  const auto chosen = softmax<float>(sparse_levels(files, 1500, 131), "auto", 1);
  EXPECT_EQ(chosen.target->evaluation().rfind("auto", 0), 0u) << chosen.target->evaluation();
}

/// log p is differenced at both sides of a point: error h^4 and eps/h, both below 1e-8 of what is differenced at h =
/// 1e-3.
TEST(SoftmaxRegression, DerivativesMatchDifferences) {
  const ScratchFiles files;
  const SettingTexts texts = classified(files, 40, 3, 4);
  for (const char* evaluator : evaluators) {
    auto chains = softmax<double>(texts, evaluator, 1);
    chains.scatter(0.7);
    chains.evaluate();
    chains.ask(Needs::hessian_vector);
    chains.evaluate();
    const auto w = chains.copy(chains.point, 0), v = chains.copy(chains.direction, 0),
               g = chains.copy(chains.gradient, 0), hv = chains.copy(chains.product, 0);
    chains.ask(Needs::gradient);
    double lp[5];
    std::vector<double> slopes[5];
    for (int s = -2; s <= 2; ++s) {
      for (Index j = 0; j < chains.n; ++j) chains.at(chains.point, 0)[j] = w[j] + 1e-3 * s * v[j];
      chains.evaluate();
      lp[s + 2] = *chains.lp.data();
      slopes[s + 2] = chains.copy(chains.gradient, 0);
    }
    double slope = 0;
    for (Index j = 0; j < chains.n; ++j) slope += g[j] * v[j];
    EXPECT_NEAR((lp[0] - 8 * lp[1] + 8 * lp[3] - lp[4]) / 12e-3, slope, 1e-8 * (std::abs(lp[2]) + std::abs(slope)));
    for (Index j = 0; j < chains.n; ++j)
      EXPECT_NEAR((slopes[0][j] - 8 * slopes[1][j] + 8 * slopes[3][j] - slopes[4][j]) / 12e-3, hv[j], 1e-8 * 40);
  }
}

/// Two classes with weights +u/2 and -u/2 are the logistic regression at u: the same likelihood, whatever the prior
/// says.
TEST(SoftmaxRegression, TwoClassesAreALogisticRegression) {
  const ScratchFiles files;
  const SettingTexts texts = generated_logistic(files, 200, 6);
  auto two = softmax<double>(texts, "auto", 1);
  LogisticChains<double> one(texts, "auto", 1);
  one.scatter(0.8);
  double square = 0;
  for (Index j = 0; j < one.n; ++j) {
    const double u = one.at(one.point, 0)[j];
    two.at(two.point, 0)[one.n + j] = u / 2;
    two.at(two.point, 0)[j] = -u / 2;
    square += u * u;
  }
  one.evaluate(), two.evaluate();
  const double constant = 0.5 * one.n * std::log(2 * std::numbers::pi);
  EXPECT_TRUE(rounding<double>(*two.lp.data() + square / 4 + 2 * constant, *one.lp.data() + square / 2 + constant, 8,
                               206, std::abs(*one.lp.data())));
}

/// Bits do not depend on the chains beside one, nor on what they ask for.
TEST(SoftmaxRegression, AChainsBitsAreItsOwn) {
  const ScratchFiles files;
  const SettingTexts texts = classified(files, 130, 7, 3);
  for (const char* evaluator : evaluators) {
    auto together = softmax<float>(texts, evaluator, 65), apart = softmax<float>(texts, evaluator, 65);
    together.scatter(0.5), apart.scatter(0.5);
    for (Index c = 0; c < 65; c += 5) apart.needs.data()[c] = together.needs.data()[c] = Needs::value;
    together.evaluate();
    for (Index c = 0; c < 65; ++c) apart.evaluate(c, c + 1);
    EXPECT_TRUE(exact(together.lp.host(), apart.lp.host())) << evaluator;
    EXPECT_TRUE(exact(together.gradient.host(), apart.gradient.host())) << evaluator;
  }
}

TEST(SoftmaxRegression, ExtremeLogitsStayFinite) {
  const ScratchFiles files;
  const SettingTexts texts = classified(files, 33, 2, 3);
  for (const char* evaluator : evaluators) {
    auto chains = softmax<float>(texts, evaluator, 1);
    chains.scatter(3e4);
    chains.evaluate();
    EXPECT_TRUE(std::isfinite(*chains.lp.data())) << evaluator;
    for (const float g : chains.copy(chains.gradient, 0)) EXPECT_TRUE(std::isfinite(g)) << evaluator;
  }
}

TEST(SoftmaxRegression, ClassesAreWordsOrWholeNumbers) {
  const ScratchFiles files;
  const std::string words = files.write("words.csv", "kind,x\n\"setosa\",1\nvirginica,2\n setosa ,3\n");
  const Design named = load_classified_csv(words, {"kind"}, false, true);
  EXPECT_EQ(named.classes, (std::vector<std::string>{"setosa", "virginica"}));
  EXPECT_EQ(named.y, (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(named.names, (std::vector<std::string>{"x", "bias"}));
  const std::string numbers = files.write("numbers.csv", "x,k\n1,10\n2,9\n3,-1\n4,9\n");
  const Design counted = load_classified_csv(numbers, {}, false, false);
  EXPECT_EQ(counted.classes, (std::vector<std::string>{"-1", "9", "10"}));
  EXPECT_EQ(counted.y, (std::vector<double>{2, 1, 0, 1}));
  const auto target = make_target<double>(cpu_context(1), "softmax_regression", {{"data", words}, {"label", "kind"}});
  EXPECT_EQ(target->info().names[2], "w[virginica, x]");
}

TEST(SoftmaxRegression, BadDataAreRefused) {
  const ScratchFiles files;
  const auto refused = [&](const std::string& text, const std::string& message) {
    const std::string path = files.write("bad.csv", text);
    expect_error([&] { load_classified_csv(path, {}, false, false); }, ExitStatus::data, path, message);
  };
  refused("x,k\n1,a\n2,a\n",
          ": every row has the same class (\"a\" in column \"k\", 2 rows). Is that the label's column?");
  refused("x,k\n1,a\n2,\n",
          ": a value is missing (line 3, column 2 \"k\"). Write a number, or leave such rows out with --missing drop?");
  refused("x,k\nb,a\n2,c\n", ": \"b\" is not a number (line 2, column 1 \"x\"). Remove the row or write a number?");
  std::string many = "x,k\n";
  for (int i = 0; i < 1001; ++i) many += "1," + std::to_string(i) + ".5\n";
  refused(many, ": too many classes (1001 in column \"k\" of 1001 rows, at most 1000). Name the label's column?");
  expect_error(
      [&] {
        make_target<double>(cpu_context(1), "softmax_regression", {{"images", "a"}, {"labels", "b"}, {"digits", "5,"}});
      },
      ExitStatus::usage, "softmax_regression: digits = 5,",
      " (digits 0 to 9 with commas between are wanted). Write digits = 3,5,8?");
}

TEST(SoftmaxRegression, ImagesOfAllDigits) {
  const std::string folder = shared_data();
  if (folder.empty()) GTEST_SKIP();
  const Design digits =
      load_classified_idx(folder + "/train-images-idx3-ubyte.gz", folder + "/train-labels-idx1-ubyte.gz", {}, true);
  EXPECT_EQ(digits.rows, 60000u);
  EXPECT_EQ(digits.columns, 785u);
  EXPECT_EQ(digits.classes.size(), 10u);
  const Design some =
      load_classified_idx(folder + "/train-images-idx3-ubyte.gz", folder + "/train-labels-idx1-ubyte.gz", {6, 5}, true);
  EXPECT_EQ(some.classes, (std::vector<std::string>{"5", "6"}));
  EXPECT_EQ(some.rows, 11339u);
}

}  // namespace
}  // namespace kilochain::testing_support
