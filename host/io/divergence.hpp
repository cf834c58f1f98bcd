// A divergence: which draw, and where.
#pragma once
#include <cstdint>
#include <vector>

namespace kilochain {

/// Where a trajectory went wrong: the draw that was being made (the flag `diverging` of it is set), and the point at which
/// the energy error or the density was found to be out of bounds.
struct Divergence {
  std::int64_t chain, draw;
  std::vector<double> point;  ///< one value for each name
};

}  // namespace kilochain
