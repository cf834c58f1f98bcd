#include "papers/mahendran2011/reproduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "host/frontend/files.hpp"
#include "host/frontend/interrupt.hpp"
#include "host/frontend/text.hpp"
#include "host/registry/registry.hpp"
#include "papers/jobs.hpp"
#include "papers/mahendran2011/report.hpp"
#include "papers/mahendran2011/runs.hpp"
#include "papers/page.hpp"
#include "papers/provenance.hpp"

namespace kilochain::mahendran2011 {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

using papers::say;

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

struct Spread {
  double mean = 0, sd = 0;
};
Spread spread_of(const std::vector<double>& values) {
  const double n = values.size();
  Spread s;
  for (const double v : values) s.mean += v / n;
  for (const double v : values) s.sd += (v - s.mean) * (v - s.mean) / std::max(1.0, n - 1);
  s.sd = std::sqrt(s.sd);
  return s;
}
/// Every run beside mean and deviation, unless they are many.
Json to_json(const std::vector<double>& values) {
  const Spread s = spread_of(values);
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
    const Spread s = spread_of(at);
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

/// New results take the place of the same ones that an earlier call left in the folder; the page is made of all.
void write_page(const Flags& flags, const std::vector<Json>& fresh) {
  const fs::path folder = flags.output, store = folder / "mahendran2011.json";
  const std::vector<Json> all = papers::merged(store, fresh, {"model", "method"});
  const fs::path page = folder / "mahendran2011.md";
  cli::write_file(store, Json(all).dump() + "\n");
  cli::write_file(page, markdown(all, papers::machine()));
  say("written: " + page.string());
  say(fmt::format("pictures: tools/plot_mahendran2011.py {}", flags.output));
}

}  // namespace

int reproduce(const Flags& flags) {
  papers::check_flag("--runs", flags.runs, 1, 100000, 5);
  papers::check_flag("--steps", flags.steps, 1000, 1000000000, 90000);
  const std::vector<Model> asked = chosen(flags);
  if (!flags.output.empty()) cli::make_folder(flags.output);
  cli::catch_signals();
  std::atomic<bool>& stop = cli::stop_requested();
  std::vector<std::unique_ptr<Target<double>>> targets;
  std::vector<std::vector<Run>> results(asked.size() * num_methods);
  std::vector<papers::Job> jobs;
  for (std::size_t m = 0; m < asked.size(); ++m) {
    targets.push_back(make_target<double>(cpu_context(1), asked[m].target, asked[m].settings));
    const auto& spins = *targets.back()->info().spin_model;
    for (int k = 0; k < num_methods; ++k) {
      auto& runs = results[m * num_methods + k];
      runs.resize(flags.runs);
      for (std::size_t r = 0; r < runs.size(); ++r) {
        const double flips = k == kawasaki             ? 2
                             : k == im_expert && m > 0 ? asked[m].longest_walk / 2
                                                       : asked[m].longest_walk;
        jobs.push_back({fmt::format("{} {} run {}", asked[m].name, method_names[k], r + 1),
                        flips * (asked[m].name == "RBM" ? 40 : 1), [&, m, k, r](const auto& tick) {
                          runs[r] = run_of(asked[m], spins, static_cast<Method>(k), static_cast<std::uint32_t>(r),
                                           flags.steps, flags.seed, stop, tick);
                        }});
      }
    }
  }
  papers::run_jobs(std::move(jobs), flags.threads, stop, 10);
  if (stop) return 130;
  std::vector<Json> out;
  for (std::size_t m = 0; m < asked.size(); ++m)
    for (int k = 0; k < num_methods; ++k)
      out.push_back(summary_of(asked[m], static_cast<Method>(k), results[m * num_methods + k], flags.steps));
  if (flags.json)
    fmt::print("{}\n", Json(out).dump(2));
  else
    fmt::print("{}", cli::columns(table_rows(out)));
  if (!flags.output.empty()) write_page(flags, out);
  return 0;
}

}  // namespace kilochain::mahendran2011
