// HMC whose metric, step and length all chains learn together (host/run/ensemble_warmup.hpp): the default.
//   leapfrog steps of iteration t: 1 + floor(h(t) (2 K - 1)), h the base-2 van der Corput sequence, K the learnt mean
//   length
// One length for all chains in an iteration, whatever their state: none waits for another, and the law is that of HMC
// with a random length (Hoffman, Radul, Sountsov 2021, sec. 3: jittered by a Halton sequence).
// Where its energy error is large, a trajectory is made again with finer steps (finer_steps.hpp).
// Cost: K gradients an iteration; dense mass 2 K passes over its factor.
#pragma once
#include "kernels/samplers/hmc.hpp"

namespace kilochain {

struct LearntLength {
  static constexpr bool learnt = true;
  static constexpr int finer_levels = 2;            ///< finer_steps.hpp
  static constexpr std::int32_t most_steps = 1024;  ///< of a level: longer trajectories have fewer
  static constexpr double error_bar = 2;            ///< where acceptance is 0.8, one trajectory in 10 000 is beyond it
  static constexpr const char* meaning =
      "HMC with a metric, step and trajectory length that all chains learn together; the default";

  static KC_INLINE NextLeg next(double log_r, bool accepted, int levels, double level, double back) {
    return next_leg(log_r, accepted, error_bar, levels, level, back);
  }

  /// Bits of t reversed, as a fraction: 1/2, 1/4, 3/4, 1/8, ...
  static KC_INLINE double van_der_corput(std::int64_t t) {
    double fraction = 0, bit = 0.5;
    for (std::uint64_t k = static_cast<std::uint64_t>(t) + 1; k > 0; k >>= 1, bit /= 2)
      if (k & 1) fraction += bit;
    return fraction;
  }
  static KC_INLINE std::int32_t number(double mean, std::int64_t iteration) {
    return 1 + static_cast<std::int32_t>(van_der_corput(iteration) * (2 * mean - 1));
  }
};

template <class Real>
using EnsembleHmc = Hmc<Real, LearntLength>;

}  // namespace kilochain
