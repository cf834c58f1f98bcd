// Where a design has zeros, arranged so that whole stretches of it need not be stored or multiplied.
// Observations are ordered so that those with non-zeros in the same features stand together, and are cut into blocks;
// a panel, one feature of one block, is kept when any of its numbers is not 0. Order: the observations are halved along
// the main direction of their patterns of zeros (three power iterations from the farthest one), down to blocks.
// Cost: about 10 log2(blocks) passes over the non-zeros; MNIST's 1.8 million take 0.2 s.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "targets/data/dataset.hpp"

namespace kilochain {

struct Panels {
  std::vector<std::size_t> order;      ///< the observations, block after block
  std::vector<std::int32_t> features;  ///< of each panel, rising within a block
  std::vector<std::size_t> begin;      ///< (blocks + 1): a block's first panel
  /// The share of the design that is kept.
  double kept(std::size_t columns) const {
    return static_cast<double>(features.size()) / static_cast<double>(columns * (begin.size() - 1));
  }
};

/// The part of the design that is not 0.
double density(const Design& design);
/// u where every number of the design is u times one of 0, 1, ..., 255 (to 2 units in the last place), as pixels,
/// counts and indicators are: they can be stored as bytes. 0: there is no such u.
double byte_unit(const Design& design);
/// Panels of `rows` observations.
Panels find_panels(const Design& design, std::size_t rows);

}  // namespace kilochain
