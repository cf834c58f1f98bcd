// Effects by the thousand, each with a prior of its own whose scale a coordinate v tells, written centred or not: the
// coordinates in which each is centred as far as data tell it. Gradients tell them, exactly whatever the data's law:
//   x_i ~ N(m, s_i^2 e^{2 c u(v)})   along v they change by one vector times e^{-2 c u} (scaled_priors.hpp)
//   x_i e^{c u(v)} in the density    with x_i scaled by e^{-c u} no other gradient changes along v
// Two moves of all effects at once, each by its sd, tell all precisions of priors and of data: what one of them tells,
// the other has to tell again, or the priors depend on each other. m is a number, or another coordinate.
// Cost: 2 n gradients, once; ten for each v of the first kind, some hundreds for those of the second.
#pragma once
#include <Eigen/Core>
#include <vector>

#include "host/learn/gradients_at.hpp"
#include "host/learn/learnt_coordinates.hpp"

namespace kilochain {

/// place (n): in the target's own coordinates, where points usually are; sds (n): how far apart; middle (n): where v's
/// usually are.
template <class Real>
LearntCoordinates centred_one_by_one(const std::vector<Real>& place, const Eigen::VectorXd& sds,
                                     const Eigen::VectorXd& middle, const GradientsAt<Real>& gradients_at);

}  // namespace kilochain
