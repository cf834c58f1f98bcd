// The upper middle of values, and how far they are from it; NaN of none. Cost: O(n).
#pragma once
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <vector>

namespace kilochain {

inline double median(Eigen::VectorXd v) {
  if (v.size() == 0) return NAN;
  std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
  return v[v.size() / 2];
}
inline double median(const std::vector<double>& v) { return median(Eigen::VectorXd::Map(v.data(), std::ssize(v))); }

/// About the median, as a Gaussian's standard deviation.
inline double robust_sd(const Eigen::VectorXd& v, double median_of_v) {
  return 1.4826 * median((v.array() - median_of_v).abs());
}
inline double robust_sd(const Eigen::VectorXd& v) { return robust_sd(v, median(v)); }

}  // namespace kilochain
