// Chains told apart that stay in different modes. Between two of one mode the log density does not fall by 3 nats, at
// a quarter, half and three quarters of the way from one mean to the other; nor are the means farther from each other
// than 4 standard deviations of both, as seen along that way: the top of a wide mode may be lower than what is between
// it and a narrow one.
// Cost: three gradients a chain for each group.
#pragma once
#include "host/learn/audit.hpp"
#include "host/run/target_gradients.hpp"

namespace kilochain {

inline constexpr double wall_between_modes = 3;  ///< nats

/// (chain) a group, the one with the highest density first; -1 of a chain that is quarantined, or has no density at its
/// mean. draws: of coordinates in which gradients_at takes points. Adds to `gradients`.
template <class Real>
std::vector<int> mode_groups(const FrozenDraws<Real>& draws, TargetGradients<Real>& gradients_at,
                             std::int64_t& gradients);

}  // namespace kilochain
