// Coordinates learnt from draws and their gradients: whether a scale of some directions goes with one coordinate v, as
// in a centred hierarchical model, where no linear metric fits a funnel's neck and its mouth.
// Local scales are told as a metric is (learnt_metric.hpp), by draws and gradients alike. With both whitened, z and h,
// and S(v) = e^{2 M (v - centre)} the covariance given v,
//   E[z z^T - h h^T | v] = S - S^-1 = 2 sinh(2 M (v - centre)),   0 of a Gaussian draw by draw, as there h = -z.
// The v whose covariance with z z^T - h h^T is largest is tried first; M is found by Newton's steps on that, about the
// conditional mean of z. Its eigenvectors are the directions, its eigenvalues their rates. A step is kept where it
// lowers log det Cov(y) + log det Cov(g_y), which no linear map changes and a Gaussian alone has at 0.
// Cost: some 100 n^2 a draw for each step that is tried.
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
