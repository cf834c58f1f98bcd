// Which device and precision a run uses.
#pragma once
#include "host/run/options.hpp"

namespace kilochain {

/// auto: CUDA when a device can be used, else the CPU with a note. Throws Error (usage) for an unknown or unusable
/// device.
Context choose_device(const Options& options, std::vector<std::string>& notes);
/// Default: double on the CPU, float on CUDA.
Precision choose_precision(const Options& options, const Context& context);

}  // namespace kilochain
