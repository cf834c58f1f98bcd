// kilochain reproduce mahendran2011: the runs, the page and the data of its figures.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace kilochain::mahendran2011 {

struct Flags {
  std::vector<std::string> figures;  ///< 4.1 .. 4.9: the models that they are of; empty: all
  int runs = 5;
  std::int64_t steps = 90000;
  bool json = false;
  std::string output, data_dir;
  std::uint64_t seed = 1;
  int threads = 0;
};

int reproduce(const Flags& flags);

}  // namespace kilochain::mahendran2011
