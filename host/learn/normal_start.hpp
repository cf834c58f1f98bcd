// Where chains begin if one normal law fits: its draws, in place of scouts' (docs/decisions/0031-arrival.md).
// The last steps of climbs (climb.hpp) give scales; gradients at 1.5 n points close about where they ended give the
// inverse covariance -H. In coordinates in which it is I the climbs go on to their modes m. Gradients at draws of
// N(m, -H^-1) tell whether the law fits: positions and gradients agree in all coordinates, of all climbs' draws
// together. Climbs that ended far below are left behind, if they are less than half. Modes that differ, a funnel or a
// ridge are left to normal_law.hpp and to scouts. Tails are not looked at: chains, and their audit, come afterwards.
// Cost: 1.5 n gradients, again where climbs do not arrive or draws do not agree; some hundreds for climbs and draws.
#pragma once
#include <cmath>
#include <vector>

#include "host/learn/climb.hpp"
#include "kernels/contract.hpp"

namespace kilochain {

/// How much lower a log density, whose sd over draws is `width`, no mode ten times as wide in every coordinate would
/// make up for.
inline double far_below(Index n, double width) { return 10 * width + static_cast<double>(n) * std::log(10.0); }

template <class Real>
struct NormalStart {
  bool fits = false;
  std::int64_t gradients = 0;
  double seconds_of_gradient = 0;         ///< where all draws' are one call
  std::vector<double> factor;             ///< of the metric, as of MetricLearner
  std::vector<std::vector<Real>> points;  ///< about where each other climb ended: (draw, n)
  std::vector<Index> left;                ///< climbs that ended far below
  double left_below = 0;                  ///< how far the lowest
};

/// x: where climbs ended, (point, n). rng: where random numbers come from.
template <class Real>
NormalStart<Real> normal_start(const GradientsAt<Real>& gradients_at, const std::vector<Real>& x,
                               const Climbed<Real>& climbed, Index n, const Rng& rng, const std::atomic<bool>& stop);

}  // namespace kilochain
