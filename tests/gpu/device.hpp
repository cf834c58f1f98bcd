// The device that the GPU tests run on, or a skip that says why there is none.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <set>

#include "kernels/device/context.hpp"

namespace kilochain {

/// Says once what is not tested here, and why: bench/on_gpu.py reads it.
inline void skip_aloud(const std::string& why) {
  static std::set<std::string> said;
  if (said.insert(why).second) std::cout << "SKIPPED ALOUD: " << why << "\n";
}

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why = cuda_unavailable();
    if (!why.empty()) {
      skip_aloud("no CUDA device: " + why);
      GTEST_SKIP() << why;
    }
    device_ = &shared_device();
  }
  const Context& device() const { return *device_; }
  const Context& host() const { return host_; }

 private:
  static Context& shared_device() {
    static Context context = [] {
      Context c = cuda_context(0);
      c.graphs = !std::getenv("KILOCHAIN_NO_GRAPHS");  // bench/on_gpu.py's first pass
      return c;
    }();
    return context;
  }
  Context* device_ = nullptr;
  Context host_ = cpu_context(1);
};

}  // namespace kilochain
