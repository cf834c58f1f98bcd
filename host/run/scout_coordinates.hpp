// Coordinates learnt before chains start: effects that another coordinate scales are centred as far as it helps
// (host/learn/learn_coordinates.hpp). Points about places, as far apart as draws, tell which effects those are, and
// how much data tell of them. Places are scouts', or draws of the nearest normal law. Beyond 512 coordinates effects
// are centred one by one (host/learn/one_by_one.hpp). Chains that learn others later ask for the priors again.
// Cost: 4 n gradients, 2 n more for priors and 4 n for each coordinate that scales one; 4 n again where coordinates
// have to be tried.
#pragma once
#include <vector>

#include "host/learn/learn_coordinates.hpp"
#include "host/run/phases.hpp"

namespace kilochain {

/// Whether any can be, and none have been.
template <class Real>
bool may_learn_coordinates(const Phases<Real>& run);

/// Of size 0 where the target's own are as good. Places: in those. Factor: of a metric there. Adds to `gradients`.
template <class Real>
LearntCoordinates coordinates_about(const Phases<Real>& run, const std::vector<std::vector<Real>>& places,
                                    const std::vector<double>& factor, std::int64_t& gradients);

/// By effects alone that are found exactly, without a look at whether it helps: in these a law can tell.
template <class Real>
LearntCoordinates exact_coordinates_about(const Phases<Real>& run, const std::vector<std::vector<Real>>& places,
                                          const std::vector<double>& factor, std::int64_t& gradients);

/// Priors that another coordinate scales, found about one of some draws in the target's own coordinates.
template <class Real>
std::vector<ScaledEffects> known_priors(const Phases<Real>& run, const DrawsAndGradients& draws,
                                        std::int64_t& gradients);

}  // namespace kilochain
