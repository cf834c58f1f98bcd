// Generalised linear models: densities against their definition, gradients against differences, the function of one
// chain against the blocks of many, posteriors against quadrature, and the data that are refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "host/registry/registry.hpp"
#include "targets/glm.hpp"
#include "tests/support/runs.hpp"
#include "tests/support/scratch_files.hpp"
#include "tests/support/tolerance.hpp"

namespace kilochain::testing_support {
namespace {

const char* const models[] = {"linear_regression", "poisson_regression", "negative_binomial_regression",
                              "logistic_regression"};

/// Rows of a number, a zero now and then, a group of `groups` in disorder, and a label that every model takes with
/// `positive`.
SettingTexts table(const ScratchFiles& files, const std::string& model, std::size_t rows, std::size_t groups,
                   bool bias) {
  std::string text = "x,place,dose,y\n";
  for (std::size_t i = 0; i < rows; ++i) {
    const double u = static_cast<double>(i);
    // Counts beyond the 8 that are multiplied out, too.
    const double y = model == "logistic_regression" ? std::fmod(u * 7, 3) > 1 : std::floor(std::fmod(u * 7.7, 14));
    text += fmt::format("{},p{},{},{}\n", 1.5 + std::sin(u), i * 5 % groups, i % 3 ? 0.0 : 0.3 * std::cos(u), y);
  }
  SettingTexts out = {{"data", files.write(model + std::to_string(rows) + ".csv", text)}, {"prior_sd", "2"}};
  if (groups > 1)
    out["groups"] = "place";
  else
    out["drop_columns"] = "place";
  if (!bias) out["bias"] = "no";
  return out;
}

/// log p as glm.hpp defines it, from the design: sums over rows one after the other, lgamma of the library.
double defined(const std::string& model, const Design& d, bool bias, const std::vector<double>& x) {
  const auto normal = [](double v, double sd) {
    return -0.5 * v * v / (sd * sd) - std::log(sd) - 0.5 * std::log(2 * std::numbers::pi);
  };
  const bool linear = model == "linear_regression", negative = model == "negative_binomial_regression",
             counts = negative || model == "poisson_regression";
  const std::size_t n = d.columns, own = linear || negative, J = d.groups.size();
  double mean = 0, square = 0, lp = 0;
  for (const double y : d.y) mean += y / static_cast<double>(d.rows);
  for (const double y : d.y) square += (y - mean) * (y - mean) / static_cast<double>(d.rows - 1);
  for (std::size_t j = 0; j < n; ++j) lp += normal(x[j], 2);
  const double value = own ? std::exp(x[n]) : 0, sigma = J > 0 ? std::exp(x.back()) : 0;
  if (linear) lp += -value + x[n];  // exponential(1), and the Jacobian
  if (negative) lp += std::log(2.0) + normal(1 / std::sqrt(value), 1) + std::log(0.5 / std::sqrt(value));
  if (J > 0) lp += std::log(2.0) + normal(sigma, 1) + x.back();
  for (std::size_t g = 0; g < J; ++g) lp += normal(x[n + own + g], 1);
  for (std::size_t i = 0; i < d.rows; ++i) {
    double t = counts && bias ? std::log(mean) : 0;
    for (std::size_t j = 0; j < n; ++j) t += d.x[i * n + j] * x[j];
    if (J > 0) t += sigma * x[n + own + static_cast<std::size_t>(d.group[i])];
    const double y = d.y[i];
    if (linear)
      lp += normal((y - (bias ? mean : 0)) / std::sqrt(square) - t, value);
    else if (negative)
      lp += std::lgamma(y + value) - std::lgamma(value) - std::lgamma(y + 1) +
            value * std::log(value / (value + std::exp(t))) + y * std::log(std::exp(t) / (value + std::exp(t)));
    else if (counts)
      lp += y * t - std::exp(t) - std::lgamma(y + 1);
    else
      lp += y * t - std::log1p(std::exp(t));
  }
  return lp;
}

/// Points and answers of several chains.
template <class Real>
struct GlmChains {
  GlmChains(const std::string& model, const SettingTexts& texts, Index many)
      : target(make_target<Real>(context, model, texts)),
        n(target->info().dim),
        chains(many),
        row(padded(n)),
        point(context, row * static_cast<std::size_t>(many)),
        gradient(context, row * static_cast<std::size_t>(many)),
        lp(context, static_cast<std::size_t>(many)),
        needs(context, static_cast<std::size_t>(many)) {
    std::fill_n(needs.data(), many, Needs::gradient);
    for (Index c = 0; c < many; ++c)
      for (Index j = 0; j < n; ++j) x(c)[j] = Real(0.7 * std::sin(1.0 + 0.71 * c + 1.37 * j));
  }
  Real* x(Index c) { return point.data() + row * static_cast<std::size_t>(c); }
  Real* g(Index c) { return gradient.data() + row * static_cast<std::size_t>(c); }
  void evaluate(Index first, Index last) {
    target->evaluate({point.data(), nullptr, gradient.data(), nullptr, lp.data(), nullptr, needs.data(), row}, first,
                     last);
  }
  Context context = cpu_context(1);
  std::unique_ptr<Target<Real>> target;
  Index n, chains;
  std::size_t row;
  Buffer<Real> point, gradient;
  Buffer<double> lp;
  Buffer<Needs> needs;
};

Design read(const std::string& model, const SettingTexts& texts, bool bias) {
  TableRules rules;
  if (texts.count("groups")) rules.groups = texts.at("groups");
  if (texts.count("drop_columns")) rules.drop_columns = texts.at("drop_columns");
  if (model == "logistic_regression") return load_labelled_csv(texts.at("data"), rules, true, bias);
  return load_measured_csv(texts.at("data"), rules, Response::number, true, bias);
}

template <class Real>
void matches_definition(double eps) {
  const ScratchFiles files;
  for (const std::string model : models)
    for (const std::size_t rows : {2, 31, 33, 257})
      for (const std::size_t groups : {1, 2, 7}) {
        const bool bias = rows != 33;
        if ((model == "logistic_regression" || rows == 2) && groups == 1) continue;  // the former has tests of its own
        if (rows < groups) continue;
        const SettingTexts texts = table(files, model, rows, groups, bias);
        SCOPED_TRACE(fmt::format("{}, {} rows, {} groups", model, rows, groups));
        const Design design = read(model, texts, bias);
        GlmChains<Real> t(model, texts, 33);
        t.evaluate(0, t.chains);
        for (const Index c : {0, 17, 32}) {
          std::vector<double> x(t.x(c), t.x(c) + t.n);
          const double want = defined(model, design, bias, x), size = static_cast<double>(rows) + std::abs(want);
          EXPECT_NEAR(t.lp.data()[c], want, 200 * eps * size);
          for (std::size_t j = 0; j < x.size(); ++j) {
            const auto at = [&](double by) {
              std::vector<double> y = x;
              y[j] += by;
              return defined(model, design, bias, y);
            };
            const double h = 1e-3;  // fourth order: h^4 and 1e-16 / h of sizes like lp
            EXPECT_NEAR(t.g(c)[j], (at(-2 * h) - 8 * at(-h) + 8 * at(h) - at(2 * h)) / (12 * h),
                        (200 * eps + 1e-9) * size)
                << "coordinate " << j;
          }
        }
      }
}
TEST(Glm, DensityAndGradientAreTheDefinitions) { matches_definition<double>(1.2e-16); }
TEST(Glm, InFloatToo) { matches_definition<float>(6e-8); }

TEST(Glm, AChainsBitsAreItsOwnAndTheValueAloneIsTheSame) {
  const ScratchFiles files;
  for (const std::string model : models) {
    SCOPED_TRACE(model);
    GlmChains<float> t(model, table(files, model, 257, 7, true), 65);
    t.evaluate(0, 65);
    const std::vector<float> gradient(t.gradient.data(), t.gradient.data() + t.gradient.size());
    const std::vector<double> lp(t.lp.data(), t.lp.data() + 65);
    std::fill_n(t.gradient.data(), t.gradient.size(), 0.0f);
    for (Index c = 0; c < 65; c += 13) t.evaluate(c, std::min<Index>(c + 13, 65));
    EXPECT_TRUE(exact({t.gradient.data(), t.gradient.data() + t.gradient.size()}, gradient));
    std::fill_n(t.needs.data(), 65, Needs::value);
    t.evaluate(0, 65);
    EXPECT_TRUE(exact({t.lp.data(), t.lp.data() + 65}, lp));
  }
}

/// What CUDA runs, on the CPU.
template <class Family, class Settings>
void one_chain_is_the_same(const SettingTexts& texts) {
  const Context context = cpu_context(1);
  Settings settings;
  settings.data = texts.at("data"), settings.groups = texts.at("groups"), settings.prior_sd = 2;
  Arena<double> arena(context);
  TargetInfo info;
  const auto data = Glm<double, Family>::prepare(settings, arena, info);
  GlmChains<double> t(Family::model, texts, 3);
  t.evaluate(0, 3);
  std::vector<double> scratch(Glm<double, Family>::scratch(data)), gradient(t.row);
  for (Index c = 0; c < 3; ++c) {
    double lp = 0;
    Needs needs = Needs::gradient;
    Glm<double, Family>::evaluate(HostTeam{}, data, needs, {{t.x(c), t.row}, {nullptr, 0}, &needs},
                                  {&lp, {gradient.data(), t.row}, {nullptr, 0}}, scratch.data());
    EXPECT_NEAR(lp, t.lp.data()[c], 1e-13 * std::abs(lp) + 1e-12);
    for (Index j = 0; j < t.n; ++j) EXPECT_NEAR(gradient[static_cast<std::size_t>(j)], t.g(c)[j], 1e-11) << j;
  }
}
TEST(Glm, OneChainAtATimeIsTheSame) {
  const ScratchFiles files;
  one_chain_is_the_same<NormalFamily, GlmSettings>(table(files, "linear_regression", 65, 7, true));
  one_chain_is_the_same<PoissonFamily, GlmSettings>(table(files, "poisson_regression", 65, 7, true));
  one_chain_is_the_same<NegativeBinomialFamily, GlmSettings>(table(files, "negative_binomial_regression", 65, 7, true));
  one_chain_is_the_same<BernoulliFamily, RegressionSettings>(table(files, "logistic_regression", 65, 7, true));
}

TEST(Glm, NegativeBinomialOfALargePrecisionIsPoisson) {
  for (const double y : {0.0, 3.0, 8.0, 9.0, 500.0}) {
    const double phi = 1e13, t = 2;
    const NegativeBinomialFamily::Own own(std::log(phi));
    const double lp = NegativeBinomialFamily::observe(y, t, own).lp + NegativeBinomialFamily::of_count(y, phi).lp;
    EXPECT_NEAR(lp, y * t - std::exp(t), 1e-11 * (1 + y * std::log(phi))) << y;
  }
}

/// Means of the draws against sums over a grid of (w, log parameter), of the definition: 6 Monte Carlo errors.
TEST(Glm, PosteriorsAreThoseOfQuadrature) {
  const ScratchFiles files;
  for (const std::string model : {"linear_regression", "poisson_regression", "negative_binomial_regression"}) {
    SCOPED_TRACE(model);
    std::string text = "x,y\n";
    for (int i = 0; i < 25; ++i)
      text += fmt::format("{},{}\n", 0.1 * i, std::floor(std::exp(0.4 * 0.1 * i) * (1 + i * 7 % 5)));
    Options o;
    o.target = model, o.keep_draws = true, o.num_chains = 32, o.seed = 4;
    o.target_settings = {{"data", files.write("q.csv", text)}, {"bias", "no"}, {"prior_sd", "2"}};
    const Result r = run_quietly(o);
    const Design d = load_measured_csv(files.path("q.csv"), {}, Response::number, true, false);
    const bool linear = model == "linear_regression", own = model != "poisson_regression";
    double mean = 0, square = 0;
    for (const double y : d.y) mean += y / 25;
    for (const double y : d.y) square += (y - mean) * (y - mean) / 24;
    const double scale = linear ? std::sqrt(square) : 1;
    double total = 0, of_w = 0, of_own = 0;
    const double top = defined(model, d, false, own ? std::vector{0.2, 0.2} : std::vector{0.2});
    for (double w = -3; w < 3; w += 0.01)
      for (double s = own ? -5 : 0; s < (own ? 12 : 0.5); s += own ? 0.05 : 1) {
        const double p = std::exp(defined(model, d, false, own ? std::vector{w, s} : std::vector{w}) - top);
        total += p, of_w += p * w * scale, of_own += p * (own ? std::exp(std::min(s, 3.0)) * scale : 0);
      }
    ASSERT_EQ(r.summary.parameters.size(), own ? 2u : 1u);
    const ParameterSummary& w = r.summary.parameters[0];
    EXPECT_EQ(w.name, "x");
    EXPECT_NEAR(w.mean, of_w / total, 6 * w.mcse_mean + 1e-4);
    if (!own) continue;
    EXPECT_EQ(r.summary.parameters[1].name, linear ? "sigma" : "phi");
    std::vector<double> values;  // phi has no finite mean to speak of: that of min(phi, e^3)
    for (std::size_t k = 1; k < r.draws.size(); k += 2) values.push_back(std::min(r.draws[k], std::exp(3.0) * scale));
    const ParameterSummary s = summarise("s", {values.data(), 32, static_cast<std::int64_t>(values.size() / 32)});
    EXPECT_NEAR(s.mean, of_own / total, 6 * s.mcse_mean + 1e-3);
  }
}

/// x w + b is the same of standardised features and of the table's own.
TEST(Glm, WeightsInTheTablesUnitsPredictTheSame) {
  const ScratchFiles files;
  for (const std::string model :
       {"linear_regression", "poisson_regression", "logistic_regression", "softmax_regression"}) {
    SCOPED_TRACE(model);
    SettingTexts texts = {{"data", files.write("t.csv", "a,b,y\n1,20,1\n2,70,0\n4,10,1\n7,30,0\n")},
                          {"units", "table"}};
    const auto target = make_target<double>(cpu_context(1), model, texts);
    const TargetInfo& info = target->info();
    const std::size_t dim = static_cast<std::size_t>(info.dim);
    std::vector<double> x(dim), out(info.names.size());
    for (std::size_t j = 0; j < dim; ++j) x[j] = std::cos(1.0 + static_cast<double>(j));
    info.constrain(x.data(), {}, out.data());
    const std::size_t classes = model == "softmax_regression" ? 2 : 1, first = out.size() - 3 * classes;
    EXPECT_EQ(info.names[first], classes == 2 ? "w_table[0, a]" : "w_table[a]");
    EXPECT_EQ(info.variables.back().name, "w_table");
    const Design d = load_measured_csv(texts["data"], {}, Response::number, true, true);
    const double raw[4][2] = {{1, 20}, {2, 70}, {4, 10}, {7, 30}};
    for (std::size_t k = 0; k < classes; ++k)
      for (std::size_t i = 0; i < 4; ++i) {
        const double *const w = out.data() + 3 * k, *const own = out.data() + first + 3 * k;
        EXPECT_NEAR(d.x[i * 3] * w[0] + d.x[i * 3 + 1] * w[1] + w[2], raw[i][0] * own[0] + raw[i][1] * own[1] + own[2],
                    1e-12);
      }
  }
}

TEST(Glm, NamesAreThoseOfColumnsAndGroups) {
  const ScratchFiles files;
  const SettingTexts texts = table(files, "negative_binomial_regression", 31, 2, true);
  const auto target = make_target<double>(cpu_context(1), "negative_binomial_regression", texts);
  EXPECT_EQ(target->info().names,
            (std::vector<std::string>{"x", "dose", "bias", "phi", "alpha[p0]", "alpha[p1]", "sigma_alpha"}));
  EXPECT_EQ(target->info().offers, Needs::gradient);
}

TEST(Glm, RefusesWhatIsNoneOfItsData) {
  const ScratchFiles files;
  const auto refused = [&](const char* model, const std::string& text, SettingTexts texts, ExitStatus status,
                           const std::string& message) {
    const std::string path = files.write("bad.csv", text);
    texts["data"] = path;
    expect_error([&] { make_target<double>(cpu_context(1), model, texts); }, status, path, message);
  };
  const char *const poisson = "poisson_regression", *const linear = "linear_regression";
  refused(poisson, "x,y\n1,2\n3,-1\n", {}, ExitStatus::data,
          ": a count is negative (-1 in line 3, column \"y\"). Is that the column of counts (--label)?");
  refused("negative_binomial_regression", "x,y\n1,2\n3,0.5\n", {}, ExitStatus::data,
          ": a count is not a whole number (0.5 in line 3, column \"y\"). Is that the column of counts (--label)?");
  refused(poisson, "x,y\n1,0\n3,0\n", {}, ExitStatus::data,
          ": every count is 0 (2 rows). Name the column of counts with --label?");
  refused(linear, "x,y\n1,2\n3,2\n", {}, ExitStatus::data,
          ": what is predicted does not vary, or beyond a double's range (2 in the first of 2 rows, standard deviation "
          "0). Name its column with --label?");
  refused(linear, "x,y\n1,2\n3,4\n", {{"groups", "z"}}, ExitStatus::usage,
          ": there is no column \"z\" (its 2 columns begin with \"x\"). Which of them is meant?");
  refused(linear, "x,g,y\n1,a,2\n3,a,4\n", {{"groups", "g"}}, ExitStatus::data,
          ": column \"g\" has one group alone (\"a\" in all 2 rows). Is that the column of groups? Else leave --groups "
          "out?");
  refused(linear, "x,g,y\n1,a,2\n3,,4\n", {{"groups", "g"}}, ExitStatus::data,
          ": a value is missing (line 3, column 2 \"g\"). Write a number, or leave such rows out with --missing drop?");
  refused(linear, "x,g,h,y\n1,a,2,1\n3,,4,1\n", {{"groups", "g,h"}}, ExitStatus::usage,
          ": groups are one column (groups = g,h). Put a name with a comma into quotes?");
  refused(linear, "x,sigma,y\n1,1,2\n3,5,4\n", {}, ExitStatus::data,
          ": a column is named as a parameter is (\"sigma\"). Rename the column?");
  refused(linear, "x,y\n1,2\n3,4\n", {{"units", "table"}, {"standardise", "no"}}, ExitStatus::usage,
          ": the weights are in the table's units already (units = table, and nothing was standardised). Leave units "
          "out?");
  refused(linear, "x,y\n1,2\n3,4\n", {{"units", "table"}, {"bias", "no"}}, ExitStatus::usage,
          ": without an intercept there are no weights in the table's units (units = table, bias = no: the features "
          "were centred). Leave one of the two out?");
  expect_error([&] { make_target<double>(cpu_context(1), linear, {}); }, ExitStatus::usage, "",
               "linear_regression: no data (data is not set). Give --data FILE.csv?");
  expect_error(
      [&] {
        make_target<double>(cpu_context(1), "logistic_regression",
                            {{"data", "a.csv"}, {"groups", "g"}, {"evaluator", "blocked"}});
      },
      ExitStatus::usage, "",
      "logistic_regression: groups = g (groups are a table's, and have neither evaluator nor matmul). Leave one of "
      "them "
      "out?");
}

}  // namespace
}  // namespace kilochain::testing_support
