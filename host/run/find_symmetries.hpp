// Which swaps and changes of sign leave a posterior as it is, and whether its places are apart.
// Parameters of equal length along an axis may be components: mu[K] and sigma[K] of a mixture, A[K,K] of states that
// follow each other. Maps that swap two of them are tried, along all such axes, then along all but one, ...; with two
// components a share may change from p to 1 - p. So are changes of sign, of up to three parameters or of one component
// of each. A map counts where log densities at six points and at their images are equal to 1e-8; then others of these
// components are tried. It is of use where places are apart: the density falls off by three nats half-way from one to
// its image, or climbs end on both sides of that and none near it. Elsewhere chains go there by themselves.
// Cost: a gradient for each map that is tried, at most 200; 10 more for each that is found.
#pragma once
#include "host/learn/gradients_at.hpp"
#include "host/run/symmetries.hpp"

namespace kilochain {

/// starts, ends: (point, dim), where climbs began and ended; or both the same draws. Adds to `gradients`. A density
/// whose values have single precision has to agree to 1e-6.
template <class Real>
Symmetries find_symmetries(const TargetInfo& info, const GradientsAt<Real>& gradients_at,
                           const std::vector<Real>& starts, const std::vector<Real>& ends, std::int64_t& gradients);

}  // namespace kilochain
