// A density of device pointers: coordinate i ~ N(i, 1), and no value where x[0] > 1.
#pragma once
#include <cstddef>

namespace kilochain {

/// What it was called with; `refuse_call`: the call that it refuses as a whole, from 1.
struct DeviceDensityCalls {
  long calls = 0, refuse_call = 0;
  std::size_t most_chains = 0, least_chains = ~std::size_t(0);
};
int device_density(std::size_t chains, std::size_t n, const double* x, std::size_t row, double* gradient, double* lp,
                   void* stream, void* calls);

}  // namespace kilochain
