// Draws of a density and its gradients there, in the scale of the metric that fits both best (learnt_metric.hpp):
//   x = mean + L z,   g = L^-T h,   L L^T = Sx^1/2 (Sx^1/2 Sg Sx^1/2)^-1/2 Sx^1/2
// so that z and h are as wide as each other. h = -z of a Gaussian's draws; how far it is from that tells what no linear
// metric mends. Draws far out, in position or gradient, count less.
// Cost: 3 n^2 a draw and 30 n^3.
#pragma once
#include <Eigen/Core>
#include <cmath>
#include <optional>
#include <vector>

#include "host/learn/median.hpp"

namespace kilochain {

/// (n, draw); all finite.
struct DrawsAndGradients {
  Eigen::MatrixXd x, g;
};

/// Of points and gradients (point, n) those that are finite.
template <class Real>
DrawsAndGradients finite_of(const std::vector<Real>& x, const std::vector<Real>& g, Eigen::Index n);

struct Whitened {
  Eigen::VectorXd mean;
  Eigen::MatrixXd L, z, h;
  /// log det Cov(x) + log det Cov(g), which no linear map changes: 0 of a Gaussian's draws, above 0 of any density's,
  /// far below where they do not span the space.
  double divergence = INFINITY;
};

/// None where a coordinate or its gradient does not vary.
std::optional<Whitened> whitened(const DrawsAndGradients& draws);

/// What a linear function of position leaves of the gradient, of its variance: 0 of a Gaussian, wherever points are.
double nonlinearity(const Whitened& white);

/// How much each draw counts: beyond twice the usual length as the inverse square. z and h: (n, draw).
Eigen::ArrayXd weights_of(const Eigen::MatrixXd& z, const Eigen::MatrixXd& h);

}  // namespace kilochain
