// Vectors as rows, for tests that call kernels by hand.
#pragma once
#include <vector>

#include "kernels/device/storage.hpp"

namespace kilochain::testing_support {

template <class Real>
Row<Real> row_of(std::vector<Real>& v) {
  return {v.data(), v.size()};
}

}  // namespace kilochain::testing_support
