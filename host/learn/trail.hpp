// What a scout saw on its way (scouts.hpp).
#pragma once
#include <cmath>
#include <vector>

namespace kilochain {

/// Of one round: its looks, and from their second half the log density.
template <class Real>
struct Trail {
  std::vector<double> lp;   ///< of each look, mean over its iterations
  std::vector<Real> draws;  ///< (look, dim)
  double mean = -INFINITY, sd = 0;
  double height = -INFINITY;  ///< mean and the log volume that draws take up: of the mass that is there, roughly
  bool running = true;

  /// Of the looks' second half.
  void sum_up() {
    const std::size_t half = lp.size() / 2, count = lp.size() - half;
    double sum = 0, square = 0;
    for (std::size_t k = half; k < lp.size(); ++k) sum += lp[k] / count;
    for (std::size_t k = half; k < lp.size(); ++k) square += (lp[k] - sum) * (lp[k] - sum) / count;
    mean = running && std::isfinite(sum) ? sum : -INFINITY;
    sd = std::sqrt(square);
    height = mean + log_volume(half);
  }
  /// Of draws from `first` on: the logs of coordinates' standard deviations.
  double log_volume(std::size_t first) const {
    const std::size_t dim = lp.empty() ? 0 : draws.size() / lp.size();
    const auto count = static_cast<double>(lp.size() - first);
    double out = 0;
    for (std::size_t i = 0; i < dim; ++i) {
      double sum = 0, square = 0;
      for (std::size_t k = first; k < lp.size(); ++k) sum += draws[k * dim + i] / count;
      for (std::size_t k = first; k < lp.size(); ++k) square += std::pow(draws[k * dim + i] - sum, 2) / count;
      out += 0.5 * std::log(square);
    }
    return out;
  }
  /// Mean of the last quarter less that of the one before.
  double drift() const {
    const std::size_t q = lp.size() / 4;
    double d = 0;
    for (std::size_t k = lp.size() - q; k < lp.size(); ++k) d += (lp[k] - lp[k - q]) / q;
    return d;
  }
};

}  // namespace kilochain
