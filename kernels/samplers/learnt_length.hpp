// Lengths of trajectories about a mean that was learnt.
//   iteration t, in steps: 1 + floor(h(t) (2 K - 1)), or K (1 + s (2 h(t) - 1)), to the next whole number;
//   h the base-2 van der Corput sequence; K, s learnt. One length for all chains, whatever their state, so that none
//   waits and the law is that of HMC with a random length (Hoffman, Radul, Sountsov 2021, sec. 3).
#pragma once
#include "kernels/device/platform.hpp"

namespace kilochain {

/// The steps of a trajectory.
struct Leaps {
  double size;
  std::int32_t number;
};

struct LearntLength {
  static constexpr bool learnt = true;

  /// Bits of t + 1 reversed, as a fraction: 1/2, 1/4, 3/4, 1/8, ...
  static KC_INLINE double van_der_corput(std::int64_t t) {
    double fraction = 0, bit = 0.5;
    for (std::uint64_t k = static_cast<std::uint64_t>(t) + 1; k > 0; k >>= 1, bit /= 2)
      if (k & 1) fraction += bit;
    return fraction;
  }
  static KC_INLINE std::int32_t number(double mean, std::int64_t iteration) {
    return 1 + static_cast<std::int32_t>(van_der_corput(iteration) * (2 * mean - 1));
  }
  /// spread: s, or 1 for the first of the rules above. stages: whole groups of so many steps.
  static KC_INLINE Leaps leaps(double step, double mean, double spread, int stages, std::int64_t iteration) {
    if (spread >= 1) return {step, stages * number(mean / stages, iteration)};
    const double length = mean * (1 + spread * (2 * van_der_corput(iteration) - 1)), steps = length / stages;
    const std::int32_t whole = stages * (steps < 1.5 ? 1 : static_cast<std::int32_t>(steps + 0.5));
    return {step * length / whole, whole};
  }
};

}  // namespace kilochain
