// Densities that are C functions (include/kilochain/c.h), as targets on the CPU.
#pragma once
#include "kilochain/c.h"
#include "targets/target.hpp"

namespace kilochain {

/// A C function with what it is called with. One of `one` and `chains`; names: of the coordinates, or none.
struct FunctionDensity {
  kilochain_density one = nullptr;
  kilochain_density_of_chains chains = nullptr;  ///< called once a round for all chains that ask
  void* user_data = nullptr;
  Index dim = 0;
  std::vector<std::string> names;
  double call_seconds = 60;           ///< how long one call may take before that is told; 0: for ever
  std::shared_ptr<const void> keeps;  ///< lives as long as the target: what user_data points to, or null
};

/// `name` begins messages. Throws an Error (usage) for a dimension of 0 and another number of names.
template <class Real>
std::unique_ptr<Target<Real>> function_target(const std::string& name, const FunctionDensity& density);

}  // namespace kilochain
