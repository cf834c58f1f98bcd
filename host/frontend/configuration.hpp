// From what a user wrote to a Configuration: flags over the TOML file over the defaults, one flat namespace for common
// keys and the settings of the chosen sampler and target. "sampler." and "target." say which one a name belongs to
// when both have it; a common key wins over a setting without such a prefix.
#pragma once
#include "host/frontend/assignment.hpp"
#include "host/frontend/keys.hpp"

namespace kilochain {

/// Throws Error (usage): unknown sampler, target or key (naming the nearest known one, or the sampler or target whose
/// setting it is), a key given twice in one place, an ambiguous name, a value that cannot be. Settings of samplers and
/// targets stay text: the run parses them.
Configuration resolve(const std::vector<Assignment>& file, const std::vector<Assignment>& flags);

/// The configuration of the run that has left the file, as if it stood in a TOML file; with the number of its samples
/// where the run begins `again`.
std::vector<Assignment> assignments_of(const std::string& path, bool again);

/// Arguments of `kilochain sample` to a configuration; the file, if any, is read.
Configuration read_configuration(const Arguments& arguments);

}  // namespace kilochain
