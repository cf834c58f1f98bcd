// Which way many chains' target is evaluated on a CUDA device, from what each way must cost there. Seconds of one round:
//   tiles     a block evaluates several chains, X in its shared memory: waves of blocks x a block's flops
//   warps     a warp for each chain, which reads X from L1 for itself: bytes through L1, or flops
//   products  two matrix products of all chains: flops at their rate, logits through L2, five launches
// The rates are bench/roofline.py's: data sheets of Hopper at the fractions that it takes as reached; other devices have
// other rates, but their ratios are much the same. Nothing here was measured on a device.
#pragma once
#include <string>

#include "kernels/device/platform.hpp"

namespace kilochain {

enum class Engine { tiles, warps, products };
inline constexpr const char* engine_names[] = {"tiles", "warps", "products"};  ///< in the order of Engine

/// One gradient of all chains of a model whose data is a matrix.
struct EngineWork {
  double entries = 0;       ///< of the matrix
  double rows = 0;          ///< logits of a chain, each with an exponential; 0: none
  double passes = 2;        ///< over the matrix
  Index chains = 1;         ///< at a time
  std::size_t element = 4;  ///< bytes of a number
  int multiprocessors = 1;
  Index tile = 0;        ///< chains of a block's tile; 0: its shared memory does not hold the matrix
  Index tile_warps = 0;  ///< warps of a tile that work at the same time
  bool offers_products = false;
  bool whole_iterations =
      false;  ///< tiles: in one kernel with the sampler, so that nothing is launched or loaded again
};

/// Seconds of a round by each way, infinite where there is no such way.
struct EngineCosts {
  double seconds[3];
  double of(Engine e) const { return seconds[static_cast<int>(e)]; }
  /// The cheapest, the earlier one where two are alike.
  Engine best() const;
};
EngineCosts engine_costs(const EngineWork& work);
/// "65.3 us by warps, 17.1 by tiles, 30.2 by products": those that there are, for --verbose.
std::string text_of(const EngineCosts& costs);

}  // namespace kilochain
