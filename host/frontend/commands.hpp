// What each subcommand of kilochain does. All throw Error; all return the exit status otherwise.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace kilochain::cli {

int sample(const std::vector<std::string>& arguments);
int estimate(const std::vector<std::string>& arguments);
int tune(const std::vector<std::string>& arguments);
int summary(const std::string& path, bool json, std::int64_t rows);
int list_samplers(const std::string& name, bool verbose);
int list_targets(const std::string& name, bool verbose);
int info();
int generate(const std::string& output, std::int64_t rows, std::int64_t features, std::uint64_t seed);

/// The help of sample and estimate: common keys by group, and how to list the settings of a sampler or target.
std::string sample_help(const std::string& command);

}  // namespace kilochain::cli
