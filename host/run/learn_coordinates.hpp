// Coordinates learnt from draws and their gradients: whether a scale of some directions goes with one coordinate v, as
// in a centred hierarchical model, where no linear metric fits a funnel's neck and its mouth.
// With draws and gradients whitened, z and h, z z^T - h h^T is 0 of a Gaussian draw by draw, as there h = -z. The v
// whose covariance with it is largest is tried first. Least squares fit the gradients of a conjugate hierarchical
// model, t = v - its median:
//   h = -(e^{-2 c t} P + R) z + e^{-2 c t} a + e^{-c t} m + b
// for c of 1, 1/2, -1 and -1/2. P and R made diagonal together give directions and shapes. A step is kept where it
// lowers log det Cov(y) + log det Cov(g_y), which no linear map changes and a Gaussian alone has at 0.
// Cost: some 10 n^2 a draw for each c that is tried, and O(n^3).
#pragma once
#include "host/run/learnt_coordinates.hpp"

namespace kilochain {

/// Beyond so many coordinates none are learnt.
inline constexpr Eigen::Index most_coordinates = 256;

/// Draws and their gradients, (n, draw); all finite.
struct DrawsAndGradients {
  Eigen::MatrixXd x, g;
};

/// From draws in `coordinates` others, if they are better: then draws and gradients are in them.
/// False where they are not, and of fewer than 3 n draws.
bool learn_coordinates(LearntCoordinates& coordinates, DrawsAndGradients& draws);

}  // namespace kilochain
