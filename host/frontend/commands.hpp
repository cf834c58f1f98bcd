// What each subcommand of kilochain does. All throw Error; all return the exit status otherwise.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/frontend/keys.hpp"

namespace kilochain::cli {

int sample(const std::vector<std::string>& arguments);
int estimate(const std::vector<std::string>& arguments);
int tune(const std::vector<std::string>& arguments);
int summary(const std::string& path, bool json, std::int64_t rows);
int list_samplers(const std::string& name, bool verbose);
int list_targets(const std::string& name, bool verbose);
int info();
int generate(const std::string& output, std::int64_t rows, std::int64_t features, std::uint64_t seed);

/// What sample and estimate begin with: the configuration, told with --verbose. Empty where help was asked for and is
/// printed: common keys by group, and how to list the settings of a sampler or target.
std::optional<Configuration> configuration_of(const std::string& command, const std::vector<std::string>& arguments);

}  // namespace kilochain::cli
