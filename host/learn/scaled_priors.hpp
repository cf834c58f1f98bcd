// Effects whose joint prior a coordinate v scales, x ~ N(m, e^{2 c u(v)} P^-1) (scale_law.hpp), as of random walks,
// autoregressions and fields. Where v stands nowhere else,
//   g_x = (what does not depend on v) - e^{-2 c u} P (x - m),
// exact whatever the data's law and wherever the point is. Three gradients along v tell whether that holds, and c; four
// more along each x_j tell a column of P, and whether P depends on x_j. Such a coordinate, as an autoregression's
// coefficient, is none of the effects: P is that at its place. m follows from P; where it is not 0, the normal may as
// well be that of data whose error v tells, and counts where v varies enough to make a funnel.
// Cost: 2 n gradients, 4 n for each v, and n^2 for each.
#pragma once
#include "host/learn/gradients_at.hpp"
#include "host/learn/scaled_effects.hpp"

namespace kilochain {

/// By precision where v is at `middle`. place (n): in the target's own coordinates, where points usually are; sds (n):
/// how far apart.
template <class Real>
std::vector<ScaledEffects> scaled_priors(const std::vector<Real>& place, const Eigen::VectorXd& sds,
                                         const Eigen::VectorXd& middle, const GradientsAt<Real>& gradients_at);

}  // namespace kilochain
