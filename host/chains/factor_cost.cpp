#include "host/chains/factor_cost.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kilochain {
namespace {

constexpr double l1_bytes = 0.5 * 132 * 128 * 1.755e9;  // a second, of all multiprocessors
constexpr double warp_bytes = 128 * 1.755e9 / 16;       // of one warp: a load of 128 bytes every 16 clocks
constexpr double l2_bytes = 0.85 * 5.5e12;
constexpr double flops = 0.75 * 66.9e12;                        // of products, in float, and in double on tensor cores
constexpr double node = 1.2e-6;                                 // from one kernel to the next
constexpr double least_product = 2e-6, step_of_product = 3e-9;  // the shortest product; a term of its sums

}  // namespace

FactorCost factor_cost(Index chains, Index n, int count, std::size_t real) {
  const double c = chains, d = n, size = static_cast<double>(real);
  const double factor = size * (d * d / 2 + 16 * d);  // its panels
  const double product = std::max(2 * d * d * c / flops, least_product + step_of_product * d);
  const double rows = 6 * size * d * c / l2_bytes;
  return {count * std::max(factor * c / l1_bytes, factor / warp_bytes), count * (product + node) + node + rows};
}

std::string text(const FactorCost& cost, bool at_once) {
  return fmt::format(
      "{} (predicted for an iteration: {:.3g} us as products of all chains, {:.3g} us by a warp for each "
      "chain)",
      at_once ? "matrix products of all chains" : "a warp for each chain", 1e6 * cost.at_once, 1e6 * cost.by_warps);
}

}  // namespace kilochain
