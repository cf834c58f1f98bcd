// What each subcommand of kilochain does. All throw Error; all return the exit status otherwise.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/frontend/keys.hpp"

namespace kilochain {
struct Estimate;
}

namespace kilochain::cli {

int sample(const std::vector<std::string>& arguments);
/// Goes on with the run that has left the file `path`; flags: of the few keys that resume_keys lists.
int resume(const std::string& path, const std::vector<Assignment>& flags, bool quiet, bool verbose, bool json);
inline constexpr const char* resume_keys[] = {"num_samples", "max_seconds", "checkpoint_seconds", "device", "threads"};
int estimate(const std::vector<std::string>& arguments);
int tune(const std::vector<std::string>& arguments);
/// without: chains to leave out, "3,17,20-29".
int summary(const std::string& path, const std::string& without, bool json, std::int64_t rows);
int diagnose(const std::string& path, const std::string& without, bool json);
int report(const std::string& path, const std::string& without, const std::string& output, bool overwrite);
int list_samplers(const std::string& name, bool verbose);
int list_targets(const std::string& name, bool verbose);
int info();
/// output: empty: beside the program.
int compile_stan(const std::string& program, const std::string& output);
int generate(const std::string& output, std::int64_t rows, std::int64_t features, std::uint64_t seed);

/// What sample and estimate begin with: the configuration, printed with --verbose. Empty where help was wanted and is
/// printed: common keys by group, and how to list the settings of a sampler or target.
std::optional<Configuration> configuration_of(const std::string& command, const std::vector<std::string>& arguments);

/// What a run will take: what, where, bytes; then totals beside what there is, the time, and advice.
std::string estimate_table(const Estimate& estimate);

/// Runs what is configured, tells of it, and returns the exit status: sample and resume.
int run_and_tell(const Configuration& configuration);

}  // namespace kilochain::cli
