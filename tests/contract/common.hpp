// What tests of samplers share: one thread, and the names of all samplers of densities for parametrised suites.
#pragma once
#include <string>
#include <vector>

#include "host/registry/registry.hpp"
#include "kernels/device/context.hpp"

namespace kilochain::testing_support {

inline const Context context = cpu_context(1);

inline std::vector<std::string> sampler_names() {
  std::vector<std::string> out;
  for (const auto& e : samplers_of(Family::density)) out.push_back(e.name);
  return out;
}

}  // namespace kilochain::testing_support
