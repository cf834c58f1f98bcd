// Leads chains that accept nothing to where the density is. A start far out in the tail, where gradients are huge, holds a
// sampler whose proposal all chains share: its scale would have to fit two places at once. NUTS alone on each chain finds its
// own step there by dual averaging; trees are kept short. Part of an automatic warm-up only: no draw of the answer is near it.
#pragma once
#include "host/run/block_signs.hpp"
#include "host/run/phases.hpp"

namespace kilochain {

/// How many chains are led in at a time, and the bytes that they take beside the run's own.
struct LeadingIn {
  Index chains = 0;
  std::size_t bytes = 0;
};
/// Few on the CPU, so that their trees need no memory to speak of. A device wants thousands: as many as a GiB holds, which
/// the estimate counts.
LeadingIn leading_in(const Options& o, const Context& context, const TargetInfo& info, Precision precision);

struct LedIn {
  std::int64_t chains = 0, gradients = 0;
};

/// Moves the chains that accepted nothing in the block, and begins all chains again, the adaptation too: it was made for
/// where they were stuck. Nothing when there were none, or when the target has no gradient.
template <class Real>
LedIn lead_in(const Phases<Real>& run, const BlockOfDraws<Real>& block);

}  // namespace kilochain
