// kilochain reproduce mahendran2011: the runs, the page and the data of its figures.
#include "papers/reproduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "host/frontend/text.hpp"
#include "host/registry/registry.hpp"
#include "host/statistics/series.hpp"
#include "papers/mahendran2011/runs.hpp"

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
      "**What these curves compare.** Methods that sample one law still have different mean energies over the judged\n"
      "part of their runs: {}.\nThere the runs have not forgotten their start, and the autocorrelations compare\n"
      "transients, not stationary chains.\n\n",
      models);
}

/// Header, then a row for each method on each model; where the original code was measured, a row of that below.
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

/// The page, whose conclusions are computed from the runs.
std::string markdown(const std::vector<Json>& results) {
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
      lengths_of(results), papers::machine(), transients_of(results));
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

struct Flags : papers::Flags {
  std::vector<std::string> figures;  ///< 4.1 .. 4.9: the models that they are of; empty: all
  int runs = 5;
  std::int64_t steps = 90000;
  std::string data_dir;
};

std::vector<Model> chosen(const Flags& f) {
  std::vector<Model> out;
  for (const Model& m : models(papers::DataFolder::find(f.data_dir))) {
    bool asked = f.figures.empty();
    for (const std::string& figure : f.figures)
      for (int k = 0; k < 3; ++k) asked = asked || figure == fmt::format("4.{}", m.first_figure + k);
    if (asked) out.push_back(m);
  }
  for (const std::string& figure : f.figures)
    require(figure.size() == 3 && figure.starts_with("4.") && figure[2] >= '1' && figure[2] <= '9', ExitStatus::usage,
            "command line: --figure " + figure, "there are 4.1 to 4.9", "Try 4.1?");
  return out;
}

/// To one part in `parts` of one: files of figures stay small.
double rounded(double v, double parts) { return std::round(parts * v) / parts; }

/// One value has no deviation.
Moments moments(const std::vector<double>& values) {
  const Moments m = moments_of(Series{values.data(), 1, std::ssize(values)});
  return {m.mean, values.size() > 1 ? m.sd : 0.0};
}
/// Every run beside mean and deviation, unless they are many.
Json to_json(const std::vector<double>& values) {
  const Moments s = moments(values);
  Json out = {{"mean", s.mean}, {"sd", s.sd}};
  if (values.size() <= 100) out["runs"] = values;
  return out;
}

/// One method on one model, over its runs.
Json summary_of(const Model& model, Method method, const std::vector<Run>& runs, std::int64_t steps) {
  std::vector<double> energies, acceptance, microseconds, areas, unique;
  std::vector<std::vector<double>> correlations;
  for (const Run& r : runs) {
    double area = 0;
    energies.push_back(r.mean_energy);
    acceptance.push_back(r.acceptance);
    microseconds.push_back(r.microseconds);
    correlations.push_back(r.correlation);
    for (const double c : correlations.back()) area += c / correlations.back().size();
    areas.push_back(area);
    unique.push_back(r.unique_points);
  }
  Json means, sds;
  for (std::size_t lag = 0; lag < correlations[0].size(); ++lag) {
    std::vector<double> at;
    for (const auto& c : correlations) at.push_back(c[lag]);
    const Moments s = moments(at);
    means.push_back(rounded(s.mean, 1e5)), sds.push_back(rounded(s.sd, 1e5));
  }
  Json out = {{"source", "kilochain reproduce mahendran2011"},
              {"model", model.name},
              {"method", method_names[method]},
              {"runs", runs.size()},
              {"steps", steps},
              {"mean_energy", to_json(energies)},
              {"acceptance", to_json(acceptance)},
              {"microseconds", to_json(microseconds)},
              {"mean_autocorrelation", to_json(areas)},
              {"autocorrelation", {{"mean", means}, {"sd", sds}}}};
  for (const double e : runs[0].trace) out["trace"].push_back(rounded(e, 10));
  if (method == im_expert) {
    const Original& o = model.original;
    out["original"] = {{"mean_energy", o.mean_energy}, {"acceptance", o.acceptance}, {"microseconds", o.microseconds}};
    for (const auto& [lag, value] : o.autocorrelation)
      out["original"]["autocorrelation"].push_back({{"lag", lag}, {"value", value}});
  }
  if (method == im_bayesopt) {
    out["unique_points"] = to_json(unique);
    out["unique_points"]["published"] = model.unique_points;
    std::vector<double> surface(runs[0].surface.size());
    for (const Run& r : runs)
      for (std::size_t i = 0; i < surface.size(); ++i) surface[i] += r.surface[i] / runs.size();
    for (double& v : surface) v = rounded(v, 1e5);
    out["surface"] = {
        {"gammas", gammas}, {"largest_gamma", model.largest_gamma}, {"walks", model.longest_walk}, {"mean", surface}};
  }
  return out;
}

