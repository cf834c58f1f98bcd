// The mixture of normal laws that fits draws, by expectation and maximisation (Dempster, Laird & Rubin 1977): shares,
// means and covariances in turn, until a draw's mean log density gains less than 1e-3. Laws are left out one by one
// that Schwarz's criterion (BIC, 1978) does not want. For modes that laws of chains do not tell apart, as peaks on a
// floor that chains cross: there no chain is in one mode, but each draw is.
// Cost: K n^2 a draw and K n^3, a round; at most 50 rounds, some K times.
#pragma once
#include <optional>

#include "host/learn/overlay.hpp"

namespace kilochain {

/// Beginning with `laws`. x: (n, draw), two and more. A law with fewer than 3 n draws is dropped, so that there may be
/// none left. The largest share comes first.
std::vector<Overlay::Law> fit_mixture(const Eigen::MatrixXd& x, std::vector<Overlay::Law> laws);

/// Of all draws the mean and covariance; none where it is singular.
std::optional<Overlay::Law> law_of_all(const Eigen::MatrixXd& x);

}  // namespace kilochain
