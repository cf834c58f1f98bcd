// The normal law nearest to a density, where the curvature at modes does not tell it: of hundreds of coordinates, in a
// funnel, beside a wall. Each starting point has a law of its own, N(m_c, s_c^2 A), and all have one shape A. Draws z
// of each law and gradients g there tell the next
//   A    by Fisher's divergence, as a metric is learnt from chains' draws (learnt_metric.hpp)
//   s_c  by the same, a single number
//   m_c  + A_c times the mean of g
// until they stay. The first draws are close about starting points: a narrow mode is seen, if one stands in it. No mode
// is climbed to: it is variational inference by gradients (Cai and others 2024, arXiv 2402.14758). Deep in a funnel's
// neck laws move so slowly that one may pass for standing still: then chains, and their audit, have to come out of it.
// Cost: 1.5 n gradients a round, 256 at least, at most 25 rounds; 13 n^3 a round.
#pragma once
#include <cmath>

#include "host/learn/normal_start.hpp"

namespace kilochain {

template <class Real>
struct NormalLaw {
  NormalStart<Real> start;        ///< fits: at least half of the points have one law, nearly that of the density
  std::vector<double> agreement;  ///< of positions and gradients, over draws of all that are not left: (n)
  double height = -INFINITY;      ///< mean log density of its draws and its log volume, of the middle law
};

/// x: starting points, (point, n); factor: of scales there, as of MetricLearner. rng: where random numbers come from.
template <class Real>
NormalLaw<Real> normal_law(const GradientsAt<Real>& gradients_at, const std::vector<Real>& x,
                           const std::vector<double>& factor, Index n, const Rng& rng, const std::atomic<bool>& stop);

}  // namespace kilochain
