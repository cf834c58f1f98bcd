#include "papers/mahendran2011/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kilochain::mahendran2011 {
namespace {

using papers::Json, papers::Rows;

constexpr int lags[] = {1, 10, 50, 100, 250, 500};

std::string with_sd(const Json& j, int decimals) {
  return fmt::format("{:.{}f} ({:.{}f})", j["mean"].get<double>(), decimals, j["sd"].get<double>(), decimals);
}

const Json* find(const std::vector<Json>& results, const std::string& model, const std::string& method) {
  for (const Json& r : results)
    if (r["model"] == model && r["method"] == method) return &r;
  return nullptr;
}

/// How many runs of how many steps each model had, in words.
std::string lengths_of(const std::vector<Json>& results) {
  const auto lengths = [](const Json& r) {
    return fmt::format("{} runs of {} steps", r["runs"].get<int>(), r["steps"].get<std::int64_t>());
  };
  std::vector<std::string> all;
  for (const Json& r : results) {
    const std::string one = fmt::format("{} for {}", lengths(r), r["model"].get<std::string>());
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
  }
  const bool alike =
      std::all_of(results.begin(), results.end(), [&](const Json& r) { return lengths(r) == lengths(results[0]); });
  return alike ? lengths(results[0]) + " for each method" : fmt::format("{}", fmt::join(all, ", "));
}

/// What the mean |autocorrelation| of two methods differ by, in words; the error is of runs that are independent.
std::string compared(const Json& a, const Json& b) {
  const std::string left = a["method"], right = b["method"];
  if (a["runs"] < 2 || b["runs"] < 2) return fmt::format("{} and {} cannot be compared by one run", left, right);
  const Json &x = a["mean_autocorrelation"], &y = b["mean_autocorrelation"];
  const double difference = x["mean"].get<double>() - y["mean"].get<double>(),
               error = std::sqrt(std::pow(x["sd"].get<double>(), 2) / a["runs"].get<double>() +
                                 std::pow(y["sd"].get<double>(), 2) / b["runs"].get<double>());
  // Student's t of about 2 (runs - 1) degrees of freedom: 2.3 is about 5 % for 5 runs.
  const std::string verdict = std::abs(difference) < 2.3 * error ? "cannot be told from"
                              : difference < 0                   ? "is better than"
                                                                 : "is worse than";
  return fmt::format("{} {} {} (difference {:+.3f}, standard error {:.3f})", left, verdict, right, difference, error);
}

/// Which methods of one law have different mean energies: then their runs had not forgotten the start. Kawasaki's walk
/// of single exchanges is known to be too slow, and is left out.
std::string transients_of(const std::vector<Json>& results) {
  std::string models;
  for (const char* model : {"2DGrid", "3DCube", "RBM"}) {
    const Json* lowest = nullptr;
    const Json* highest = nullptr;
    for (const char* method : {"IMExpert", "IMUnif", "IMBayesOpt"})
      if (const Json* r = find(results, model, method)) {
        const auto energy = [](const Json* j) { return (*j)["mean_energy"]["mean"].get<double>(); };
        if (!lowest || energy(r) < energy(lowest)) lowest = r;
        if (!highest || energy(r) > energy(highest)) highest = r;
      }
    if (!lowest || (*lowest)["runs"] < 2) continue;
    const Json &a = (*lowest)["mean_energy"], &b = (*highest)["mean_energy"];
    const double apart = b["mean"].get<double>() - a["mean"].get<double>(),
                 error = std::hypot(a["sd"].get<double>(), b["sd"].get<double>()) /
                         std::sqrt((*lowest)["runs"].get<double>());
    if (apart > 4 * error)
      models += fmt::format("{}{} ({:.0f} and {:.0f}, {:.0f} standard errors)", models.empty() ? "" : ", ", model,
                            a["mean"].get<double>(), b["mean"].get<double>(), apart / error);
  }
  if (models.empty()) return "";
  return fmt::format(
      "**What these curves compare.** Methods that sample one law still have different mean energies over the judged "
      "part\n"
      "of their runs: {}.\n"
      "There the runs have not forgotten their start, and the autocorrelations compare transients, not stationary "
      "chains.\n\n",
      models);
}

}  // namespace

