// Rows of the paper's tables and the data of its figures, run and set beside what was published.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace kilochain::titsias2019 {

struct Flags {
  std::string only, output, data_dir;
  std::vector<int> tables, figures;  ///< both empty: tables 1 to 6, and with an output figures 1 to 5
  std::int64_t repeats = 0;          ///< 0: the paper's
  int threads = 0;                   ///< 0: as many as cores
  std::uint64_t seed = 1;
  std::string real = "double";
  bool json = false, as_printed = false;
};

/// Prints the tables and writes the page. Returns the exit status: 0, cli::status_deviates or 130 (interrupted). Throws
/// Error for flags out of range, missing data and an output that cannot be written.
int reproduce(const Flags& flags);

}  // namespace kilochain::titsias2019
