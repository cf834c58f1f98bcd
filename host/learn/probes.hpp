// Curvature about a place, for the metric: points x + c F z near it, z standard normal, F the metric's factor so far,
// and their gradients g + c h. A Gaussian with the curvature of the place would have draws F z with gradients h, which
// is what the learner is given: as soon as they span the space they tell all of that curvature. Chains' draws do so
// too, but only after as many iterations.
// Cost: a gradient a probe, and n^2 for its point.
#pragma once
#include <span>

#include "host/learn/gradients_at.hpp"
#include "host/learn/learnt_metric.hpp"
#include "kernels/contract.hpp"

namespace kilochain {

/// `count` standard normal z's, (n, count).
Eigen::MatrixXd normals_of(Eigen::Index n, Index count, const Rng& rng);
/// F z of those.
Eigen::MatrixXd ways_of(const std::vector<double>& factor, Eigen::Index n, Index count, const Rng& rng);

/// `count` probes, the k-th about place k modulo their number, where the gradients are `slopes`, both (place, n), added
/// as a group; factor: (n, n), row-major, lower triangle. rng: where their random numbers come from.
template <class Real>
void add_probes(const GradientsAt<Real>& gradients_at, const std::vector<double>& factor, std::span<const Real> places,
                std::span<const Real> slopes, Index count, const Rng& rng, MetricLearner& learner);

}  // namespace kilochain
