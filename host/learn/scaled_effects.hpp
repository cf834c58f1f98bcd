// Effects that a coordinate scales: in a non-centred model x_i e^{c u(v)} (scale_law.hpp) stands wherever x_i does, but
// for its own prior. Then the density without those priors does not change along d/dv - c u'(v) sum x_i d/dx_i, so with
// priors N(0, s^2)
//   g_v = c u'(v) sum x_i (g_i + x_i / s^2) + f'(v),
// which is linear in x_i g_i and x_i^2, and exact whatever the data's law and wherever the points are: least squares
// find the effects of every v, to rounding. With many data they want to be centred, x_i e^{c u}. (Centred effects
// without data of their own are found as well: with a c below 0 and no prior.)
// Cost: 4 n^2 a point, and 3 n^3 for each of 8 coordinates v.
#pragma once
#include <optional>
#include <vector>

#include "host/learn/scale_law.hpp"
#include "host/learn/whitened.hpp"

namespace kilochain {

struct ScaledEffects {
  Eigen::Index parent = 0;
  ScaleLaw scale;
  std::vector<Eigen::Index> effects;
  std::vector<double> precisions;    ///< 1/s_i^2 of their priors
  std::optional<Eigen::Index> mean;  ///< the coordinate that centred ones lie about (centred_effects.hpp); none: 0
  std::vector<double> told;          ///< of scaled ones: what data say of each, 1 where as much as its prior
  Eigen::MatrixXd precision;         ///< of all of them together, in place of `precisions` (scaled_priors.hpp)
  Eigen::VectorXd about = {};        ///< where `precision` has its middle
};

/// Of points in the target's own coordinates; none of fewer than 3 n.
std::vector<ScaledEffects> scaled_effects(const DrawsAndGradients& draws, int threads = 1);

/// What `regression`.of() finds by each of these coordinates, in their order.
template <class Regression>
std::vector<ScaledEffects> found_by(const Regression& regression, const std::vector<Eigen::Index>& parents,
                                    int threads) {
  std::vector<std::optional<ScaledEffects>> found(parents.size());
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (std::size_t k = 0; k < parents.size(); ++k) found[k] = regression.of(parents[k]);
  std::vector<ScaledEffects> out;
  for (auto& effects : found)
    if (effects) out.push_back(*std::move(effects));
  return out;
}

}  // namespace kilochain
