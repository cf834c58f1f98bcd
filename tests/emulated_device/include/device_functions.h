// What kernels call: their place in the grid, synchronisations, shuffles, atomics. Included by cuda_runtime.h.
#pragma once
#include <bit>
#include <cmath>
#include <cstring>

/// Where the running thread stands.
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
inline constexpr int warpSize = 32;

namespace kilochain::emulated {

enum class Sync { syncwarp, shfl, vote, syncthreads, syncthreads_or, syncthreads_and, syncthreads_count };
void sync_warp(unsigned mask);
/// The bits that lane `source` gave; source is a lane of the warp.
std::uint64_t shuffle(unsigned mask, std::uint64_t bits, int source, const char* name);
/// Bit l: what lane l of the mask gave.
unsigned vote(unsigned mask, bool value, const char* name);
int sync_block(Sync kind, int value);
void sync_grid();  ///< cooperative_groups::this_grid().sync()
void* dynamic_shared();
[[noreturn]] void trap();
/// An atomic access of `size` bytes, for the race detector.
void note_atomic(void* at, int size, const void* site);

template <class T>
inline T shuffled(unsigned mask, T value, int source, const char* name) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8 && sizeof(T) >= 2);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = shuffle(mask, bits, source, name);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T, class F>
inline __attribute__((no_sanitize("thread"))) T atomically(T* at, F&& f) {
  note_atomic(at, sizeof(T), __builtin_return_address(0));
  const T before = *at;
  *at = f(before);
  return before;
}
inline int lane() { return static_cast<int>(threadIdx.x & 31); }

}  // namespace kilochain::emulated

__forceinline__ void __syncwarp(unsigned mask = 0xffffffffu) { ::kilochain::emulated::sync_warp(mask); }
__forceinline__ void __syncthreads() { ::kilochain::emulated::sync_block(::kilochain::emulated::Sync::syncthreads, 0); }
__forceinline__ int __syncthreads_or(int value) {
  return ::kilochain::emulated::sync_block(::kilochain::emulated::Sync::syncthreads_or, value);
}
__forceinline__ int __syncthreads_and(int value) {
  return ::kilochain::emulated::sync_block(::kilochain::emulated::Sync::syncthreads_and, value);
}
__forceinline__ int __syncthreads_count(int value) {
  return ::kilochain::emulated::sync_block(::kilochain::emulated::Sync::syncthreads_count, value);
}

template <class T>
__forceinline__ T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  const int l = ::kilochain::emulated::lane();
  return ::kilochain::emulated::shuffled(mask, value, (l & -width) | (source & (width - 1)), "__shfl_sync");
}
template <class T>
__forceinline__ T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
  const int l = ::kilochain::emulated::lane(), from = l ^ bits;
  return ::kilochain::emulated::shuffled(mask, value, from < (l | (width - 1)) + 1 ? from : l, "__shfl_xor_sync");
}
template <class T>
__forceinline__ T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
  const int l = ::kilochain::emulated::lane(), from = l + static_cast<int>(by);
  return ::kilochain::emulated::shuffled(mask, value, from <= (l | (width - 1)) ? from : l, "__shfl_down_sync");
}
template <class T>
__forceinline__ T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
  const int l = ::kilochain::emulated::lane(), from = l - static_cast<int>(by);
  return ::kilochain::emulated::shuffled(mask, value, from >= (l & -width) ? from : l, "__shfl_up_sync");
}
__forceinline__ unsigned __ballot_sync(unsigned mask, int value) {
  return ::kilochain::emulated::vote(mask, value != 0, "__ballot_sync");
}
__forceinline__ int __any_sync(unsigned mask, int value) {
  return ::kilochain::emulated::vote(mask, value != 0, "__any_sync") != 0;
}
__forceinline__ int __all_sync(unsigned mask, int value) {
  return ::kilochain::emulated::vote(mask, value != 0, "__all_sync") == mask;
}

template <class T>
T atomicAdd(T* at, std::type_identity_t<T> value) {
  return ::kilochain::emulated::atomically(at, [&](T v) { return static_cast<T>(v + value); });
}
template <class T>
T atomicMax(T* at, std::type_identity_t<T> value) {
  return ::kilochain::emulated::atomically(at, [&](T v) { return v > value ? v : value; });
}
template <class T>
T atomicMin(T* at, std::type_identity_t<T> value) {
  return ::kilochain::emulated::atomically(at, [&](T v) { return v < value ? v : value; });
}
template <class T>
T atomicExch(T* at, std::type_identity_t<T> value) {
  return ::kilochain::emulated::atomically(at, [&](T) { return value; });
}
template <class T>
T atomicCAS(T* at, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  return ::kilochain::emulated::atomically(at, [&](T v) { return v == expected ? value : v; });
}
// Fences order what other blocks see; blocks run one at a time here, and the race detector wants atomics all the same.
__forceinline__ void __threadfence() {}
__forceinline__ void __threadfence_block() {}

[[noreturn]] inline void __trap() { ::kilochain::emulated::trap(); }
inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }
inline int __popc(unsigned x) { return std::popcount(x); }
inline int __ffs(int x) { return x == 0 ? 0 : std::countr_zero(static_cast<unsigned>(x)) + 1; }
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
template <class T>
inline T __ldg(const T* p) {
  return *p;
}
