// A vector register's worth of numbers on the CPU (64 bytes: one AVX-512 register, or several smaller ones).
// Arithmetic is the compiler's own on vector types; here is what it has no operator for.
// nvcc has no such types: its translation units see the name alone, and run no code of HostTeam's.
#pragma once
#if defined(__AVX512F__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif
#include <cmath>

#include "kernels/device/platform.hpp"

namespace kilochain {

#if defined(__CUDACC__)
template <class Real>
struct Pack;
#else
template <class Real>
struct Pack {
  static constexpr int size = 64 / static_cast<int>(sizeof(Real));
  typedef Real Type __attribute__((vector_size(64), aligned(sizeof(Real)), may_alias));
  typedef Real Wide __attribute__((vector_size(64)));
  static KC_INLINE Type load(const Real* p) { return *reinterpret_cast<const Type*>(p); }
  static KC_INLINE void store(Real* p, Type v) { *reinterpret_cast<Type*>(p) = v; }
  static KC_INLINE Type all(Real v) { return v - Type{}; }

  static KC_INLINE Type sqrt(Type v) {
#if defined(__AVX512F__)
    if constexpr (sizeof(Real) == 4)
      return (Type)_mm512_sqrt_ps((__m512)v);
    else
      return (Type)_mm512_sqrt_pd((__m512d)v);
#else
    for (int l = 0; l < size; ++l) v[l] = std::sqrt(v[l]);
    return v;
#endif
  }
  /// v in lanes >= first, zero below.
  static KC_INLINE Type keep_from(Type v, int first) {
    for (int l = 0; l < size; ++l)
      if (l < first) v[l] = 0;
    return v;
  }
  /// The sum of the lanes, by halves.
  static KC_INLINE Real sum(Type v) {
#if defined(__AVX512F__)
    if constexpr (sizeof(Real) == 4)
      return _mm512_reduce_add_ps((__m512)v);
    else
      return _mm512_reduce_add_pd((__m512d)v);
#else
    Real part[size];
    store(part, v);
    for (int half = size / 2; half > 0; half /= 2)
      for (int l = 0; l < half; ++l) part[l] += part[l + half];
    return part[0];
#endif
  }
};
#endif

}  // namespace kilochain
