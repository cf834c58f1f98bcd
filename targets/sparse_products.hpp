// Both products of a regression for many columns of weights on one CPU core when much of X is 0 (images, indicators):
//   T = X W;  the caller makes of T what it likes, observation by observation;  G = X^T T.
// The panels of zeros of targets/data/zeros.hpp are neither stored nor multiplied: MNIST's 5 and 6 keep 0.38 of X.
// Pixels, counts and indicators are stored as bytes and become numbers in registers: 3.4 MB of MNIST in place of 71.
// Layout: the kept panels, [block][panel][4 registers of observations], with the feature of each.
// A slab of blocks that fits the L2 cache is finished for every column before the next is read, as logistic_blocked.hpp
// does; the sums of G stay in lanes, one register for each feature and column, for a strip of features in L1.
// Promise: a column's result has the same bits whichever and however many columns are computed with it.
// Cost: 4 N n operations a column times the share that is kept, and a reduction over lanes once a slab.
#pragma once
#include <functional>

#include "kernels/device/context.hpp"
#include "targets/data/zeros.hpp"

namespace kilochain {

/// Observations of a panel.
template <class Real>
std::size_t panel_rows();

/// Stored: Real, or std::uint8_t where X is `unit` times bytes.
template <class Real, class Stored>
class SparseProducts {
 public:
  SparseProducts(const Context& context, const Design& design, const Panels& panels, double unit);
  Index n() const { return n_; }

  /// How columns go together: registers hold a set of at most logistic::micro, and the T of a group is in cache at
  /// once.
  struct Columns {
    std::vector<Index> sets;    ///< first column of each, and the number of columns
    std::vector<Index> groups;  ///< first set of each, and the number of sets
  };
  /// The T of a group, or of its directions: column `first` + c of observation `from` + i is t[ld c + i].
  struct Part {
    Index first, count;  ///< columns
    std::size_t from;    ///< in the order of Panels
    Index length;        ///< observations, those of the padding too
    Index padding;       ///< of them, at the end: X = 0
    Real *t, *slope;     ///< X w, to be replaced; X v, or null
    std::size_t ld;
  };
  /// G: sum(column, feature).
  struct Sums {
    const Real* g;
    std::size_t row;
    Real unit;
    Real operator()(Index column, Index j) const { return unit * g[row * static_cast<std::size_t>(column) + j]; }
  };
  /// T of the columns w (and of v, unless it is empty), `middle` for each part, and their G where `products` is true.
  /// The sums live in logistic::thread_scratch, which `middle` must leave alone.
  Sums run(const std::vector<const Real*>& w, const std::vector<const Real*>& v, const Columns& columns, bool products,
           const std::function<void(const Part&)>& middle) const;

 private:
  Buffer<Stored> x_;
  double unit_;                         // of what is stored
  Index n_, strips_, most_blocks_;      // strips of features; blocks of the longest slab
  std::size_t rows_;                    // observations
  std::vector<std::int32_t> features_;  // of each panel
  std::vector<std::size_t> begin_;      // [block][strip]: its first panel
  std::vector<Index> slabs_;            // first block of each, and the number of blocks
};

}  // namespace kilochain
