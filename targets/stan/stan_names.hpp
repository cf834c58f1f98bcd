// Stan's names of values, "theta.2" or "L.1.3" counted from 1 and with the first index running fastest, as this program
// has them: "theta[2]" and "L[1,3]", grouped into variables of one shape each, the last index running fastest.
#pragma once
#include <string>
#include <vector>

#include "targets/target.hpp"

namespace kilochain {

struct StanNames {
  std::vector<Variable> variables;
  std::vector<std::string> names;   ///< one per value, in the order in which values are recorded
  std::vector<std::size_t> source;  ///< where Stan has that value
};

/// names: as bs_param_names gives them, joined by commas.
StanNames stan_names(const std::string& names);

}  // namespace kilochain
