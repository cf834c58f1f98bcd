// What every test of the emulated device begins and ends with: a device as new, threads in the order of seed 1.
#pragma once
#include <gtest/gtest.h>

#include "kernels/device/context.hpp"
#include "tests/emulated_device/emulated.hpp"

namespace kilochain {

class EmulatedDevice : public testing::Test {
 protected:
  void SetUp() override { emulated::forget_faults(), emulated::set_seed(1); }
  void TearDown() override { emulated::forget_faults(), emulated::forget_syncs(), emulated::set_seed(1); }
  static const Context& device() {
    static const Context context = cuda_context(0);
    return context;
  }
  static const Context& host() {
    static const Context context = cpu_context(1);
    return context;
  }
};
template <class Parameter>
class EmulatedDeviceWith : public EmulatedDevice, public testing::WithParamInterface<Parameter> {};

}  // namespace kilochain
