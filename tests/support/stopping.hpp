// A density for runs that are stopped at a call of the test's choice.
#pragma once
#include <atomic>

#include "kilochain/run.hpp"

namespace kilochain::testing_support {

/// A correlated Gaussian that asks for a stop at its n-th call; with a narrow place about (9, 9, 9), where next to
/// nothing of the mass is.
struct Stopping {
  std::atomic<std::int64_t> calls{0}, at{-1};
  std::atomic<bool> stop{false};
  OwnTarget mine{"mine", function()};

  FunctionDensity function() {
    FunctionDensity f;
    f.one = density, f.user_data = this, f.dim = 3;
    return f;
  }
  static int density(std::size_t n, const double* x, double* gradient, double* lp, void* self) {
    auto& me = *static_cast<Stopping*>(self);
    if (++me.calls == me.at) me.stop = true;
    *lp = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double y = x[i] - 0.7 * (i > 0 ? x[i - 1] : 0);
      *lp -= y * y / 2, gradient[i] = -y;
      if (i > 0) gradient[i - 1] += 0.7 * y;
    }
    constexpr double variance = 1e-12;
    double narrow = 28;
    for (std::size_t i = 0; i < n; ++i) narrow -= (x[i] - 9) * (x[i] - 9) / 2 / variance;
    if (narrow > *lp) {
      *lp = narrow;
      for (std::size_t i = 0; i < n; ++i) gradient[i] = (9 - x[i]) / variance;
    }
    return 0;
  }
};

}  // namespace kilochain::testing_support