class Reproduction final : public papers::Reproduction {
 public:
  explicit Reproduction(const Flags& flags) : papers::Reproduction(flags), flags_(flags), models_(chosen(flags)) {}

 private:
  std::vector<papers::Job> jobs() override {
    std::vector<papers::Job> out;
    runs_.assign(models_.size() * num_methods, std::vector<Run>(static_cast<std::size_t>(flags_.runs)));
    for (std::size_t m = 0; m < models_.size(); ++m) {
      const Model& model = models_[m];
      targets_.push_back(make_target<double>(cpu_context(1), model.target, model.settings));
      const auto& spins = *targets_.back()->info().spin_model;
      for (int k = 0; k < num_methods; ++k)
        for (int r = 0; r < flags_.runs; ++r) {
          const double flips = k == kawasaki             ? 2
                               : k == im_expert && m > 0 ? model.longest_walk / 2
                                                         : model.longest_walk;
          Run& run = runs_[m * num_methods + k][r];
          out.push_back({fmt::format("{} {} run {}", model.name, method_names[k], r + 1),
                         flips * (model.name == "RBM" ? 40 : 1), [&, k, r](const auto& tick) {
                           run = run_of(model, spins, static_cast<Method>(k), static_cast<std::uint32_t>(r),
                                        flags_.steps, flags_.seed, stop(), tick);
                         }});
        }
    }
    return out;
  }
  std::vector<Json> results() override {
    std::vector<Json> out;
    for (std::size_t k = 0; k < runs_.size() && !stop(); ++k)
      out.push_back(summary_of(models_[k / num_methods], static_cast<Method>(k % num_methods), runs_[k], flags_.steps));
    return out;
  }
  void print(const std::vector<Json>& out) const override { fmt::print("{}", cli::columns(table_rows(out))); }
  std::string stem() const override { return "mahendran2011"; }
  std::vector<const char*> keys() const override { return {"model", "method"}; }
  std::string plotter() const override { return "tools/plot_mahendran2011.py"; }
  int json_indent() const override { return -1; }
  std::string page(std::vector<Json>& all) const override { return markdown(all); }

  const Flags& flags_;
  std::vector<Model> models_;
  std::vector<std::unique_ptr<Target<double>>> targets_;
  std::vector<std::vector<Run>> runs_;  ///< of each method on each model
};

std::function<int()> add_flags(CLI::App& command) {
  const auto f = std::make_shared<Flags>();
  command.add_option("--figure", f->figures, "4.1 to 4.9: the models that they are of; all when none is named");
  command.add_option("--runs", f->runs, "runs of each method on each model")->capture_default_str();
  command.add_option("--steps", f->steps, "steps of a run; the first ninth is not judged")->capture_default_str();
  command.add_option("--data-dir", f->data_dir, "folder with discrete/; else data/public or ../shared/data");
  papers::add_flags(command, *f, "method on each model", "runs");
  return [f] {
    papers::check_flag("--runs", f->runs, 1, 100000, 5);
    papers::check_flag("--steps", f->steps, 1000, 1000000000, 90000);
    return Reproduction(*f).run();
  };
}

const cli::RegisterPaper registered({"mahendran2011", "Bayesian Optimization for Adaptive MCMC", add_flags});

}  // namespace
}  // namespace kilochain::mahendran2011
