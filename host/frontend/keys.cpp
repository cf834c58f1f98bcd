#include "host/frontend/keys.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/frontend/option_visitors.hpp"
#include "host/run/option_table.hpp"

namespace kilochain {
namespace {

/// The table of the options, and behind them how a front end speaks about a run.
template <class Visitor>
void visit_configuration(Visitor&& visit, Configuration& c) {
  visit_options(visit, c.options);
  visit.group("What is said");
  visit("quiet", c.quiet, "yes/no", "no progress");
  visit("verbose", c.verbose, "yes/no", "configuration, estimate, and how the target is evaluated and why");
  visit("json", c.json, "yes/no", "exactly one JSON object on standard output");
}

std::vector<Key> make_keys() {
  std::vector<Key> keys;
  Configuration defaults;
  visit_configuration(Describe{keys}, defaults);
  return keys;
}

}  // namespace

std::vector<std::string> row_of(const SettingInfo& info) {
  std::string type = info.type, range = info.range;
  if (constexpr std::size_t widest = 24; type.size() > widest && type.find('|') != std::string::npos) {
    for (range = type; range.find('|') != std::string::npos;) range.replace(range.find('|'), 1, ", ");
    type = "choice";  // a column as wide as its longest list would leave no room for what it means
  }
  return {flag_of(info.name), type, info.default_value.empty() ? "-" : info.default_value,
          info.meaning + (range.empty() ? "" : fmt::format(" ({})", range))};
}

const std::vector<Key>& common_keys() {
  static const std::vector<Key> keys = make_keys();
  return keys;
}

const Key* find_common_key(const std::string& name) {
  for (const Key& key : common_keys())
    if (key.info.name == name) return &key;
  return nullptr;
}

void set_common(Configuration& configuration, const std::string& key, const Assignment& assignment) {
  Parse parse{key, assignment};
  visit_configuration(parse, configuration);
}

std::string key_of(std::string flag) {
  if (flag.starts_with("--")) flag.erase(0, 2);
  std::replace(flag.begin(), flag.end(), '-', '_');
  return flag;
}

std::string flag_of(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return "--" + key;
}

}  // namespace kilochain
