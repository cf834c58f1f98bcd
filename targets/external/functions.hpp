// Densities that are C functions (include/kilochain/c.h), as targets: on the CPU, or on the CUDA device whose pointers
// a function takes.
#pragma once
#include "kilochain/c.h"
#include "targets/target.hpp"

namespace kilochain {

/// A C function with what it is called with. One of `one`, `chains` and `on_device`.
/// names: of the coordinates, or none.
struct FunctionDensity {
  kilochain_density one = nullptr;
  kilochain_density_of_chains chains = nullptr;     ///< called once a round for all chains that ask
  kilochain_density_on_device on_device = nullptr;  ///< as that, of device pointers: runs need a CUDA device
  void* user_data = nullptr;
  Index dim = 0;
  std::vector<std::string> names;
  double call_seconds = 60;  ///< how long one call may take before that is reported; 0: for ever
  bool tried = true;         ///< `chains` is called with one point before a run: an error when that takes longer
  std::shared_ptr<const void> keeps;  ///< lives as long as the target: what user_data points to, or null
};

/// `name` begins messages. Throws an Error (usage) for a dimension of 0, another number of names, and a function that
/// is not for where the run is.
template <class Real>
std::unique_ptr<Target<Real>> function_target(const Context& context, const std::string& name,
                                              const FunctionDensity& density);

/// The part of it for a CUDA device (functions_cuda.cu).
template <class Real>
std::unique_ptr<Target<Real>> function_target_on_device(const Context& context, const FunctionDensity& density,
                                                        TargetInfo info);

}  // namespace kilochain
