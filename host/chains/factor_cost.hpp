// When the products with a factor that chains share pay as products of matrices, in seconds of an iteration.
//   a warp for each chain   the factor through L1 once for each product and chain
//   all chains at once      2 n^2 flops for each product and chain, and one kernel more, which reads the rows again
// Not by the device's own figures: a run has the same bits on all of them. The figures are an H100's, and the shares of
// them that are reached are assumptions, those of bench/roofline.py.
#pragma once
#include <cstddef>
#include <string>

#include "kernels/device/platform.hpp"

namespace kilochain {

struct FactorCost {
  double by_warps = 0, at_once = 0;
  /// One kernel less has less to go wrong: all at once must save a quarter.
  bool pays() const { return at_once < 0.75 * by_warps; }
};

/// count: products of an iteration; real: bytes of a number.
FactorCost factor_cost(Index chains, Index n, int count, std::size_t real);
/// For people.
std::string text(const FactorCost& cost, bool at_once);

}  // namespace kilochain
