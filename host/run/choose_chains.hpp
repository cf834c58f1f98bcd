// How many chains pay, where nobody has said it: few where a gradient is dear, for each must forget its start; many
// where it is cheap, for all learn together. Decided by the clock, before the run begins, and once more when its scouts
// have seen how long trajectories are; draws follow from the number.
#pragma once
#include "host/run/options.hpp"

namespace kilochain {

/// What is chosen and why, for people.
struct ChainsChosen {
  std::int64_t num_chains;
  std::string why;
};

/// Times a few gradients at starting points of `options`. Cost: 16 gradients, or a quarter of a second of them.
template <class Real>
ChainsChosen choose_chains(const Options& options, const Context& context, Target<Real>& target);

/// Seconds of the run's threads for one iteration of a scout: by that num_chains may turn out to be too many.
ChainsChosen fewer_chains(std::int64_t num_chains, double seconds);

}  // namespace kilochain
