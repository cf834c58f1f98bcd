// A library with a density of device pointers, for tests: coordinate i ~ N(i, 1). It copies the points to the host, and
// what it answers back, on the stream that it is given; or it answers in memory and on a stream of its own.
#include <cuda_runtime.h>

#include <vector>

#include "kilochain/c.h"

extern "C" int on_device(size_t chains, size_t n, const double* x, size_t row, double* gradient, double* lp,
                         void* stream, void*) {
  const auto on = static_cast<cudaStream_t>(stream);
  const auto bytes = [](const std::vector<double>& v) { return v.size() * sizeof(double); };
  std::vector<double> points(chains * row), slopes(chains * row), values(chains);
  if (cudaMemcpyAsync(points.data(), x, bytes(points), cudaMemcpyDeviceToHost, on) != cudaSuccess) return 1;
  if (cudaStreamSynchronize(on) != cudaSuccess) return 1;
  for (size_t k = 0; k < chains; ++k)
    for (size_t i = 0; i < n; ++i) {
      const double z = points[k * row + i] - static_cast<double>(i);
      values[k] -= z * z / 2;
      slopes[k * row + i] = -z;
    }
  if (cudaMemcpyAsync(gradient, slopes.data(), bytes(slopes), cudaMemcpyHostToDevice, on) != cudaSuccess) return 1;
  if (cudaMemcpyAsync(lp, values.data(), bytes(values), cudaMemcpyHostToDevice, on) != cudaSuccess) return 1;
  return cudaStreamSynchronize(on) == cudaSuccess ? 0 : 1;
}

/// What a library of arrays has on a device.
extern "C" void* stream_of_its_own() {
  cudaStream_t stream = nullptr;
  return cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess ? stream : nullptr;
}
extern "C" double* doubles_of_its_own(size_t count) {
  void* doubles = nullptr;
  return cudaMalloc(&doubles, count * sizeof(double)) == cudaSuccess ? static_cast<double*>(doubles) : nullptr;
}
