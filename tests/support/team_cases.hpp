// The cases of typed tests of factors: the CPU's team and the one that a GPU runs, in both precisions.
#pragma once
#include <gtest/gtest.h>

#include "kernels/device/team.hpp"
#include "tests/support/device_path_team.hpp"

namespace kilochain::testing_support {

template <class T, class R>
struct Case {
  using Team = T;
  using Real = R;
};
using Cases = ::testing::Types<Case<HostTeam, float>, Case<HostTeam, double>, Case<DevicePathTeam, float>,
                               Case<DevicePathTeam, double>>;

}  // namespace kilochain::testing_support
