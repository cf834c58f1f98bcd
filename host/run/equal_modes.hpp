// Where a posterior has equal modes (find_symmetries.hpp), chains gather in one of them. They are looked for three
// times: where climbs end, which are then made again from images of their starts; where scouts have arrived, or a
// normal law has; and where chains stand that have failed an audit. Of hundreds of effects the first look sees
// nothing: ends of climbs are far from the mass.
// Cost: that of finding symmetries, each time until some are found; and of climbs again.
#pragma once
#include "host/learn/climb.hpp"
#include "host/run/phases.hpp"

namespace kilochain {

/// starts: (point, dim), where climbs began; x, way: where and how they ended, then those of the climbs that were made
/// again. Symmetries become the run's, and are returned as numbers; empty: none are found, and nothing has changed.
/// Adds to `gradients`.
template <class Real>
std::vector<double> climb_in_one_place(const Phases<Real>& run, std::vector<Real> starts, std::vector<Real>& x,
                                       Climbed<Real>& way, std::int64_t& gradients);

/// points: (point, dim) each, of scouts, laws or chains, in the coordinates in which chains move: gathered where
/// symmetries are known, or found by the first points of each. Returned: those of the run, as numbers.
template <class Real>
std::vector<double> gather_in_one_place(const Phases<Real>& run, std::vector<std::vector<Real>>& points,
                                        std::int64_t& gradients);

}  // namespace kilochain
