// What a file of draws holds, to compare two files bit by bit.
#pragma once
#include <string>
#include <vector>

#include "host/draws/draws_file.hpp"

namespace kilochain::testing_support {

/// All draws of all parameters, then the log densities.
inline std::vector<double> everything(const std::string& path) {
  const DrawsReader reader(path);
  std::vector<double> all;
  reader.read_parameters(0, std::ssize(reader.header().names), all);
  for (const double lp : reader.lp()) all.push_back(lp);
  return all;
}

}  // namespace kilochain::testing_support
