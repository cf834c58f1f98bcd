// The keys that every run has, as flags (--num-chains) and as TOML keys (num_chains): what
// host/run/option_table.hpp lists, and how to speak about a run. The settings of the chosen sampler and target come
// beside them, from the registry.
#pragma once
#include <string>
#include <vector>

#include "host/frontend/assignment.hpp"
#include "host/run/options.hpp"

namespace kilochain {

/// A run as a front end knows it: what to run, and how to speak about it.
struct Configuration {
  Options options;
  bool quiet = false;    ///< no progress
  bool verbose = false;  ///< plan, estimate and configuration too
  bool json = false;     ///< one JSON object instead of text
};

struct Key {
  std::string group;  ///< heading in the help
  SettingInfo info;
};

/// A setting as a row of a table: flag, type, default, meaning and range.
std::vector<std::string> row_of(const SettingInfo& info);

/// All of them, in the order of the help.
const std::vector<Key>& common_keys();
/// nullptr when there is none of that name.
const Key* find_common_key(const std::string& name);

/// Parses the assignment's text into the common key of that name. Error (usage) begins `owner: shown = text`.
void set_common(Configuration& configuration, const std::string& key, const Assignment& assignment);

/// num_chains for --num-chains, num-chains and num_chains.
std::string key_of(std::string flag);
/// --num-chains for num_chains.
std::string flag_of(std::string key);

}  // namespace kilochain
