// Whether chains can begin at draws of one normal law, with no scout sent (docs/decisions/0031-arrival.md): one that
// fits about where climbs ended (normal_start.hpp), in the target's own coordinates or in those in which effects that
// another coordinate scales are centred (scout_coordinates.hpp). There is no funnel in the latter, and all climb on.
// Cost: that of a normal start; where it does not fit, of coordinates and another, twice where modes are near.
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
