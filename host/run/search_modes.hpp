// Modes that no chain has found. From each known mode lines are followed, one for each coordinate, up and down, 3 to 48
// of its standard deviations: where the log density rises again, a point climbs. Points climb from 3 and 10 standard
// deviations of the starting law as well; where several modes are known, from that law and from as far apart as these
// modes are. Where climbs end beside all known modes, NUTS chains say what is there.
// Cost: 60 n gradients a mode, or as many as are allowed, and again for climbs; of 4 places that are not known, or 16,
// two NUTS chains of twice as many iterations as draws.
#pragma once
#include "host/learn/audit.hpp"
#include "host/learn/overlay.hpp"
#include "host/run/phases.hpp"

namespace kilochain {

/// Draws of further chains in places that are in no mode of `known`, one or more, `count` each, (chain, count, dim), in
/// the target's own coordinates; empty: there are none. allowed: gradients on lines, and of climbs but for the
/// first 24. Adds to `gradients`.
template <class Real>
std::vector<Real> draws_elsewhere(const Phases<Real>& run, const Overlay& known, std::int64_t allowed, Count count,
                                  std::int64_t& gradients);

}  // namespace kilochain
