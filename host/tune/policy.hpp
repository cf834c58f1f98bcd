// The randomised policy of Mahendran 2011, section 3.3: points resampled from a grid by what a model thinks of them.
//   weights w_i ~ exp(posterior mean at grid point i); M points drawn with replacement (sampling-importance resampling)
// Settings that are drawn from it anew at every step make a mixture of kernels. Each leaves the law unchanged and
// which one comes next does not depend on the state, so the mixture leaves it unchanged too.
#pragma once
#include <cstdint>
#include <vector>

#include "host/tune/box.hpp"

namespace kilochain {

class Tuner;

/// Indices of `count` independent draws with replacement, of index i with a probability proportional to
/// exp(log_weight_i).
std::vector<std::size_t> resample(const std::vector<double>& log_weights, std::size_t count, std::uint64_t seed);

/// `count` points of box.grid(per_dimension), as values, resampled by exp(tuner's posterior mean).
std::vector<Point> policy_of(const Tuner& tuner, std::size_t per_dimension, std::size_t count, std::uint64_t seed);

}  // namespace kilochain
