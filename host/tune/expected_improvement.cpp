#include "host/tune/expected_improvement.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace kilochain {

double log_expected_improvement(double mean, double sd, double best) {
  if (!(sd > 0)) return mean > best ? std::log(mean - best) : -std::numeric_limits<double>::infinity();
  const double z = (mean - best) / sd, log_phi = -0.5 * z * z - 0.5 * std::log(2 * std::numbers::pi);
  if (z > -1) return std::log(sd * (std::exp(log_phi) + z * 0.5 * std::erfc(-z / std::numbers::sqrt2)));
  double c = 0;
  for (int k = 120; k >= 1; --k) c = k / (c - z);
  return std::log(sd) + log_phi + std::log(c / (c - z));
}

double expected_improvement(double mean, double sd, double best) {
  return std::exp(log_expected_improvement(mean, sd, best));
}

}  // namespace kilochain
