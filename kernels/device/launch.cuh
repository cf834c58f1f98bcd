// Launches over chains: a warp each, several warps to a block, on the context's stream; every launch is checked.
//   for_each_chain(context, kernel, first, last, arguments...)   kernel(arguments..., first, last) finds its chain itself
// How many chains share a block changes no result: warps do not talk to each other.
#pragma once
#include "kernels/device/context.hpp"
#include "kernels/device/cuda_check.hpp"
#include "kernels/device/team.hpp"

namespace kilochain::cuda {

/// Threads to a block of chain kernels, at most. Their bounds say (max_block, 1): without the 1, ptxas spills to fit more.
inline constexpr int max_block = 128;

inline cudaStream_t stream_of(const Context& context) { return static_cast<cudaStream_t>(context.stream); }

/// Warps to a block: few chains spread over the multiprocessors, many fill them.
inline int warps_per_block(Index chains) { return chains >= 2048 ? 4 : (chains >= 512 ? 2 : 1); }

/// The chain of this warp, in [first, last); last or more for the warps that are left over.
__device__ inline Index chain_of_warp(Index first) {
  return first + static_cast<Index>(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
}

template <class Kernel, class... Arguments>
void for_each_chain(const Context& context, Kernel kernel, Index first, Index last, const Arguments&... arguments) {
  if (last <= first) return;
  CUDA_CHECK(cudaSetDevice(context.device));
  const int warps = warps_per_block(last - first);
  const unsigned blocks = static_cast<unsigned>((last - first + warps - 1) / warps);
  kernel<<<blocks, static_cast<unsigned>(32 * warps), 0, stream_of(context)>>>(arguments..., first, last);
  CUDA_CHECK(cudaGetLastError());
}

template <class Kernel, class... Arguments>
void launch(const Context& context, Kernel kernel, dim3 blocks, int threads, const Arguments&... arguments) {
  CUDA_CHECK(cudaSetDevice(context.device));
  kernel<<<blocks, static_cast<unsigned>(threads), 0, stream_of(context)>>>(arguments...);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace kilochain::cuda
