#include "host/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "host/draws/draws_file.hpp"
#include "host/report/advice.hpp"
#include "host/report/looked.hpp"

namespace kilochain {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_rows = 2000, most_map_rows = 400, most_points = 300;
constexpr std::int64_t most_pair_draws = 200'000;

std::string quoted(const std::string& word) {
  const bool plain = word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+") ==
                     std::string::npos;
  if (plain && !word.empty()) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// The call that makes the run again, from the configuration in the file.
std::string command_of(const Json& config) {
  std::string out = "kilochain sample";
  const auto add = [&](std::string key, const Json& value) {
    if (value.is_null() || value == "" || key == "overwrite") return;
    std::replace(key.begin(), key.end(), '_', '-');
    out += " --" + key + " " + quoted(text_of_value(value));
  };
  for (const char* first : {"target", "sampler"})
    if (config.contains(first)) add(first, config[first]);
  for (const auto& [key, value] : config.items()) {
    if (key == "target" || key == "sampler") continue;
    if (!value.is_object()) add(key, value);
    if (key == "sampler_settings" || key == "target_settings")  // names that both have need to say whose they are
      for (const auto& [name, setting] : value.items()) add(key.substr(0, key.find('_')) + "." + name, setting);
  }
  return out;
}

Json run_of(const DrawsReader& reader) {
  const Json& a = reader.attributes();
  Json inputs = Json::array();
  for (const auto& [name, hash] : reader.header().inputs.value_or(std::vector<Input>())) inputs.push_back({name, hash});
  const auto text = [&](const char* key) { return a.contains(key) ? a[key] : Json(nullptr); };
  return {{"command", command_of(reader.header().config)},
          {"file", reader.path()},
          {"seed", std::to_string(reader.header().seed)},
          {"thin", reader.header().thin},
          {"version", text("inference_library_version")},
          {"created", text("created_at")},
          {"inputs", inputs}};
}

/// Every parameter's row: the summary's, and where the means of its chains are.
Json table_of(const Diagnosis& d) {
  Json rows = Json::array();
  for (const ParameterSummary& p : worst_first(d.run.parameters)) {
    if (rows.size() == most_rows) break;
    Json row = {p.name};
    for (const SummaryColumn& column : summary_columns) row.push_back(number_or_null(p.*column.figure));
    rows.push_back(row);
  }
  return rows;
}

/// Of the parameters at the table's beginning.
Json forest_of(const Diagnosis& d) {
  Json rows = Json::array();
  for (const ParameterSummary& p : worst_first(d.run.parameters)) {
    if (rows.size() == 40) break;
    Json row = {p.name, number_or_null(p.q05), number_or_null(p.q50), number_or_null(p.q95)};
    for (std::size_t k = 0; k < d.spreads.size(); ++k)
      if (d.run.parameters[k].name == p.name)
        for (const double x : d.spreads[k]) row.push_back(number_or_null(x));
    rows.push_back(row);
  }
  return rows;
}

/// As counts over 30 equal parts from lowest to highest: a page does not grow with the chains.
Json histogram(std::vector<double> x) {
  std::erase_if(x, [](double v) { return !std::isfinite(v); });
  if (x.empty()) return nullptr;
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  std::vector<int> counts(*high > *low ? 30 : 1);
  for (const double v : x)
    ++counts[std::min<std::size_t>(counts.size() - 1, *high > *low ? (v - *low) / (*high - *low) * counts.size() : 0)];
  return {{"low", *low}, {"high", *high}, {"counts", counts}};
}

/// The figures that need the draws: log density and worst parameters, and pairs of these.
void look_closer(Json& page, const DrawsReader& reader, const Diagnosis& d) {
  const std::int64_t draws = reader.draws_written(), chains = std::ssize(d.chains);
  const std::vector<std::size_t> shown = chains_shown(d, most_map_rows);
  std::vector<double> values = kept_rows(reader.lp(), d, draws);
  const std::int64_t every = std::max<std::int64_t>(1, chains * draws / most_pair_draws);
  std::vector<std::vector<double>> few;
  const auto take = [&](const std::string& name, bool closely, const ParameterSummary* known) {
    const Series series{values.data(), chains, draws};
    if (closely && has_diagnostics(series)) page["looked"].push_back(looked_at(name, series, d, shown, known));
    few.emplace_back();
    for (std::int64_t i = 0; i < series.size(); i += every) few.back().push_back(values[i]);
  };
  take("log density", true, nullptr);
  for (std::size_t k = 0; k < d.worst.size(); ++k) {
    reader.read_parameters(static_cast<std::int64_t>(d.worst[k]), 1, values);
    values = kept_rows(values, d, draws);
    take(d.run.parameters[d.worst[k]].name, k < 2, &d.run.parameters[d.worst[k]]);
  }
  const std::vector<Divergence> all = reader.divergences();
  const std::size_t step = std::max<std::size_t>(1, all.size() / most_points);
  for (std::size_t i = 0; i < d.worst.size(); ++i)
    for (std::size_t j = i + 1; j < d.worst.size(); ++j) {
      std::vector<std::array<double, 2>> points;
      for (std::size_t k = 0; k < all.size() && points.size() < most_points; k += step)
        points.push_back({all[k].point[d.worst[i]], all[k].point[d.worst[j]]});
      page["pairs"].push_back(pair_of(d.run.parameters[d.worst[i]].name, few[i + 1], d.run.parameters[d.worst[j]].name,
                                      few[j + 1], points));
    }
}

}  // namespace

std::string page_of(const std::string& path, const Diagnosis& d) {
  const DrawsReader reader(path);
  const NextStep next = next_step(d);
  Json page = {{"verdict", next.verdict},
               {"advice", next.advice},
               {"run", run_of(reader)},
               {"table", table_of(d)},
               {"parameters", d.run.parameters.size()},
               {"forest", forest_of(d)},
               {"missing", d.missing},
               {"looked", Json::array()},
               {"pairs", Json::array()},
               {"findings", Json::array()},
               {"converged", verdict_of(d.run).converged && d.findings.empty()},
               {"draws", reader.draws_written()}};
  Json summary = to_json(d.run);
  summary.erase("parameters");
  page["summary"] = summary;
  page["warmup"] = {{"note", d.run.warmup_note},
                    {"converged", d.run.warmup_converged ? Json(*d.run.warmup_converged) : Json(nullptr)},
                    {"step", histogram(chain_means(reader, d, "step_size"))}};
  std::vector<double> acceptance;
  for (const ChainFigures& c : d.chains) acceptance.push_back(c.acceptance);
  page["warmup"]["acceptance"] = histogram(acceptance);
  for (const Finding& f : d.findings)
    page["findings"].push_back({f.kind, f.words, f.chains.empty() ? "" : chains_text(f.chains, 40), f.advice});
  page["columns"] = Json::array({"variable"});
  for (const SummaryColumn& column : summary_columns) page["columns"].push_back(column.title);
  if (reader.has_draws() && !d.chains.empty()) look_closer(page, reader, d);
  std::string json = page.dump(-1, ' ', false, Json::error_handler_t::replace), text = page_text;
  for (std::size_t at = 0; (at = json.find('<', at)) != std::string::npos;) json.replace(at, 1, "\\u003c");
  const std::string place = "{{figures}}";
  return text.replace(text.find(place), place.size(), json);
}

}  // namespace kilochain
