// kilochain reproduce mahendran2011: the runs, the page and the data of its figures.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "host/frontend/text.hpp"
#include "host/registry/registry.hpp"
#include "papers/mahendran2011/report.hpp"
#include "papers/mahendran2011/runs.hpp"

namespace kilochain::mahendran2011 {
namespace {

using papers::Json;

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
  std::string page(std::vector<Json>& all) const override { return markdown(all, papers::machine()); }

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
