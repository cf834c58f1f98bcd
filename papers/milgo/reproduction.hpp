// kilochain reproduce milgo: which cells to run, running them, and what becomes of the results.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace kilochain::milgo {

struct Flags {
  std::vector<int> tables, figures;
  bool open_questions = false, json = false;
  int runs = 100, threads = 0;
  std::uint64_t seed = 1;
  std::string output;
};

/// Returns the exit status: 7 when a published number deviates and known_reason has no reason. Throws Error for flags
/// that make no sense and for a folder that cannot be written.
int reproduce(const Flags& flags);

}  // namespace kilochain::milgo
