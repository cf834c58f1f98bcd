// Whether chains can begin at draws of one normal law, with no scout sent (docs/decisions/0031-arrival.md). In this
// order: that of the curvature at modes (normal_start.hpp); the nearest one (normal_law.hpp); and, where that fits less
// than well, the nearest in coordinates in which effects that another coordinate scales are centred, so that there is
// no funnel (scout_coordinates.hpp).
// Cost: that of each in turn.
#pragma once
#include "host/learn/learnt_coordinates.hpp"
#include "host/learn/normal_start.hpp"
#include "host/run/phases.hpp"

namespace kilochain {

template <class Real>
struct NormalArrival {
  NormalStart<Real> start;        ///< `gradients`: all that were evaluated
  LearntCoordinates coordinates;  ///< of the law; of size 0: the target's own
};

/// x: where climbs ended, (point, n), in the target's own coordinates, which stay the run's. Nothing fits where the run
/// is stopped meanwhile.
template <class Real>
NormalArrival<Real> normal_arrival(const Phases<Real>& run, const std::vector<Real>& x, const Climbed<Real>& way);

}  // namespace kilochain
