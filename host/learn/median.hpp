// The upper middle of values; NaN of none. Cost: O(n).
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

namespace kilochain {

inline double median(std::vector<double> v) {
  if (v.empty()) return NAN;
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

}  // namespace kilochain
