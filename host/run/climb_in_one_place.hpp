// Where a posterior has equal modes (find_symmetries.hpp), climbs that ended in several of them are made again from
// images of their starts, and end in one.
// Cost: that of finding the symmetries, and of the climbs again where there are any.
#pragma once
#include "host/learn/climb.hpp"
#include "host/run/phases.hpp"

namespace kilochain {

/// starts: (point, dim), where climbs began; x, way: where and how they ended, then those of the climbs that were made
/// again. The symmetries become the run's, and are returned as numbers; empty: there are none, and nothing has changed.
/// Adds to `gradients`.
template <class Real>
std::vector<double> climb_in_one_place(const Phases<Real>& run, std::vector<Real> starts, std::vector<Real>& x,
                                       Climbed<Real>& way, std::int64_t& gradients);

}  // namespace kilochain
