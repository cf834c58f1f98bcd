// Loops that the device ends, in a file whose kernels are templates that no other file has: the linker takes no others here.
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

template <class Handle>
__global__ void __launch_bounds__(32) end_or_go_on(int* waiting, Handle loop) {
  if (threadIdx.x != 0) return;
  cuda::set_condition(loop, *waiting > 0);
  *waiting = 0;
}
template <class Handle>
__global__ void __launch_bounds__(32) set_true(Handle condition) {
  if (threadIdx.x == 0) cuda::set_condition(condition, true);
}
/// By a thread each, which CUDA leaves undefined.
template <class Handle>
__global__ void __launch_bounds__(32) set_both(Handle one, Handle other) {
  if (threadIdx.x < 2) cuda::set_condition(threadIdx.x == 0 ? one : other, true);
}

/// counts: rounds left in this iteration, iterations left, rounds of all, odd ones. Asks for the part of odd ones.
template <class Handle>
__global__ void __launch_bounds__(32) round_of(int* counts, Handle rounds, Handle odd, bool sets) {
  if (threadIdx.x != 0) return;
  counts[0] -= 1, counts[2] += 1;
  cuda::set_condition(rounds, counts[0] > 0);
  if (sets) cuda::set_condition(odd, counts[2] % 2 == 1);
}
template <class Count>
__global__ void __launch_bounds__(32) count_odd(Count* counts) {
  if (threadIdx.x == 0) counts[3] += 1;
}
template <class Handle>
__global__ void __launch_bounds__(32) next_iteration(int* counts, int rounds_each, Handle iterations, Handle rounds) {
  if (threadIdx.x != 0) return;
  cuda::set_condition(iterations, counts[1] > 0);
  cuda::set_condition(rounds, true);
  counts[0] = rounds_each, counts[1] -= 1;
}

}  // namespace

std::vector<int> run_nested_loops(const Context& context, int iterations, int rounds, NestedLoops what) {
  Buffer<int> on_device(context, 4);
  const int at[4] = {rounds, iterations - 1, 0, 0};
  on_device.upload(at);
  cuda::Loop loop(context, 12040);
  loop.capture({nullptr, false, false, false, cuda::memory_epoch()}, [&](cuda::Branches& branches, int*) {
    int* const counts = on_device.data();
    const cuda::Condition all = branches.condition(true);
    branches.repeat(all, [&] {
      const cuda::Condition each = branches.condition();
      if (what != NestedLoops::unset) cuda::launch(context, set_true<cuda::Condition>, dim3(1), 32, each);
      if (what == NestedLoops::set_at_once) cuda::launch(context, set_both<cuda::Condition>, dim3(1), 32, each, all);
      branches.repeat(each, [&] {
        const cuda::Condition odd = branches.condition();
        cuda::launch(context, round_of<cuda::Condition>, dim3(1), 32, counts, each, odd,
                     what != NestedLoops::unset_part);
        if (what == NestedLoops::without_a_part) return;
        branches.when(odd, [&] {
          if (what != NestedLoops::empty) cuda::launch(context, count_odd<int>, dim3(1), 32, counts);
        });
      });
      cuda::launch(context, next_iteration<cuda::Condition>, dim3(1), 32, counts, rounds, all, each);
    });
  });
  if (!loop.able()) return {};
  loop.launch();
  return on_device.host();
}

std::vector<int> run_loop(const Context& context, const std::vector<int>& counts) {
  Buffer<int> on_device(context, 2);
  cuda::Loop loop(context, 12040);
  loop.capture({nullptr, false, false, false, cuda::memory_epoch()}, [&](cuda::Branches& branches, int* waiting) {
    const cuda::Condition rounds = branches.condition(true);
    branches.repeat(rounds, [&] {
      cuda::launch(context, count_down<int>, dim3(1), 32, on_device.data(), waiting);
      cuda::launch(context, end_or_go_on<cuda::Condition>, dim3(1), 32, waiting, rounds);
    });
  });
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
