// A name for a coordinate of a target whose parameters are constrained: of the first recorded value that moves with it.
#pragma once
#include <string>

#include "targets/target.hpp"

namespace kilochain {

/// As people know it: a parameter's name, or "coordinate 3" where nothing moves with it. Cost: `constrain` twice.
std::string name_of_coordinate(const TargetInfo& info, std::int64_t i);

}  // namespace kilochain
