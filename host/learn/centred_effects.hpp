// Centred effects x_i ~ N(m, s_i^2 e^{2 c u(v)}) whose scale v (scale_law.hpp) stands nowhere else; m is 0, or a
// coordinate that stands nowhere else. Then
//   g_v = c u'(v) e^{-2 c u} sum (x_i - m)^2 / s_i^2 + f'(v),   g_m = e^{-2 c u} sum (x_i - m) / s_i^2 + f'(m),
// exact whatever the data's law and wherever the points are: least squares find the effects of every v.
// With v's and their effects known the rest of the gradient is the data's, which say how much of each direction is to
// be non-centred (hierarchy.hpp).
// Cost: 12 n^2 a point, and some 10 n^2 a point for each of 6 to 16 coordinates v.
#pragma once
#include <vector>

#include "host/learn/scaled_effects.hpp"

namespace kilochain {

/// By precision where v is at its median. Of points in the target's own coordinates; none of fewer than 3 n.
/// known: parents that are not looked at.
std::vector<ScaledEffects> centred_effects(const DrawsAndGradients& draws, const std::vector<ScaledEffects>& known,
                                           int threads = 1);

}  // namespace kilochain
