// A loop that the device ends, in a file without kernels that are no templates: the linker takes those of one kind only.
#include "host/chains/cuda_loop.cuh"
#include "tests/emulated_device/faulty.hpp"

namespace kilochain {
namespace {

/// counts: what is left, rounds made.
template <class Count>
__global__ void __launch_bounds__(32) count_down(Count* counts, int* waiting) {
  if (threadIdx.x != 0) return;
  counts[0] -= 1, counts[1] += 1;
  if (waiting && counts[0] > 0) atomicAdd(waiting, 1);
}

}  // namespace

std::vector<int> run_loop(const Context& context, const std::vector<int>& counts) {
  Buffer<int> on_device(context, 2);
  cuda::Loop loop(context);
  loop.capture({nullptr, false, false, cuda::memory_epoch()},
               [&](int* waiting) { cuda::launch(context, count_down<int>, dim3(1), 32, on_device.data(), waiting); });
  std::vector<int> rounds;
  for (const int count : counts) {
    const int at[2] = {count, 0};
    on_device.upload(at);
    loop.launch();
    rounds.push_back(on_device.host()[1]);
  }
  return rounds;
}

}  // namespace kilochain
