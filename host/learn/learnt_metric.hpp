// The metric of many draws and their gradients: A with A Sg A = Sx, the geometric mean of the covariance Sx of draws
// and the inverse of that of gradients, Sg (Fisher's divergence between the draws' law and a Gaussian is smallest for
// it: Seyboldt, Carlson & Carpenter 2026, arXiv 2603.18845).
//   in the scale s_i^2 = sd(x_i)/sd(g_i):   Sx = L L^T,  A = L (L^T Sg L)^(-1/2) L^T
// Where draws are wider than A it may be widened: see factor. For a Gaussian A is its covariance, whatever draws there
// are, as soon as they span the space: g = -P (x - mean) gives Sg = P Sx P. So draws that have not arrived yet tell the
// metric too. Off-diagonals of both are shrunk by 1 - exp(-3 (r/n)^2) for r draws of n coordinates. A draw with an
// outlying gradient, as in a funnel's neck, counts less.
// Cost: n^2 a draw, about 12 n^3 a metric.
#pragma once
#include <Eigen/Core>
#include <vector>

#include "kernels/device/platform.hpp"

namespace kilochain {

/// Beyond so many coordinates a metric has no off-diagonals.
inline constexpr Index most_dense = 1024;

class MetricLearner {
 public:
  explicit MetricLearner(Index n);
  /// `count` draws and their gradients, (draw, n); about the means of this group. Those with a value that is not finite
  /// are left out.
  template <class Real>
  void add(const Real* x, const Real* g, Index count);
  /// Draws less the means that were taken.
  Index freedom() const { return freedom_; }
  /// F with F F^T = A, lower triangle of (n, n), row-major; of no draws I.
  /// step: what trajectories' steps are at most, or 0. Along a direction of no Gaussian A is a compromise between the
  /// width of the draws, w > 1 in its scale, and their gradients, as wide. Where it is not those gradients that bound
  /// the step, A is widened to the draws, or as far as the step bears: by min(w, 1/(step w)), if that is more than 1.
  std::vector<double> factor(double step = 0) const;

 private:
  Eigen::Index n_;
  Index freedom_ = 0;
  Eigen::MatrixXd x_, g_;   ///< sums of squares and products, lower triangles
  Eigen::MatrixXd across_;  ///< sums of x_i g_j, of dense ones
};

/// Over draws, the correlation of each coordinate x_i with -(A g)_i, of A = F F^T: 1 of a Gaussian; near 0 where no
/// linear metric helps, in a funnel or between modes. x, g: (draw, n); F: (n, n), diagonal of more than most_dense
/// coordinates. Draws with a value that is not finite are left out.
template <class Real>
std::vector<double> agreement(const std::vector<Real>& x, const std::vector<Real>& g, const std::vector<double>& factor,
                              Index n);

/// (n): m_i + a_i (A mean of g)_i, m the mean of x, a the agreement: of a normal exactly its mean, however few draws.
template <class Real>
std::vector<double> mean_of(const std::vector<Real>& x, const std::vector<Real>& g, const std::vector<double>& factor,
                            const std::vector<double>& agreement);

}  // namespace kilochain
