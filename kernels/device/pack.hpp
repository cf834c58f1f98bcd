// Vectors of numbers on the CPU. Register: as wide as this processor's registers, for inner loops that hold many.
// Pack: 64 bytes on every processor, since triangular factors are stored so (panels.hpp) and a saved run may go on
// elsewhere: one AVX-512 register, or two of AVX, with the same bits. Arithmetic is the compiler's own on vector types;
// here is what it has no operator for. (GCC keeps a vector wider than the registers in memory: so Pack is two halves.)
// nvcc has no such types: its translation units see the name alone, and run no code of HostTeam's.
#pragma once
#if defined(__AVX__) && !defined(__CUDACC__)
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
#if defined(__AVX512F__)
constexpr int register_bytes = 64;
#elif defined(__AVX__)
constexpr int register_bytes = 32;
#else
constexpr int register_bytes = 16;
#endif

/// v plus what `by`, 2 by, ... lanes below hold, in that order: running sums from by = 1.
template <class P, int by>
KC_INLINE typename P::Type add_shifted(typename P::Type v) {
  if constexpr (by < P::size) {
    v += P::template shift_up<by>(v);
    return add_shifted<P, 2 * by>(v);
  } else {
    return v;
  }
}

template <class Real, int bytes>
struct VectorOf {
  static constexpr int size = bytes / static_cast<int>(sizeof(Real));
  typedef Real Type __attribute__((vector_size(bytes), aligned(sizeof(Real)), may_alias));
  typedef Real Wide __attribute__((vector_size(bytes)));
  using Int = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
  typedef Int Ints __attribute__((vector_size(bytes)));

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
    if constexpr (bytes == 64 && sizeof(Real) == 4)
      return (Type)_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
    if constexpr (bytes == 64 && sizeof(Real) == 8)
      return (Type)_mm512_cvtepi32_pd(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
#elif defined(__AVX2__)
    if constexpr (bytes == 32 && sizeof(Real) == 4)
      return (Type)_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
    if constexpr (bytes == 32 && sizeof(Real) == 8) {
      std::int32_t four;
      __builtin_memcpy(&four, p, sizeof four);
      return (Type)_mm256_cvtepi32_pd(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(four)));
    }
#endif
    Type v;
    for (int l = 0; l < size; ++l) v[l] = static_cast<Real>(p[l]);
    return v;
  }
  static KC_INLINE Type all(Real v) { return v - Type{}; }
  /// a + x y, rounded once wherever the processor can: left to itself, GCC rounds the product in some of several loops
  /// that promise the same bits (-mtune=znver: avoid-fma-max-bits).
  static KC_INLINE Wide multiply_add(Wide x, Wide y, Wide a) {
#if defined(__AVX512F__)
    if constexpr (bytes == 64 && sizeof(Real) == 4) return (Wide)_mm512_fmadd_ps((__m512)x, (__m512)y, (__m512)a);
    if constexpr (bytes == 64 && sizeof(Real) == 8) return (Wide)_mm512_fmadd_pd((__m512d)x, (__m512d)y, (__m512d)a);
#endif
#if defined(__FMA__)
    if constexpr (bytes == 32 && sizeof(Real) == 4) return (Wide)_mm256_fmadd_ps((__m256)x, (__m256)y, (__m256)a);
    if constexpr (bytes == 32 && sizeof(Real) == 8) return (Wide)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)a);
