// HMC whose metric, step and length all chains learn together (host/run/ensemble_warmup.hpp): the default.
//   length of iteration t, in steps: 1 + floor(h(t) (2 K - 1)), or K (1 + s (2 h(t) - 1)), to the next whole number;
//   h the base-2 van der Corput sequence; K, s learnt. One length for all chains, whatever their state, so that none
//   waits and the law is that of HMC with a random length (Hoffman, Radul, Sountsov 2021, sec. 3).
// Steps are leapfrog's, or in pairs those of a two-stage integrator; or they turn, exact for N(m, F F^T), with kicks of
// what the density differs by. Where the energy error is large, they are made again finer (finer_steps.hpp).
//   z = F^-1 (x - m);  r += e/2 (F^T g + z);  (z, r) turned by e;  r += e/2 (F^T g + z)  (Shahbaba et al. 2014, 3.1).
// A turn is three shears: leapfrog with kicks e/2 F^T g + (e/2 - tan(e/2)) z and drifts sin(e). z goes along with x: an
// error of z is one of m, which may be any point.
// Or they are of a cheap law that is nearly the target, accepted by its density (bent_normal.hpp).
// Cost: K gradients an iteration, of a cheap law two or a log density; dense mass 2 K passes over its factor.
#pragma once
#include "kernels/samplers/hmc.hpp"

namespace kilochain {

struct LearntLength {
  static constexpr bool learnt = true, may_turn = true, may_bend = true;
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
  /// How far a step that turns by e < 3 drifts, and what of z it kicks by beside e F^T g.
  static KC_INLINE double reach(double e) {
    double sine, cosine;
    math::sincos_turns(e / 6.283185307179586, sine, cosine);
    return sine;
  }
  static KC_INLINE double pull(double e) {
    double sine, cosine;
    math::sincos_turns(e / 6.283185307179586, sine, cosine);
    return e - 2 * sine / (1 + cosine);
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
  static constexpr int parts = 2;  ///< of a trajectory of a bent normal, from kick to kick
  /// Of trajectories of a normal alone every twentieth is a fifth as long. Where it is small beside the target, whole
  /// ones are all refused; short ones end where it is as small, and so lead out.
  static KC_INLINE Leaps shorter(Leaps leaps, std::int64_t iteration) {
    constexpr int part = 5;
    if (iteration % (4 * part) != 0) return leaps;
    const std::int32_t number = leaps.number < 2 * part ? 1 : leaps.number / part;
    return {leaps.size * leaps.number / (part * number), number};
  }
};

template <class Real>
using EnsembleHmc = Hmc<Real, LearntLength>;

}  // namespace kilochain
