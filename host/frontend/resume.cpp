// A run goes on where its file says that it stood: its configuration is read from there, and few things can be said anew.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "host/draws/draws_file.hpp"
#include "host/frontend/commands.hpp"
#include "host/frontend/configuration.hpp"

namespace kilochain::cli {
namespace {

std::string text_of(const nlohmann::json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// The configuration of the run, as if it stood in a TOML file.
std::vector<Assignment> assignments_of(const std::string& path) {
  const DrawsReader reader(path);
  std::vector<Assignment> out;
  const auto add = [&](const std::string& key, const std::string& text) { out.push_back({key, text, path, key}); };
  for (const auto& [key, value] : reader.header().config.items()) {
    // Of this call alone, or known better now: where the file is, and the precision that its draws have.
    if (key == "output" || key == "real" || key == "max_seconds" || key == "num_samples") continue;
    if (key == "sampler_settings" || key == "target_settings") {
      for (const auto& [name, setting] : value.items())
        add((key == "sampler_settings" ? "sampler." : "target.") + name, text_of(setting));
    } else {
      add(key, text_of(value));
    }
  }
  add("output", path);
  add("real", name_of(reader.header().real));
  return out;
}

}  // namespace

int resume(const std::string& path, const std::vector<Assignment>& flags, bool quiet, bool verbose, bool json) {
  Configuration c = resolve(assignments_of(path), flags);
  c.options.resume = true;
  c.quiet = quiet, c.verbose = verbose, c.json = json;
  if (verbose) fmt::print(stderr, "configuration {}\n", to_json(c.options).dump(2));
  return run_and_tell(c);
}

}  // namespace kilochain::cli
