// All draws of a run in memory, (chain, draw, recorded value), window by window: for their summary, and for those who asked
// for them. Memory is touched as draws come.
#pragma once
#include <algorithm>

#include "host/statistics/scratch.hpp"
#include "kernels/device/view.hpp"

namespace kilochain {

template <class Real>
class DrawsInMemory {
 public:
  DrawsInMemory(std::int64_t num_chains, std::int64_t num_draws, std::int64_t width)
      : values_(make_scratch<Real>(num_chains * num_draws * width)),
        all_{values_.get(), num_chains, num_draws, width} {}

  /// The next `count` draws of every chain: draws (chain, capacity, width).
  void add(View3<const Real> draws, std::int64_t count) {
    for (Count c = 0; c < all_.planes; ++c)
      std::copy_n(draws.plane(c).data, count * all_.columns, all_.plane(c).data + drawn_ * all_.columns);
    drawn_ += count;
  }
  /// What was drawn, without the room for what was not (an interrupted run has fewer).
  View3<const Real> drawn() {
    const Count row = drawn_ * all_.columns;
    for (Count c = 1; c < all_.planes && drawn_ < all_.rows; ++c)
      std::copy_n(all_.plane(c).data, row, all_.data + c * row);
    all_.rows = drawn_;
    return {all_.data, all_.planes, all_.rows, all_.columns};
  }

 private:
  Scratch<Real> values_;
  View3<Real> all_;
  Count drawn_ = 0;
};

}  // namespace kilochain
