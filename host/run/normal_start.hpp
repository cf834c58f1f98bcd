// Where chains begin if one normal law fits: its draws, in place of scouts' (docs/decisions/0019-ensemble.md).
// The last steps of climbs (climb.hpp) give scales; gradients at 1.5 n points close about where they ended give the
// inverse covariance -H; Newton steps x + A g, A = -H^-1, go up to the modes m. Gradients at draws of N(m, A) tell
// whether the law fits: positions and gradients agree in all coordinates, of all climbs' draws together. So modes that
// differ, a funnel or a ridge are left to scouts. Tails are not looked at: chains, and their audit, come afterwards.
// Cost: 1.5 n gradients, and some hundreds for the draws.
#pragma once
#include <vector>

#include "host/run/climb.hpp"
#include "kernels/contract.hpp"

namespace kilochain {

template <class Real>
struct NormalStart {
  bool fits = false;
  std::int64_t gradients = 0;
  double seconds_of_gradient = 0;         ///< where all draws' are one call
  std::vector<double> factor;             ///< of the metric, as of MetricLearner
  std::vector<std::vector<Real>> points;  ///< about where each climb ended: (draw, n)
};

/// x: where climbs ended, (point, n). rng: where random numbers come from.
template <class Real>
NormalStart<Real> normal_start(const GradientsAt<Real>& gradients_at, const std::vector<Real>& x,
                               const Climbed<Real>& climbed, Index n, const Rng& rng);

}  // namespace kilochain
