// Starting points: normal[:sd] | zeros | file:PATH.
#pragma once
#include "host/run/run.hpp"

namespace kilochain {

/// (chain, dim) starting points of chains first .. first + count - 1 of options.num_chains. normal: chain k's point depends
/// on (seed, k) alone. Throws Error (usage) for an unknown form or a bad sd, (data) for a file of the wrong shape.
template <class Real>
std::vector<Real> starting_points(const Options& options, Index first, Index count, Index dim);

}  // namespace kilochain
