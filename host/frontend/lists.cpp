// What is registered, with every setting; and the help of sample, which is the table of the common keys.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/tell.hpp"
#include "host/frontend/commands.hpp"
#include "host/frontend/configuration.hpp"
#include "host/frontend/text.hpp"

namespace kilochain::cli {
namespace {

template <class Entry>
void print_settings(const Entry& entry) {
  fmt::print("{}: {}\n", entry.name, entry.meaning);
  std::vector<std::vector<std::string>> rows = {{"flag", "type", "default", "meaning (range)"}};
  for (const SettingInfo& info : entry.settings) rows.push_back(row_of(info));
  fmt::print("{}", rows.size() > 1 ? columns(rows) : "  no settings\n");
}

template <class Entry>
int list(const std::vector<Entry>& entries, const Entry* one, const std::string& kind, bool verbose) {
  if (one) {
    print_settings(*one);
    fmt::print("As TOML keys: dashes become underscores. `kilochain sample --{} {} --help` lists the common flags.\n",
               kind, one->name);
    return 0;
  }
  if (verbose) {
    for (const Entry& e : entries) {
      print_settings(e);
      fmt::print("\n");
    }
    return 0;
  }
  std::vector<std::vector<std::string>> rows;
  for (const Entry& e : entries) rows.push_back({e.name, e.meaning});
  std::vector<std::string> lines = column_rows(rows);  // one table, so that columns line up
  const auto is_density = [](const Entry& e) { return e.family == Family::density; };
  lines.insert(lines.begin() + std::count_if(entries.begin(), entries.end(), is_density), "Of spin models:\n");
  fmt::print("{}\n`kilochain {}s NAME` lists the settings of one, --verbose those of all.\n", fmt::join(lines, ""),
             kind);
  return 0;
}

}  // namespace

int list_samplers(const std::string& name, bool verbose) {
  return list(samplers(), name.empty() ? nullptr : &find_sampler(name), "sampler", verbose);
}

int list_targets(const std::string& name, bool verbose) {
  return list(targets(), name.empty() ? nullptr : &find_target(name), "target", verbose);
}

namespace {

std::string sample_help(const std::string& command) {
  std::string out = fmt::format(
      "Usage: kilochain {} [CONFIG.toml] [--flag value ...]\n\n{}\n", command,
      command == "sample"
          ? "Draws from a target with many chains, prints a summary and writes the draws."
          : "Says what a run would take: bytes on host, device and disk, and time. Status 2 when it does not fit.");
  std::vector<std::vector<std::string>> rows;
  for (const Key& key : common_keys()) rows.push_back(row_of(key.info));
  const std::vector<std::string> lines = column_rows(rows);  // one table, so that columns line up over groups
  std::string group;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    if (common_keys()[k].group != group) out += fmt::format("\n{}:\n", group = common_keys()[k].group);
    out += lines[k];
  }
  out += R"(
Settings of the sampler and of the target are flags too:
  kilochain samplers NAME    those of a sampler, with default, range and meaning
  kilochain targets NAME     those of a target
  --sampler.NAME, --target.NAME   when both have a setting of that name

CONFIG.toml holds the same keys: --num-chains 1000 is num_chains = 1000; settings stand beside them or in tables
[sampler] and [target], where name = "..." chooses. Flags override the file. A relative path, in the file too, is
relative to the directory that the program runs in.

)";
  using enum ExitStatus;
  const bool runs = command == "sample";
  return fmt::format(
      "{}{}\n\nExample: kilochain {} --target logistic_regression --data data/challenger.csv {}\n", out,
      runs ? exit_statuses({done, usage, data, quarantined, output, not_converged, device, out_of_time, interrupted})
           : exit_statuses({done, usage, data, device}),
      command, runs ? "--output challenger.nc" : "--num-chains 100000");
}

}  // namespace

std::optional<Configuration> configuration_of(const std::string& command, const std::vector<std::string>& arguments) {
  const Arguments split = split_arguments(arguments);
  if (split.help) {
    fmt::print("{}", sample_help(command));
    return {};
  }
  Configuration c = read_configuration(split);
  if (c.verbose) tell(stderr, "configuration {}\n", to_json(c.options).dump(2));
  return c;
}

}  // namespace kilochain::cli
