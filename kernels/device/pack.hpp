// A vector register's worth of numbers on the CPU (64 bytes: one AVX-512 register, or several smaller ones).
// Arithmetic is the compiler's own on vector types; here is what it has no operator for.
// nvcc has no such types: its translation units see the name alone, and run no code of HostTeam's.
#pragma once
#if defined(__AVX512F__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif
#include <cmath>
#include <type_traits>
#include <utility>

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
  using Int = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
  typedef Int Ints __attribute__((vector_size(64)));

  static constexpr int last() { return size - 1; }
  static KC_INLINE Type load(const Real* p) { return *reinterpret_cast<const Type*>(p); }
  static KC_INLINE void store(Real* p, Type v) { *reinterpret_cast<Type*>(p) = v; }
  /// N columns of a factor, each a register.
  template <int N>
  struct Columns {
    Type column[N];
    KC_INLINE Type operator[](int k) const { return column[k]; }
  };
  template <int N>
  static KC_INLINE Columns<N> columns(const Real* p) {
    Columns<N> out;
    KC_UNROLL
    for (int k = 0; k < N; ++k) out.column[k] = load(p + k * size);
    return out;
  }
  /// Numbers 0 to 255 from bytes.
  static KC_INLINE Type load_bytes(const std::uint8_t* p) {
#if defined(__AVX512F__)
    if constexpr (sizeof(Real) == 4)
      return (Type)_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
    else
      return (Type)_mm512_cvtepi32_pd(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
#else
    Type v;
    for (int l = 0; l < size; ++l) v[l] = static_cast<Real>(p[l]);
    return v;
#endif
  }
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
    const Ints lane = iota(std::make_integer_sequence<int, size>());
    return (Type)(lane >= static_cast<Int>(first) ? (Wide)v : Wide{});
  }
  /// v in one lane, zero in the others.
  static KC_INLINE Type keep_only(Type v, int which) {
    const Ints lane = iota(std::make_integer_sequence<int, size>());
    return (Type)(lane == static_cast<Int>(which) ? (Wide)v : Wide{});
  }
  /// Lane k of the result is v's lane k - by; the first lanes are zero.
  template <int by>
  static KC_INLINE Type shift_up(Type v) {
    return (Type)pick(Wide{}, (Wide)v, from_below<by>(std::make_integer_sequence<int, size>()));
  }
  /// Lane k of the result is the sum of lanes 0 to k, by doubling distances.
  static KC_INLINE Type running_sums(Type v) {
    v += shift_up<1>(v);
    v += shift_up<2>(v);
    v += shift_up<4>(v);
    if constexpr (size > 8) v += shift_up<8>(v);
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
  /// Lane k of the result is the sum of the lanes of v[k]: transposed halving, size - 1 additions for all of them.
  static KC_INLINE Type sums(Type* v) {
    halve<size>(v);
    return v[0];
  }

 private:
  template <int... l>
  static KC_INLINE constexpr Ints iota(std::integer_sequence<int, l...>) {
    return Ints{l...};
  }
  template <int by, int... l>
  static KC_INLINE constexpr Ints from_below(std::integer_sequence<int, l...>) {
    return Ints{(l < by ? l : size + l - by)...};
  }
  // Every group of m lanes of x and of y is folded in two; x's halves go to the front of the group, y's to its back.
  template <int m, int upper, int... l>
  static KC_INLINE constexpr Ints fold(std::integer_sequence<int, l...>) {
    return Ints{(l / m * m + l % m % (m / 2) + upper * (m / 2) + (l % m < m / 2 ? 0 : size))...};
  }
  static KC_INLINE Wide pick(Wide x, Wide y, Ints from) {
#if defined(__clang__) || defined(__CUDACC__)
    Wide out;
    for (int l = 0; l < size; ++l) out[l] = from[l] < size ? x[from[l]] : y[from[l] - size];
    return out;
#else
    return __builtin_shuffle(x, y, from);
#endif
  }
  template <int m>
  static KC_INLINE void halve(Type* v) {
    if constexpr (m > 1) {
      constexpr auto all_lanes = std::make_integer_sequence<int, size>();
      for (int k = 0; k < m / 2; ++k) {
        const Wide x = (Wide)v[k], y = (Wide)v[k + m / 2];
        v[k] = (Type)(pick(x, y, fold<m, 0>(all_lanes)) + pick(x, y, fold<m, 1>(all_lanes)));
      }
      halve<m / 2>(v);
    }
  }
};
#endif

}  // namespace kilochain
