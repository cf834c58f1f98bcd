// What a user wrote, before it is understood: a key, its text, and where it stands. From flags and from TOML alike.
#pragma once
#include <string>
#include <vector>

namespace kilochain {

struct Assignment {
  std::string key;    ///< num_chains, step_size, sampler.step_size
  std::string text;   ///< the value as text
  std::string owner;  ///< for messages: "command line", "german.toml line 3"
  std::string shown;  ///< as written: --num-chains, num_chains
};

/// The arguments of `kilochain sample`.
struct Arguments {
  std::string config;  ///< the TOML file; empty when there is none
  std::vector<Assignment> flags;
  bool help = false;
};

/// Splits `--key value`, `--key=value`, and `--key` alone for yes/no keys. Throws Error (usage) for a missing value, a
/// second file and a stray argument; whether a key exists is asked later, when sampler and target are known.
Arguments split_arguments(const std::vector<std::string>& arguments);

/// The keys of a TOML file, tables [sampler] and [target] as "sampler.step_size" (their key "name" is the sampler or
/// the target itself). Throws Error (usage) for a missing file, wrong TOML (with its line) and values of other types.
std::vector<Assignment> read_toml(const std::string& path);

}  // namespace kilochain
