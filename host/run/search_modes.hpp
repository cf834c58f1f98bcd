// Modes that no chain has found. From each known mode lines are followed, one for each coordinate, up and down, 3 to 48
// of its standard deviations: where the log density rises again, a point climbs. Points climb from 3 and 10 standard
// deviations of the starting law as well; where several modes are known, from that law and from as far apart as these
// modes are. Where climbs end beside all known modes, NUTS chains say what is there.
// Cost: 60 n gradients a mode, or as many as are allowed; some 30 a climb; of 4 places that are not known, or 16, two
// NUTS chains of twice as many iterations as draws.
#pragma once
#include "host/learn/audit.hpp"
#include "host/learn/overlay.hpp"
#include "host/run/phases.hpp"

namespace kilochain {

/// Draws of further chains in places that are in no mode of `known`, one or more, `count` each, (chain, count, dim), in
/// the target's own coordinates; empty: there are none. most_on_lines: gradients there. Adds to `gradients`.
template <class Real>
std::vector<Real> draws_elsewhere(const Phases<Real>& run, const Overlay& known, std::int64_t most_on_lines,
                                  Count count, std::int64_t& gradients);

}  // namespace kilochain