Rows table_rows(const std::vector<Json>& results) {
  Rows rows = {{"model", "method", "mean energy (sd)", "acceptance", "us a step", "mean abs. rho"}};
  for (const int lag : lags) rows[0].push_back(fmt::format("at lag {}", lag));
  for (const Json& r : results) {
    rows.push_back({r["model"], r["method"], with_sd(r["mean_energy"], 1),
                    fmt::format("{:.3f}", r["acceptance"]["mean"].get<double>()),
                    fmt::format("{:.2f}", r["microseconds"]["mean"].get<double>()),
                    with_sd(r["mean_autocorrelation"], 3)});
    const Json& means = r["autocorrelation"]["mean"];
    for (const int lag : lags)
      rows.back().push_back(lag < std::ssize(means) ? fmt::format("{:.2f}", means[lag].get<double>()) : "-");
    if (!r.contains("original")) continue;
    const Json& o = r["original"];
    rows.push_back({r["model"], "the same, original code", fmt::format("{}", o["mean_energy"].get<double>()),
                    fmt::format("{}", o["acceptance"].get<double>()),
                    fmt::format("{}", o["microseconds"].get<double>()), "-"});
    for (const int lag : lags) {
      std::string text = "-";
      if (o.contains("autocorrelation"))
        for (const Json& at : o["autocorrelation"])
          if (at["lag"] == lag) text = fmt::format("{}", at["value"].get<double>());
      rows.back().push_back(text);
    }
  }
  return rows;
}

std::string markdown(const std::vector<Json>& results, const std::string& machine) {
  std::string out = fmt::format(
      R"(# Bayesian Optimization for Adaptive MCMC (Mahendran 2011)

{2}Made by `kilochain reproduce mahendran2011` on {1}: {0}. The first ninth of a run is not judged.
Everything is after the thesis' protocol, except that all weights of a walk are those of the gamma in force: the original
code kept old ones when gamma changed, which biases its IMUnif and IMBayesOpt (on a 4 x 4 torus -7.72 in place of -7.874), so
that their published curves are not a target. IMBayesOpt draws its grid's points by exp(mean) as often as the grid has points;
a sampler's settings hold 64 of them, and every 500 steps the next 64 take their place.

The original code was measured with the expert's settings on a machine of this type; its energy of the RBM is after 1 000
steps. Energies of the RBM are those of its spins, without the constant.

)",
      lengths_of(results), machine, transients_of(results));
  out +=
      papers::markdown_table(table_rows(results), 2) +
      "\nmean abs. rho: the absolute autocorrelation over lags 0 to 500, mean over runs with the deviation over runs; "
      "the smaller the better.\nScores lie in [0, 1], so exp(mean) favours the best setting by a factor of e at most: "
      "such a policy stays wide.\n\n";
  for (const char* model : {"2DGrid", "3DCube", "RBM"}) {
    const Json *bayes = find(results, model, "IMBayesOpt"), *expert = find(results, model, "IMExpert"),
               *uniform = find(results, model, "IMUnif");
    if (!bayes || !expert || !uniform) continue;
    out += fmt::format("- {}: {}; {}. {:.0f} different points in a policy on average, {:.0f} in the thesis.\n", model,
                       compared(*bayes, *expert), compared(*bayes, *uniform),
                       (*bayes)["unique_points"]["mean"].get<double>(),
                       (*bayes)["unique_points"]["published"].get<double>());
  }
  for (const auto& [model, first] : {std::pair{"2DGrid", 1}, {"3DCube", 4}, {"RBM", 7}})
    if (find(results, model, "IMBayesOpt"))
      out += fmt::format(
          "\n## {0}: figures 4.{1} to 4.{2}\n\n![|autocorrelation| of the energy, energies, and the mean of "
          "the model](mahendran2011_{0}.png)\n",
          model, first, first + 2);
  return out + fmt::format("\nMade on {} from commit {}.\n", results[0].value("date", "a day not known"),
                           results[0].value("commit", "not known"));
}

}  // namespace kilochain::mahendran2011
