// How a sampler or target describes its settings: one table that flags, files, documentation and checks read.
//   struct Settings { double step_size = 0.1; };
//   template <class V>
//   static void settings(V&& visit, Settings& s) { visit("step_size", s.step_size, positive(), "leapfrog step"); }
// Settings are plain values, so they travel to the device as they are.
#pragma once
#include <cmath>
#include <limits>

#include "kernels/device/platform.hpp"

namespace kilochain {

/// Which values a number may take. Bounds are part of the range unless marked open.
struct Range {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  bool low_open = false, high_open = false;
  bool contains(double v) const {
    return !std::isnan(v) && (low_open ? v > low : v >= low) && (high_open ? v < high : v <= high) && std::isfinite(v);
  }
};
inline Range positive() { return {0, std::numeric_limits<double>::infinity(), true, false}; }
inline Range at_least(double low) { return {low, std::numeric_limits<double>::infinity(), false, false}; }
inline Range between(double low, double high) { return {low, high, false, false}; }
inline Range inside(double low, double high) { return {low, high, true, true}; }

/// The names of an enumeration's values, in order, for a setting of that type.
template <int N>
struct Names {
  const char* value[N];
  static constexpr int count = N;
};
template <class... T>
Names(T...) -> Names<sizeof...(T)>;

}  // namespace kilochain
