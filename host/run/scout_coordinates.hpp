// Coordinates learnt at scouts' places, before chains start: effects that another coordinate scales are centred as far as
// it helps (host/learn/learn_coordinates.hpp). Points about the places, as far apart as draws, tell which.
// Cost: 4 n gradients, 2 n more for priors and 4 n for each coordinate that scales one; twice as many points where
// coordinates have to be tried.
#pragma once
#include <vector>

#include "host/learn/learn_coordinates.hpp"
#include "host/run/phases.hpp"

namespace kilochain {

/// Of size 0 where the target's own are as good. Places: in those. Factor: of a metric there. Adds to `gradients`.
template <class Real>
LearntCoordinates coordinates_about(const Phases<Real>& run, const std::vector<std::vector<Real>>& places,
                                    const std::vector<double>& factor, std::int64_t& gradients);

/// The same where places are no draws but ends of climbs: whether they help, only a climb in them can tell.
template <class Real>
LearntCoordinates coordinates_to_climb_in(const Phases<Real>& run, const std::vector<std::vector<Real>>& places,
                                          const std::vector<double>& factor, std::int64_t& gradients);

}  // namespace kilochain
