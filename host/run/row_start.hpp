// Where chains of a logistic regression begin: at draws of the normal that is nearest to the posterior. Its log density
// is concave, so that there is one mode and nothing to scout. Newton's method finds it; then the normal of lines over its
// own draws (logistic_lines.hpp), again until it stays.
// Cost: some ten Newton steps, N n^2 each, and some rounds of 2 N n a draw: tens of the target's gradients of all chains.
#pragma once
#include <optional>
#include <vector>

#include "kernels/random/philox.hpp"
#include "targets/data/dataset.hpp"

namespace kilochain {

struct RowStart {
  std::vector<double> factor, mean;  ///< (n, n), lower, row-major; (n)
  std::vector<double> draws;         ///< (draw, n)
};

/// rng: where random numbers come from. None where the observations are too many, or Newton's method does not arrive.
std::optional<RowStart> row_start(const Design& design, double prior_sd, const Rng& rng);

}  // namespace kilochain
