// HMC whose metric, step and length all chains learn together (host/run/ensemble_warmup.hpp): the default.
//   length of iteration t, in steps: 1 + floor(h(t) (2 K - 1)), or K (1 + s (2 h(t) - 1)), where nearly equal ones pay;
//   h the base-2 van der Corput sequence; K, s learnt. Where it is not whole: the nearest number of steps, stretched.
// Steps are leapfrog's, or in pairs those of a two-stage integrator, whichever the warm-up found to pay.
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
  /// Two stages: of each pair of steps the kick between them is larger, those at its ends smaller (Blanes, Casas,
  /// Sanz-Serna 2014, b = 0.21178 in place of 1/4): for a Gaussian an energy error some twenty times smaller, as long
  /// as a pair is below 2.
  static KC_INLINE double kick(double stages, double left) {
    constexpr double ends = 4 * 0.21178;
    return stages != 2 ? 1 : static_cast<std::int64_t>(left) % 2 ? 2 - ends : ends;
  }
  static KC_INLINE Leaps leaps(double step, double mean, double spread, int stages, std::int64_t iteration) {
    if (spread >= 1) return {step, stages * number(mean / stages, iteration)};
    const double length = mean * (1 + spread * (2 * van_der_corput(iteration) - 1)), steps = length / stages;
    const std::int32_t whole = stages * (steps < 1.5 ? 1 : static_cast<std::int32_t>(steps + 0.5));
    return {step * length / whole, whole};
  }
};

template <class Real>
using EnsembleHmc = Hmc<Real, LearntLength>;

}  // namespace kilochain
