// The functions that samplers share, which end in step (kernels/device/team.hpp): each is called, and every lane reads
// at once all that it wrote, or calls it again.
#pragma once
#include "kernels/device/context.hpp"
#include "kernels/device/panels.hpp"
#include "targets/target.hpp"

namespace kilochain {

/// What a lane has read, summed: (32).
std::vector<double> keep_promises(const Context& context, FactorShape shape);

/// Who asks among 150 chains, of which each third does, as a block of 64 finds out: how many, and which.
std::vector<Index> select_thirds(const Context& context);
/// A user's model that gives its own gradient, of 33 coordinates.
std::unique_ptr<Target<float>> make_own_gradient(const Context& context);

}  // namespace kilochain
