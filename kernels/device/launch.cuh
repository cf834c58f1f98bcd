// Launches over chains: a warp each, several warps to a block, on the context's stream; every launch is checked.
//   for_each_chain(context, kernel, first, last, arguments...): kernel(arguments..., first, last) finds its chain
// How many chains share a block changes no result: warps do not talk to each other.
#pragma once
#include "kernels/device/context.hpp"
#include "kernels/device/cuda_check.hpp"
#include "kernels/device/team.hpp"

namespace kilochain::cuda {

/// The most threads to a block of chain kernels. Launch bounds: (max_block, 1); without the 1 ptxas spills to fit more.
inline constexpr int max_block = 128;

/// cudaSetDevice where the thread works on another one.
inline cudaError_t set_device(int device) {
  thread_local int now = -1;
  if (device == now) return cudaSuccess;
  const cudaError_t status = cudaSetDevice(device);
  now = status == cudaSuccess ? device : -1;
  return status;
}

inline cudaStream_t stream_of(const Place& place) { return static_cast<cudaStream_t>(place.stream); }

/// Warps to a block: few chains spread over the multiprocessors, many fill them.
inline int warps_per_block(Index chains) { return chains >= 2048 ? 4 : (chains >= 512 ? 2 : 1); }

/// Where a thread stands, in signed numbers, as all indices are.
namespace here {
__device__ __forceinline__ Index thread() { return static_cast<Index>(threadIdx.x); }
__device__ __forceinline__ Index threads() { return static_cast<Index>(blockDim.x); }
__device__ __forceinline__ Index lane() { return static_cast<Index>(threadIdx.x % 32); }
__device__ __forceinline__ Index warp() { return static_cast<Index>(threadIdx.x / 32); }
__device__ __forceinline__ Index warps() { return static_cast<Index>(blockDim.x / 32); }
__device__ __forceinline__ Index block() { return static_cast<Index>(blockIdx.x); }
__device__ __forceinline__ Index blocks() { return static_cast<Index>(gridDim.x); }
__device__ __forceinline__ Index block_row() { return static_cast<Index>(blockIdx.y); }
/// Of all threads of the launch.
__device__ __forceinline__ Index thread_of_all() { return block() * threads() + thread(); }
}  // namespace here

/// The chain of this warp, in [first, last); last or more for the warps that are left over.
__device__ inline Index chain_of_warp(Index first) { return first + here::block() * here::warps() + here::warp(); }

/// The dynamic shared memory of the block, as many bytes as it was launched with.
__device__ inline char* dynamic_shared() {
#if defined(KILOCHAIN_EMULATED)
  return static_cast<char*>(emulated::dynamic_shared());
#else
  extern __shared__ __align__(16) char memory[];
  return memory;
#endif
}

/// With `shared` bytes of dynamic shared memory; more than any kernel may have are asked for first.
/// cudaLaunchKernelEx rather than <<<>>>, because it is plain C++, which the emulated device compiles too.
template <class... Parameters, class... Arguments>
void launch_sharing(const Place& place, void (*kernel)(Parameters...), dim3 blocks, int threads, std::size_t shared,
                    const Arguments&... arguments) {
  constexpr std::size_t unasked = std::size_t(48) << 10;
  CUDA_CHECK(set_device(place.device));
  if (shared > unasked)
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = shared;
  config.stream = stream_of(place);
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
}
template <class... Parameters, class... Arguments>
void launch(const Place& place, void (*kernel)(Parameters...), dim3 blocks, int threads,
            const Arguments&... arguments) {
  launch_sharing(place, kernel, blocks, threads, 0, arguments...);
}

/// Blocks that run at once and may meet (GridTeam): no more than the device has multiprocessors, each with a launch
/// bound under which one fits.
template <class... Parameters, class... Arguments>
void launch_together(const Place& place, void (*kernel)(Parameters...), int blocks, int threads,
                     const Arguments&... arguments) {
  CUDA_CHECK(set_device(place.device));
  cudaLaunchAttribute together{};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.stream = stream_of(place);
  config.attrs = &together;
  config.numAttrs = 1;
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
}

template <class... Parameters, class... Arguments>
void for_each_chain(const Place& place, void (*kernel)(Parameters...), Index first, Index last,
                    const Arguments&... arguments) {
  if (last <= first) return;
  const int warps = warps_per_block(last - first);
  const unsigned blocks = static_cast<unsigned>((last - first + warps - 1) / warps);
  launch(place, kernel, dim3(blocks), 32 * warps, arguments..., first, last);
}

}  // namespace kilochain::cuda
