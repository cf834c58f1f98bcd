// Of a round's chains those that ask, side by side, so that matrix products are made of them alone: chains of samplers
// that ask often (About::asks) wait for each other at the end of a stretch, pooled ones after every iteration.
//   select_asking   their numbers, in order, and how many there are, which stays on the device
//   gather_points   their points as columns; columns that are left over are zeros
// The host knows a bound on how many ask (Exchange::asking), and queues as many panels of `width` columns as may fill.
// Promise: every product has the same shape, so a chain's bits depend neither on which others ask nor on the bound,
// where a BLAS sums all columns of a product alike (docs/decisions/0016-chains-that-wait.md: what is known of that).
#pragma once
#include <algorithm>

#include "kernels/device/launch.cuh"
#include "targets/target.hpp"

namespace kilochain::cuda {

/// The columns of a product: panels side by side, a product each.
struct Panels {
  Index count = 1, width = 0;
  KC_INLINE Index columns() const { return count * width; }
};

/// Columns of a panel, for a matrix of `rows` rows and so many chains. Wide panels reach the rate of products (2.5
/// times as many tiles of 128 x 128 as there are multiprocessors), narrow ones leave little over: on an H100 both
/// products of Caravan with 128, 256 and 512 columns take 27, 31 and 48 us. Not by the device at hand, and not by who
/// asks, or bits would follow them.
inline Index panel_width(Index rows, Index chains, Index most) {
  constexpr Index tile = 128, tiles = 330, narrowest = 256, least_panels = 4, granule = 32, widest = 1024;
  const Index of_rows = (rows + tile - 1) / tile, fast = std::min(widest, (tiles + of_rows - 1) / of_rows * tile);
  const Index fine = (chains / least_panels + tile - 1) / tile * tile;
  const Index width = std::clamp(fine, narrowest, std::max(narrowest, fast)), panels = (chains + width - 1) / width;
  return std::min(((chains + panels - 1) / panels + granule - 1) / granule * granule, std::max(most, Index{1}));
}

/// Whose a column is: all chains from `first` on, or those of a list.
struct Columns {
  Index first;          ///< column 0's chain, or its place in the list
  const Index* chains;  ///< null: all
  const Index* count;   ///< of the list
  /// -1: nobody's.
  __device__ Index chain(Index column) const {
    if (!chains) return first + column;
    return first + column < *count ? chains[first + column] : -1;
  }
};

/// One block. room: as many as the host has panels for.
template <int Threads>
__global__ void __launch_bounds__(Threads, 1) select_asking(const Needs* __restrict__ needs, Index first, Index last,
                                                            [[maybe_unused]] Index room, Index* chains, Index* count) {
  __shared__ Index of_warp[Threads / 32];
  const Index thread = here::thread(), warp = thread / 32, lane = thread % 32;
  Index found = 0;
  for (Index from = first; from < last; from += Threads) {
    const Index chain = from + thread;
    const bool asks = chain < last && needs[chain] != Needs::nothing;
    const unsigned mask = __ballot_sync(0xffffffffu, asks);
    if (lane == 0) of_warp[warp] = __popc(mask);
    __syncthreads();
    Index at = found + __popc(mask & ((1u << lane) - 1));
    for (Index w = 0; w < Threads / 32; ++w) {
      if (w < warp) at += of_warp[w];
      found += of_warp[w];
    }
    if (asks) chains[at] = chain;
    __syncthreads();  // all have read the warps' counts
  }
  KC_CHECK(found <= room);
  if (thread == 0) *count = found;
}

/// A block a chain of `of`: its point, `classes` times n numbers, as columns of `row` numbers each, zero in their
/// padding.
template <class Real>
__global__ void __launch_bounds__(max_block, 1)
    gather_points(const __grid_constant__ Columns of, const Real* __restrict__ rows, std::size_t from_row, Index n,
                  Index classes, Index row, Real* __restrict__ out) {
  const Index chain = of.chain(here::block()), size = classes * row;
  Real* to = out + static_cast<std::size_t>(size) * blockIdx.x;
  const Real* from = chain < 0 ? nullptr : rows + from_row * static_cast<std::size_t>(chain);
  for (Index e = here::thread(); e < size; e += here::threads()) {
    const Index k = e / row, j = e % row;
    to[e] = from && j < n ? from[k * n + j] : Real(0);
  }
}

/// A target's list of who asks, and what it has saved.
class AskingChains {
 public:
  explicit AskingChains(const Context& context) : context_(context) {}

  /// Queues the selection; panels of `width` columns for all that may ask.
  template <class Real>
  Panels select(const Exchange<Real>& exchange, Index first, Index last, Index width) {
    const Index all = last - first, asking = std::min(all, exchange.asking);
    if (list_.size() < static_cast<std::size_t>(all) + 1) {
      list_ = Buffer<Index>(context_, static_cast<std::size_t>(all) + 1, "data and scratch");
    }
    const Panels panels{(asking + width - 1) / width, width};
    queue_selection(exchange.needs, first, last, panels.columns());
    width_ = width, rounds_ += 1, made_ += panels.columns(), all_ += all;
    return panels;
  }
  /// Whose the columns from `first` on are.
  Columns columns(Index first) const { return {first, list_.data() + 1, list_.data()}; }
  static std::size_t bytes(Index chains) { return (static_cast<std::size_t>(chains) + 1) * sizeof(Index); }

  /// For --verbose: empty before the first selection.
  std::string text() const {
    if (rounds_ == 0) return "";
    const double share = static_cast<double>(made_) / static_cast<double>(all_);
    return "; products of " + std::to_string(width_) +
           " columns, of chains that ask: " + std::to_string(static_cast<int>(100 * share + 0.5)) +
           " % of all chains in " + std::to_string(rounds_) + " rounds";
  }

 private:
  void queue_selection(const Needs* needs, Index first, Index last, Index room);

  Context context_;
  Buffer<Index> list_;  ///< how many; then which
  Index width_ = 0;
  std::int64_t rounds_ = 0, made_ = 0, all_ = 0;  ///< columns
};

}  // namespace kilochain::cuda