#endif
    return a + x * y;
  }

  static KC_INLINE Type sqrt(Type v) {
#if defined(__AVX512F__)
    if constexpr (bytes == 64 && sizeof(Real) == 4) return (Type)_mm512_sqrt_ps((__m512)v);
    if constexpr (bytes == 64 && sizeof(Real) == 8) return (Type)_mm512_sqrt_pd((__m512d)v);
#endif
#if defined(__AVX__)
    if constexpr (bytes == 32 && sizeof(Real) == 4) return (Type)_mm256_sqrt_ps((__m256)v);
    if constexpr (bytes == 32 && sizeof(Real) == 8) return (Type)_mm256_sqrt_pd((__m256d)v);
#endif
    for (int l = 0; l < size; ++l) v[l] = std::sqrt(v[l]);
    return v;
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
    return shift_up<by>(Type{}, v);
  }
  /// As shift_up, with the last lanes of `below` in the first ones.
  template <int by>
  static KC_INLINE Type shift_up(Type below, Type v) {
    return (Type)pick((Wide)below, (Wide)v, from_below<by>(std::make_integer_sequence<int, size>()));
  }
  /// Lane k of the result is the sum of lanes 0 to k, by doubling distances.
  static KC_INLINE Type running_sums(Type v) { return add_shifted<VectorOf, 1>(v); }
  /// The sum of the lanes, by halves.
  static KC_INLINE Real sum(Type v) {
#if defined(__AVX512F__)
    if constexpr (bytes == 64 && sizeof(Real) == 4) return _mm512_reduce_add_ps((__m512)v);
    if constexpr (bytes == 64 && sizeof(Real) == 8) return _mm512_reduce_add_pd((__m512d)v);
#endif
    Real part[size];
    store(part, v);
    for (int half = size / 2; half > 0; half /= 2)
      for (int l = 0; l < half; ++l) part[l] += part[l + half];
    return part[0];
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
    return Ints{(size + l - by)...};
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

/// Two registers that stand for one of twice their width, with its operations and its bits.
template <class Real, int bytes>
struct TwoRegisters {
  using Half = VectorOf<Real, bytes / 2>;
  static constexpr int size = 2 * Half::size;
  struct Type {
    typename Half::Wide low, high;
    KC_INLINE Real operator[](int lane) const { return lane < Half::size ? low[lane] : high[lane - Half::size]; }
    friend KC_INLINE Type operator+(Type a, Type b) { return {a.low + b.low, a.high + b.high}; }
    friend KC_INLINE Type operator+(Type a, Real b) { return {a.low + b, a.high + b}; }
    friend KC_INLINE Type operator+(Real a, Type b) { return {a + b.low, a + b.high}; }
    friend KC_INLINE Type operator-(Type a, Type b) { return {a.low - b.low, a.high - b.high}; }
    friend KC_INLINE Type operator-(Type a, Real b) { return {a.low - b, a.high - b}; }
    friend KC_INLINE Type operator-(Real a, Type b) { return {a - b.low, a - b.high}; }
    friend KC_INLINE Type operator*(Type a, Type b) { return {a.low * b.low, a.high * b.high}; }
    friend KC_INLINE Type operator*(Type a, Real b) { return {a.low * b, a.high * b}; }
    friend KC_INLINE Type operator*(Real a, Type b) { return {a * b.low, a * b.high}; }
    friend KC_INLINE Type operator/(Type a, Type b) { return {a.low / b.low, a.high / b.high}; }
    friend KC_INLINE Type operator/(Type a, Real b) { return {a.low / b, a.high / b}; }
    friend KC_INLINE Type operator/(Real a, Type b) { return {a / b.low, a / b.high}; }
    friend KC_INLINE Type operator-(Type a) { return {-a.low, -a.high}; }
    friend KC_INLINE Type& operator+=(Type& a, Type b) { return a = a + b; }
    friend KC_INLINE Type& operator-=(Type& a, Type b) { return a = a - b; }
    friend KC_INLINE Type& operator*=(Type& a, Type b) { return a = a * b; }
  };
  using Wide = Type;

  static constexpr int last() { return size - 1; }
  static KC_INLINE Type load(const Real* p) { return {Half::load(p), Half::load(p + Half::size)}; }
  static KC_INLINE void store(Real* p, Type v) {
    Half::store(p, v.low);
    Half::store(p + Half::size, v.high);
  }
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
  static KC_INLINE Type all(Real v) { return {Half::all(v), Half::all(v)}; }
  static KC_INLINE Type sqrt(Type v) { return {Half::sqrt(v.low), Half::sqrt(v.high)}; }
  static KC_INLINE Type keep_from(Type v, int first) {
    return {Half::keep_from(v.low, first), Half::keep_from(v.high, first - Half::size)};
  }
  static KC_INLINE Type keep_only(Type v, int which) {
    return {Half::keep_only(v.low, which), Half::keep_only(v.high, which - Half::size)};
  }
  template <int by>
  static KC_INLINE Type shift_up(Type v) {
    if constexpr (by == Half::size)
      return {typename Half::Wide{}, v.low};
    else
      return {Half::template shift_up<by>(v.low), Half::template shift_up<by>(v.low, v.high)};
  }
  static KC_INLINE Type running_sums(Type v) { return add_shifted<TwoRegisters, 1>(v); }
  static KC_INLINE Real sum(Type v) { return Half::sum(v.low + v.high); }
  static KC_INLINE Type sums(const Type* v) {
    typename Half::Type low[Half::size], high[Half::size];
    for (int k = 0; k < Half::size; ++k) {
      low[k] = v[k].low + v[k].high;
      high[k] = v[k + Half::size].low + v[k + Half::size].high;
    }
    return {Half::sums(low), Half::sums(high)};
  }
};

template <class Real>
using Register = VectorOf<Real, register_bytes>;
#if defined(__AVX__) && !defined(__AVX512F__) && !defined(__clang__)
template <class Real>
using Pack = TwoRegisters<Real, 64>;
#else
template <class Real>
using Pack = VectorOf<Real, 64>;
#endif
#endif

}  // namespace kilochain
