// Stan's warm-up windows: 75 iterations for the step alone, then windows of 25, 50, 100, ... in which the metric is
// learnt, the last stretched to the end, then 50 for the step alone. A warm-up below 150 is split 15 / 75 / 10 %; below
// 20 it learns no metric.
#pragma once
#include "kernels/contract.hpp"

namespace kilochain {

struct WarmupWindows {
  std::int64_t first = 0, last = 0, base = 0;  ///< windows cover first <= t < last, the first has `base` iterations

  explicit KC_INLINE WarmupWindows(std::int64_t num_warmup) {
    std::int64_t start = 75, rest = Schedule::settling;
    base = 25;
    if (num_warmup < start + base + rest) {
      start = num_warmup < 20 ? num_warmup : num_warmup * 15 / 100;
      rest = num_warmup < 20 ? 0 : num_warmup / 10;
      base = num_warmup - start - rest;
    }
    first = start;
    last = num_warmup - rest;
  }
  KC_INLINE bool learning(std::int64_t t) const { return t >= first && t < last; }
  /// Whether a window ends with iteration t.
  KC_INLINE bool ends(std::int64_t t) const {
    if (!learning(t)) return false;
    for (std::int64_t start = first, size = base;; size *= 2) {
      std::int64_t end = start + size;
      if (end + 2 * size > last) end = last;  // the next one would not fit
      if (t < end) return t == end - 1;
      start = end;
    }
  }
};

}  // namespace kilochain
