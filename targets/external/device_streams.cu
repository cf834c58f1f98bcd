#include "kernels/device/cuda_check.hpp"
#include "targets/external/device_streams.hpp"

namespace kilochain {
namespace {

cudaStream_t stream_of(std::uintptr_t number) { return reinterpret_cast<cudaStream_t>(number); }

}  // namespace

int device_of_thread() {
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  return device;
}

void order_streams(std::uintptr_t earlier, std::uintptr_t later) {
  cudaEvent_t event;
  CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CUDA_CHECK(cudaEventRecord(event, stream_of(earlier)));
  CUDA_CHECK(cudaStreamWaitEvent(stream_of(later), event));
  CUDA_CHECK(cudaEventDestroy(event));
}

void copy_on_device(void* to, const void* from, std::size_t bytes, std::uintptr_t stream) {
  CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_of(stream)));
}

}  // namespace kilochain
