// Observations whose normal fits badly: every other column is nearly always the same number. Of these the posterior has
// walls.
#pragma once
#include <random>

#include "targets/data/dataset.hpp"

namespace kilochain::testing_support {

inline Design rare_design(std::size_t rows, std::size_t columns) {
  Design d;
  d.rows = rows, d.columns = columns;
  std::mt19937_64 bits(5);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j + 1 < columns; ++j)
      d.x.push_back(j % 2 ? normal(bits) : i % (50 + 7 * j) == j ? 8 : -0.1);
    d.x.push_back(1);
    d.y.push_back(bits() % 8 == 0);
  }
  return d;
}

}  // namespace kilochain::testing_support
