#include "host/frontend/tune_files.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <sstream>

#include "base/number_of.hpp"
#include "host/frontend/files.hpp"

namespace kilochain::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* advice = "Name another folder with --output, or remove this one?";

/// The first key in which two searches differ, and both values.
std::string difference(const Json& there, const Json& here) {
  for (const auto& [key, value] : here.items())
    if (!there.contains(key) || there[key] != value)
      return fmt::format("{}: {} there, {} here", key, there.contains(key) ? there[key].dump() : "nothing",
                         value.dump());
  return "more is set there";
}

/// A TOML value: a number as it stands, else a text in quotes (what JSON escapes, TOML reads).
std::string toml_value(const std::string& text) {
  const auto number = number_of<double>(text);
  return number && std::isfinite(*number) ? text : Json(text).dump();
}

}  // namespace

TrialTable::TrialTable(const std::string& folder, const Json& search)
    : path_((fs::path(folder) / "trials.jsonl").string()) {
  make_folder(folder);
  if (fs::exists(path_))
    read(search);
  else
    write_file(path_, Json{{"kilochain_tune", 1}, {"search", search}}.dump() + "\n");
  file_.open(path_, std::ios::binary | std::ios::app);
  require(file_.good(), ExitStatus::usage, path_ + ": cannot be written", "the table of trials",
          "May you write there? Name another folder with --output?");
}

void TrialTable::read(const Json& search) {
  std::ifstream in(path_, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::size_t whole = text.rfind('\n') + 1;  // 0 when there is no whole line
  if (whole < text.size()) fs::resize_file(path_, whole);
  std::istringstream lines(text.substr(0, whole));
  std::string line;
  for (std::size_t k = 0; std::getline(lines, line); ++k) {
    Json row = Json::parse(line, nullptr, false);
    const std::string where = fmt::format("line {}", k + 1);
    if (k == 0) {
      require(!row.is_discarded() && row.is_object() && row.contains("kilochain_tune"), ExitStatus::data,
              path_ + ": not a table of trials", where, advice);
      require(row["search"] == search, ExitStatus::usage, path_ + ": the table of another search",
              difference(row["search"], search), advice);
      continue;
    }
    require(!row.is_discarded() && row.is_object() && row.contains("settings") && row.contains("score") &&
                row["score"].is_number() && row.value("trial", std::size_t(0)) == k - 1,
            ExitStatus::data, path_ + ": a line that is no trial", where,
            "Cut the file before that line, or remove it?");
    rows_.push_back(std::move(row));
  }
  if (whole == 0) write_file(path_, Json{{"kilochain_tune", 1}, {"search", search}}.dump() + "\n");
}

void TrialTable::append(Json row) {
  file_ << row.dump() << '\n' << std::flush;
  require(file_.good(), ExitStatus::output, path_ + ": cannot be written", fmt::format("trial {}", rows_.size()),
          "Is the disk full? What is in it is kept: the same command resumes the search.");
  rows_.push_back(std::move(row));
}

Json search_of(const TuneConfiguration& c) {
  Json out = to_json(c.run.options);
  for (const char* key : {"threads", "output", "overwrite", "num_samples", "thin", "draws", "save_warmup",
                          "chain_batch_size", "superchains"})
    out.erase(key);
  Json box = Json::array();
  for (const Dimension& d : c.box) box.push_back(fmt::format("{}={}:{}{}", d.name, d.low, d.high, d.log ? ":log" : ""));
  out["over"] = box;
  out["objective"] = tune_objective_names[static_cast<int>(c.tune.objective)];
  out["batch"] = c.tune.batch;
  out["covariance"] = covariance_names[static_cast<int>(c.tune.covariance)];
  out["fit"] = fit_names[static_cast<int>(*c.tune.fit)];
  out["trial_gradients"] = c.tune.trial_gradients;
  out["trial_warmup"] = *c.tune.trial_warmup;
  return out;
}

std::string best_toml(const TuneConfiguration& c, const SettingTexts& settings, const std::string& comment) {
  const Options& o = c.run.options;
  std::string out = "# " + comment + "\n";
  if (o.num_chains > 0) out += fmt::format("num_chains = {}\n", o.num_chains);
  out += fmt::format("adapt_scope = \"{}\"\n\n[target]\nname = \"{}\"\n", name_of(o.adapt_scope), o.target);
  for (const auto& [name, text] : o.target_settings) out += fmt::format("{} = {}\n", name, toml_value(text));
  out += fmt::format("\n[sampler]\nname = \"{}\"\n", o.sampler);
  SettingTexts all = o.sampler_settings;
  for (const auto& [name, text] : settings) all[name] = text;
  for (const auto& [name, text] : all) out += fmt::format("{} = {}\n", name, toml_value(text));
  return out;
}

std::string policy_csv(const std::vector<Dimension>& box, const std::vector<Point>& points) {
  std::string out;
  for (const Dimension& d : box) out += (out.empty() ? "" : ",") + d.name;
  for (const Point& p : points) {
    out += '\n';
    for (std::size_t i = 0; i < p.size(); ++i) out += fmt::format("{}{:.6g}", i > 0 ? "," : "", p[i]);
  }
  return out + "\n";
}

Json surface(const Tuner& tuner, TuneObjective objective) {
  constexpr std::size_t fine = 61;
  const Box& box = tuner.box();
  const GaussianProcess f = tuner.posterior();
  const Point best = tuner.best().values;
  Json out = {{"objective", tune_objective_names[static_cast<int>(objective)]},
              {"log", objective != TuneObjective::autocorrelation},
              {"best", best},
              {"lengths", f.hyperparameters().lengths},
              {"signal", f.hyperparameters().signal},
              {"noise", f.hyperparameters().noise}};
  for (const Dimension& d : box.dimensions())
    out["dimensions"].push_back({{"name", d.name}, {"low", d.low}, {"high", d.high}, {"log", d.log}});
  for (const Tuner::Told& t : tuner.told()) out["trials"].push_back({{"values", t.values}, {"score", t.score}});
  const auto add = [&](std::size_t i, std::size_t j) {
    const auto first = box.axis(i, fine), second = i == j ? std::vector<double>{best[i]} : box.axis(j, fine);
    Json mean = Json::array(), sd = Json::array();
    for (const double a : first) {
      Json means = Json::array(), sds = Json::array();
      for (const double b : second) {
        Point p = best;
        if (i != j) p[j] = b;
        p[i] = a;
        const auto at = f(box.unit(p));
        means.push_back(at.mean), sds.push_back(at.sd);
      }
      mean.push_back(means), sd.push_back(sds);
    }
    out["slices"].push_back({{"dimensions", {i, j}}, {"axes", {first, second}}, {"mean", mean}, {"sd", sd}});
  };
  if (box.size() == 1) add(0, 0);
  for (std::size_t i = 0; i < box.size(); ++i)
    for (std::size_t j = i + 1; j < box.size(); ++j) add(i, j);
  return out;
}

}  // namespace kilochain::cli
