// Where chains of a logistic regression begin: at draws of the normal that is nearest to the posterior in KL
// divergence (docs/decisions/0030-normal-of-observations.md). The log density is concave: it has one mode, and there is
// nothing to scout. Newton's method finds the mode. From there the normal becomes that of the lines over its own draws
// (logistic_lines.hpp), again until the evidence's bound hardly rises. A step that does not raise it is halved: where
// an observation's line hardly slopes, whole steps may go to and fro.
// Cost: some ten of Newton's steps, N n^2 each, and some rounds of 2 N n a draw, 256 draws or 2 n.
#pragma once
#include <optional>
#include <vector>

#include "kernels/contract.hpp"
#include "targets/data/dataset.hpp"

namespace kilochain {

struct RowStart {
  std::vector<double> factor, mean;  ///< (n, n), lower, row-major; (n)
  std::vector<double> draws;         ///< (draw, n)
};

/// rng: where random numbers come from. None where the observations are too many, or Newton's method does not arrive.
std::optional<RowStart> row_start(const Design& design, double prior_sd, const Rng& rng);

}  // namespace kilochain
