// Coordinates along which a density does not fall off, so that it has no finite integral: a parameter without a prior.
// Those are looked at that have gone more than 100 from where chains start, or are no longer finite: a posterior may be
// wide. Each is moved from two starting points by 1e2, 1e4, 1e8, 1e16 and 1e30 (float: 1e12, 1e15) times 1 + |x|, one
// way and the other, as far as what is recorded of it is a number: a density that stays within 0.5 of the start's
// logarithm at every distance of a way has no end there.
// One whose integral is finite falls by at least the logarithm of the distance in the end. Other directions than those
// of coordinates are not looked at.
#pragma once
#include <string>
#include <vector>

#include "host/run/options.hpp"
#include "targets/target.hpp"

namespace kilochain {

/// The names of what is recorded of them, "a, b and 7 more"; empty: none. positions: (chain, dim), where chains are.
template <class Real>
std::string flat_along(const Options& options, const Context& context, Target<Real>& target,
                       const std::vector<Real>& positions);

}  // namespace kilochain
