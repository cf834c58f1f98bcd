// Coordinates learnt from draws and their gradients: whether a scale of some directions goes with one coordinate v, as
// in a hierarchical model, where no linear metric fits a funnel's neck and its mouth.
// First the effects that a coordinate scales in the model's own words (scaled_effects.hpp, centred_effects.hpp,
// scaled_priors.hpp) are centred as far as data tell what they are, and no farther. Then others are looked for: with
// draws and gradients whitened, z and h, z z^T - h h^T is 0 of a Gaussian draw by draw, as there h = -z. The v whose
// covariance with it is largest is tried first, by the step that fits a conjugate hierarchical model (hierarchy.hpp)
// with rates of 1, 1/2, -1 and -1/2. A step is kept where it lowers log det Cov(y) + log det Cov(g_y), which no linear
// map changes and a Gaussian alone has at 0.
// Cost: some 10 n^2 a draw for each step that is tried, and O(n^3): beyond 256 coordinates the first alone.
#pragma once
#include <functional>

#include "host/learn/learnt_coordinates.hpp"
#include "host/learn/scaled_effects.hpp"
#include "host/learn/whitened.hpp"

namespace kilochain {

/// Beyond so many coordinates effects are centred one by one alone (one_by_one.hpp), as far as to `most_effects`.
inline constexpr Eigen::Index most_coordinates = 512, most_effects = 16384;

/// Draws of the target's own coordinates, and their gradients, in others.
DrawsAndGradients draws_in(const LearntCoordinates& coordinates, const DrawsAndGradients& draws);

enum class Learning { none, better, unmixed };

/// Groups of effects that are known beside those that draws tell: of draws in the target's own coordinates.
using KnownPriors = std::function<std::vector<ScaledEffects>(const DrawsAndGradients& draws)>;

/// From draws in `coordinates` others, if they are better: then draws and gradients are in them. Unmixed: the draws do
/// not span the space as draws of their density do, so that they tell nothing. None of fewer than 3 n.
Learning learn_coordinates(LearntCoordinates& coordinates, DrawsAndGradients& draws, const KnownPriors& known = {},
                           int threads = 1);

/// What points about the posterior, no draws of it, tell of effects that another coordinate scales.
struct EffectCoordinates {
  LearntCoordinates coordinates;  ///< in which they are centred as far as it helps; of size 0: nowhere
  LearntCoordinates to_try;  ///< where some were centred in the first place; such points do not tell whether it helps
  DrawsAndGradients points;  ///< in `to_try`
  double before = 0;         ///< what a linear function of position left of the gradient, of its variance
};
/// Points: in the target's own coordinates. priors: groups that are known beside those that points tell.
EffectCoordinates centre_effects(const DrawsAndGradients& points, const std::vector<ScaledEffects>& priors = {},
                                 int threads = 1);

/// All that points tell exactly wherever they are, centred as far as data there tell what they are: priors, and effects
/// that other coordinates scale. Whether it helps is not looked at. Of size 0: there are none.
LearntCoordinates centre_exact_effects(const DrawsAndGradients& points, std::vector<ScaledEffects> priors,
                                       int threads = 1);

}  // namespace kilochain
