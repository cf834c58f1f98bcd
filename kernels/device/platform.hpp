// What differs between compilers, in one place: markers for functions that run on both machines, integer types, hints.
#pragma once
#include <cstddef>
#include <cstdint>

// KC_CUDA: CUDA code is compiled here.  KC_ON_DEVICE: and it is the device's; __CUDA_ARCH__ says so under nvcc, and the
// device that is emulated on the CPU (tests/emulated_device) is host and device in one compilation.
#if defined(__CUDACC__) || defined(KILOCHAIN_EMULATED)
#define KC_CUDA 1
#endif
#if defined(__CUDA_ARCH__) || defined(KILOCHAIN_EMULATED)
#define KC_ON_DEVICE 1
#endif

#if defined(__CUDACC__)
#define KC_HD __host__ __device__
#define KC_INLINE __host__ __device__ __forceinline__
#define KC_UNROLL _Pragma("unroll")
#else
#define KC_HD
#define KC_INLINE inline __attribute__((always_inline))
#define KC_UNROLL _Pragma("GCC unroll 16")
#endif

namespace kilochain {

using Index = std::int32_t;  ///< a position inside one chain or a chain's number; products go through std::size_t

}  // namespace kilochain
