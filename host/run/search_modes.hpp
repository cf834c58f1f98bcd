// Modes that no chain has found, looked for once there are known to be several: points climb from all over the starting
// law, and from about the known modes as far apart as these are. Where climbs end beside all known modes, NUTS chains
// say what is there.
// Cost: 64 climbs, of some 30 gradients each; for a place that is not known, twice as many iterations as draws.
#pragma once
#include "host/learn/audit.hpp"
#include "host/learn/overlay.hpp"
#include "host/run/phases.hpp"

namespace kilochain {

/// Draws of further chains in places that are in no mode of `known`, `count` each, (chain, count, dim), in the target's
/// own coordinates; empty: there are none. Adds to `gradients`.
template <class Real>
std::vector<Real> draws_elsewhere(const Phases<Real>& run, const Overlay& known, Count count, std::int64_t& gradients);

}  // namespace kilochain
