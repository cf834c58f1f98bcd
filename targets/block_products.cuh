// Products of several chains with a matrix X in their block's shared memory; a warp works for K chains at a time:
//   multiply    a[v][c] = sum_j x[j][v] w[j][c]: V observations to a lane, each read of X serves K chains
//   transposed  s[c][f] = sum_i x[f][i] r[c][i]: lanes are observations, J features by K chains of sums to a lane
//   fold        adds what the lanes hold; lane l keeps the sums of chain folded_chain(l)
// Sums run in an order that neither the number of chains nor of warps changes, so a chain's bits do not depend on its
// company.
// Of 128 bytes a clock that leave shared memory, multiply needs 3/4 as many clocks as its multiply-adds, transposed 1.
#pragma once
#include <cstdint>

#include "kernels/contract.hpp"
#include "kernels/device/launch.cuh"

namespace kilochain::cuda {

/// Chains of a warp's group, and features at most.
template <class Real>
inline constexpr int group_chains = 32 / static_cast<int>(sizeof(Real));
/// Threads of a block, at most: as many as leave each the registers of its sums.
template <class Real>
inline constexpr int block_threads = sizeof(Real) == 4 ? 512 : 256;

/// Hands out a block's shared memory: arrays side by side, each from a multiple of 16 bytes on.
struct SideBySide {
  std::size_t bytes = 0;  ///< of all so far
  /// Where the next one begins, in bytes.
  template <class T>
  std::uint32_t take(std::size_t count) {
    const std::size_t at = bytes;
    bytes += (count * sizeof(T) + 15) / 16 * 16;
    return std::uint32_t(at);
  }
  /// Bytes of all, or more than any block may have.
  std::uint32_t all() const { return std::uint32_t(bytes < UINT32_MAX ? bytes : UINT32_MAX); }
};

/// Numbers that lie side by side, moved as one.
template <class Real, int V>
struct alignas(sizeof(Real) * V < 16 ? sizeof(Real) * V : 16) Several {
  Real v[V];
};
template <int V, class Real>
__device__ __forceinline__ Several<Real, V> several(const Real* at) {
  return *reinterpret_cast<const Several<Real, V>*>(at);
}

/// Into shared memory; four floats as one store, which nvcc makes four of here: their lanes, 16 bytes apart, would
/// share banks.
template <int V, class Real>
__device__ __forceinline__ void put(Real* at, const Several<Real, V>& s) {
#if defined(__CUDA_ARCH__)
  if constexpr (V == 4 && sizeof(Real) == 4) {
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(at))),
                 "f"(s.v[0]), "f"(s.v[1]), "f"(s.v[2]), "f"(s.v[3])
                 : "memory");
    return;
  }
#endif
  *reinterpret_cast<Several<Real, V>*>(at) = s;
}

/// x: the lane's first observation of feature 0, ldx from one feature to the next; w: the first chain's, ldw likewise.
template <int V, int K, class Real>
__device__ __forceinline__ void multiply(const Real* x, Index ldx, const Real* w, Index ldw, Index n, Real (&a)[V][K]) {
#pragma unroll
  for (int v = 0; v < V; ++v)
#pragma unroll
    for (int c = 0; c < K; ++c) a[v][c] = 0;
#pragma unroll 2
  for (Index j = 0; j < n; ++j, x += ldx, w += ldw) {
    const auto xs = several<V>(x);
    const auto ws = several<K>(w);
#pragma unroll
    for (int v = 0; v < V; ++v)
#pragma unroll
      for (int c = 0; c < K; ++c) a[v][c] += xs.v[v] * ws.v[c];
  }
}

/// Features first, first + 1, ..., the last one again where there are no more; `count` observations, a multiple of 64.
template <int J, int K, class Real>
__device__ __forceinline__ void transposed(const Real* x, Index ldx, Index first, Index last, const Real* r, Index ldr,
                                           Index count, Real (&s)[K][J]) {
  constexpr int V = 2;
  const Index lane = V * here::lane();
  Index feature[J];
#pragma unroll
  for (int f = 0; f < J; ++f) feature[f] = (first + f < last ? first + f : last) * ldx;
#pragma unroll
  for (int c = 0; c < K; ++c)
#pragma unroll
    for (int f = 0; f < J; ++f) s[c][f] = 0;
#pragma unroll 1
  for (Index i = lane; i < count; i += 32 * V) {
    Several<Real, V> rs[K];
#pragma unroll
    for (int c = 0; c < K; ++c) rs[c] = several<V>(r + c * ldr + i);
#pragma unroll
    for (int f = 0; f < J; ++f) {
      const auto xs = several<V>(x + feature[f] + i);
#pragma unroll
      for (int c = 0; c < K; ++c)
#pragma unroll
        for (int v = 0; v < V; ++v) s[c][f] += xs.v[v] * rs[c].v[v];
    }
  }
}

/// Combines what the lanes hold of chain c, s[c][...], until a lane has one chain's, in s[0][...]: of 1 / K of the
/// lanes.
template <int half, int bit, int K, int J, class T, class Combine>
__device__ __forceinline__ void fold_half(T (&s)[K][J], Combine&& combine) {
  if constexpr (half > 0) {
    const bool upper = (threadIdx.x & bit) != 0;
#pragma unroll
    for (int c = 0; c < half; ++c)
#pragma unroll
      for (int f = 0; f < J; ++f) {
        const T give = upper ? s[c][f] : s[c + half][f], keep = upper ? s[c + half][f] : s[c][f];
        s[c][f] = combine(keep, __shfl_xor_sync(0xffffffffu, give, bit));
      }
    fold_half<half / 2, 2 * bit>(s, combine);
  }
}
template <int K, int J, class T, class Combine>
__device__ __forceinline__ void fold_chains(T (&s)[K][J], Combine&& combine) {
  fold_half<K / 2, 1>(s, combine);
}
/// Adds the lanes that hold the same chain's.
template <int K, class T>
__device__ __forceinline__ T fold_lanes(T s) {
#pragma unroll
  for (int bit = K; bit < 32; bit *= 2) s += __shfl_xor_sync(0xffffffffu, s, bit);
  return s;
}
/// The chain of the group that a lane holds after fold_chains.
template <int K>
__device__ __forceinline__ int folded_chain() {
  const int lane = here::lane();
  int chain = 0, bit = 1;
#pragma unroll
  for (int half = K / 2; half > 0; half /= 2, bit *= 2) chain += (lane & bit) != 0 ? half : 0;
  return chain;
}

/// Which of a block's chains ask, at most 32, and where they stand in its arrays: side by side from the front, so that
/// groups of K in which nobody asks cost nothing; then those that do not ask.
struct Asking {
  unsigned mask;
  __device__ Index count() const { return __popc(mask); }
  __device__ bool operator()(Index c) const { return (mask >> c & 1) != 0; }
  __device__ Index slot(Index c) const {
    const unsigned before = (1u << c) - 1;
    return (*this)(c) ? __popc(mask & before) : count() + __popc(~mask & before);
  }
};
/// Of chains first..last-1; a call of a whole warp.
__device__ __forceinline__ Asking asking(const Needs* needs, Index first, Index last) {
  const Index chain = first + here::lane();
  return {__ballot_sync(0xffffffffu, chain < last && needs[chain] != Needs::nothing)};
}

}  // namespace kilochain::cuda
