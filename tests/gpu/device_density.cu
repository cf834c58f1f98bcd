#include <algorithm>
#include <limits>

#include "kernels/device/launch.cuh"
#include "tests/gpu/device_density.hpp"

namespace kilochain {
namespace {

__global__ void density_kernel(int chains, int n, const double* x, std::size_t row, double* gradient, double* lp) {
  const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (k >= chains) return;
  const std::size_t at = row * static_cast<std::size_t>(k);
  double sum = x[at] > 1 ? -std::numeric_limits<double>::infinity() : 0;
  for (int i = 0; i < n; ++i) {
    const double z = x[at + i] - i;
    sum -= z * z / 2;
    gradient[at + i] = -z;
  }
  lp[k] = sum;
}

}  // namespace

int device_density(std::size_t chains, std::size_t n, const double* x, std::size_t row, double* gradient, double* lp,
                   void* stream, void* user_data) {
  auto& calls = *static_cast<DeviceDensityCalls*>(user_data);
  calls.most_chains = std::max(calls.most_chains, chains), calls.least_chains = std::min(calls.least_chains, chains);
  if (++calls.calls == calls.refuse_call) return 1;
  Place place;
  place.backend = Backend::cuda, place.stream = stream;
  cuda::launch(place, density_kernel, dim3(static_cast<unsigned>(chains + 63) / 64), 64, static_cast<int>(chains),
               static_cast<int>(n), x, row, gradient, lp);
  return 0;
}

}  // namespace kilochain
