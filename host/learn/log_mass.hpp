// How much of a density is about a place: the log of its integral there, by bridge sampling (Meng & Wong 1996) between
// draws p about the place and as many draws q of the normal law that fits the first half of them: the z at which
//   sum over q of s(log p - log q - z) = sum over the second half of s(z - log p + log q),   s(t) = 1 / (1 + e^-t)
// (the intercept of a logistic regression that tells draws from normals). Where the two hardly overlap, as of a law far
// from normal in many coordinates, it says nothing: its error is infinite.
// Cost: a log density for each of the second half, n^2 for each draw and n^3.
#pragma once
#include <cmath>

#include "host/learn/gradients_at.hpp"

namespace kilochain {

struct LogMass {
  double value = INFINITY, error = INFINITY;  ///< error: a standard error
};

/// x: draws (draw, n), one chain's after the other's; lp: of them. Infinite of fewer than 8 n draws.
template <class Real>
LogMass log_mass(const std::vector<double>& x, const std::vector<double>& lp, const GradientsAt<Real>& gradients_at);

}  // namespace kilochain
