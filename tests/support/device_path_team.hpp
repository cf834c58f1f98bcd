// Runs the bodies that a GPU would run, on the CPU: a warp whose lanes take turns. What differs from HostTeam is what a
// team takes at once, a row in place of a register (kernels/device/runs.hpp), and the panels of 32 rows.
#pragma once
#include "kernels/device/platform.hpp"

namespace kilochain::testing_support {

struct DevicePathTeam {
  static constexpr bool on_host = false;
  static constexpr int lanes = 32;
  template <class Real>
  static constexpr int panel = 32;

  template <class F>
  void for_each(Index n, F&& f) const {
    for (Index lane = 31; lane >= 0; --lane)  // backwards: an order that a body must not rely on
      for (Index i = lane; i < n; i += 32) f(i);
  }
  template <class T, class F>
  T sum(Index n, F&& f) const {
    T part[32] = {};
    for (Index i = 0; i < n; ++i) part[i % 32] += f(i);
    for (int half = 16; half > 0; half /= 2)
      for (int l = 0; l < half; ++l) part[l] += part[l + half];
    return part[0];
  }
  template <class F>
  void single(F&& f) const {
    f();
  }
  void sync() const {}
};

}  // namespace kilochain::testing_support
