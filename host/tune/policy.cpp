#include "host/tune/policy.hpp"

#include <algorithm>
#include <cmath>

#include "host/tune/tuner.hpp"
#include "kernels/random/draw.hpp"

namespace kilochain {

std::vector<std::size_t> resample(const std::vector<double>& log_weights, std::size_t count, std::uint64_t seed) {
  const double most = *std::max_element(log_weights.begin(), log_weights.end());
  std::vector<double> below;  // sums of the weights so far
  double total = 0;
  for (const double w : log_weights) below.push_back(total += std::exp(w - most));
  std::vector<std::size_t> out;
  for (std::size_t k = 0; k < count; ++k) {
    const double at = total * uniform(Rng{seed, 0, 0}, Purpose::proposal, static_cast<std::uint32_t>(k));
    const auto found = std::upper_bound(below.begin(), below.end() - 1, at);
    out.push_back(found - below.begin());
  }
  return out;
}

std::vector<Point> policy_of(const Tuner& tuner, std::size_t per_dimension, std::size_t count, std::uint64_t seed) {
  const std::vector<Point> grid = tuner.box().grid(per_dimension);
  const GaussianProcess f = tuner.posterior();
  std::vector<double> log_weights;
  for (const Point& p : grid) log_weights.push_back(f(tuner.box().unit(p)).mean);
  std::vector<Point> out;
  for (const std::size_t i : resample(log_weights, count, seed)) out.push_back(grid[i]);
  return out;
}

}  // namespace kilochain
