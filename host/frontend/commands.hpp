// What each subcommand of kilochain does. All throw Error; all return the exit status otherwise.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace kilochain::cli {

int sample(const std::vector<std::string>& arguments);
int estimate(const std::vector<std::string>& arguments);
int summary(const std::string& path, bool json, std::int64_t rows);
int list_samplers(const std::string& name, bool verbose);
int list_targets(const std::string& name, bool verbose);
int info();
int generate(const std::string& output, std::int64_t rows, std::int64_t features, std::uint64_t seed);

/// The flags of reproduce.
struct ReproduceFlags {
  std::string paper, only, output, data_dir;
  std::vector<int> tables, figures;  ///< both empty: tables 1 to 6, and with an output figures 1 to 5
  std::int64_t repeats = 0;          ///< 0: the paper's
  int threads = 0;
  std::uint64_t seed = 1;
  std::string real = "double";
  bool json = false, as_printed = false;
};
int reproduce(const ReproduceFlags& flags);

/// The help of sample and estimate: common keys by group, and how to list the settings of a sampler or target.
std::string sample_help(const std::string& command);

}  // namespace kilochain::cli
