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
  bool running = true;

  /// Of the looks' second half.
  void sum_up() {
    const std::size_t half = lp.size() / 2, count = lp.size() - half;
    double sum = 0, square = 0;
    for (std::size_t k = half; k < lp.size(); ++k) sum += lp[k] / count;
    for (std::size_t k = half; k < lp.size(); ++k) square += (lp[k] - sum) * (lp[k] - sum) / count;
    mean = running && std::isfinite(sum) ? sum : -INFINITY;
    sd = std::sqrt(square);
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
