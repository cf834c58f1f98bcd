// Sizes that sit on, before and after the widths of vector registers, panels and warps.
#pragma once
#include "kernels/device/platform.hpp"

namespace kilochain::testing_support {

inline constexpr Index factor_sizes[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65, 257};
inline constexpr Index chain_sizes[] = {1, 2, 31, 32, 33, 65};

}  // namespace kilochain::testing_support
