// Elementary functions as straight-line polynomials: the same source on both machines, and loops over them vectorise.
//   exp: 2^k e^r, |r| <= ln2/2, Taylor in r.  log: 2 atanh((m-1)/(m+1)), m in [sqrt1/2, sqrt2).  sincos: quarter turns.
// Errors measured in tests/kernels/test_math.cpp: at most 2 ulp (exp, log), 1 ulp of 1 (sine, cosine).
// exp flushes to 0 below the smallest normal number and saturates at +infinity; NaN stays NaN. log: positive normals.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/device/platform.hpp"

namespace kilochain::math {

template <class Real>
struct Bits;
template <>
struct Bits<float> {
  using Int = std::int32_t;
  static constexpr int mantissa = 23, exp_terms = 7, log_terms = 6, trig_terms = 5;
  static constexpr float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer in the low bits
  static constexpr float ln2_high = 0.693145751953125f, ln2_low = 1.428606765330187e-6f;
  static constexpr float lowest = -87.33654f, highest = 88.72283f;
  static constexpr Int sqrt_half = 0x3f3504f3, exponent_one = 127;
};
template <>
struct Bits<double> {
  using Int = std::int64_t;
  static constexpr int mantissa = 52, exp_terms = 13, log_terms = 12, trig_terms = 9;
  static constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
  static constexpr double lowest = -708.39641853226408, highest = 709.782712893384;
  static constexpr Int sqrt_half = 0x3fe6a09e667f3bcdLL, exponent_one = 1023;
};

KC_INLINE std::int32_t bits_of(float x) {
#if defined(KC_ON_DEVICE)
  return __float_as_int(x);
#else
  return std::bit_cast<std::int32_t>(x);
#endif
}
KC_INLINE std::int64_t bits_of(double x) {
#if defined(KC_ON_DEVICE)
  return __double_as_longlong(x);
#else
  return std::bit_cast<std::int64_t>(x);
#endif
}
KC_INLINE float from_bits(std::int32_t b) {
#if defined(KC_ON_DEVICE)
  return __int_as_float(b);
#else
  return std::bit_cast<float>(b);
#endif
}
KC_INLINE double from_bits(std::int64_t b) {
#if defined(KC_ON_DEVICE)
  return __longlong_as_double(b);
#else
  return std::bit_cast<double>(b);
#endif
}

/// i! for i <= 20.
constexpr KC_INLINE std::int64_t factorial(int i) {
  std::int64_t f = 1;
  for (; i > 1; --i) f *= i;
  return f;
}

/// e^x.
template <class Real>
KC_INLINE Real exp(Real x) {
  using B = Bits<Real>;
  using Int = typename B::Int;
  Real c = x < B::lowest ? B::lowest : x;
  c = c > B::highest ? B::highest : c;
  const Real shifted = c * Real(1.4426950408889634074) + B::magic;
  const Real k = shifted - B::magic;
  const Real r = (c - k * B::ln2_high) - k * B::ln2_low;
  std::int64_t f = factorial(B::exp_terms);  // a constant in each turn of the unrolled loop
  Real p = Real(1) / Real(f);
  KC_UNROLL
  for (int i = B::exp_terms; i >= 1; --i) {
    f /= i;
    p = p * r + Real(1) / Real(f);
  }
  // 2^k in two halves: k may be 1 past the largest exponent, or the scale alone subnormal.
  const Int whole = bits_of(shifted) - bits_of(B::magic);
  const Int half = whole >> 1;
  const Real scaled = p * from_bits(static_cast<Int>((half + B::exponent_one) << B::mantissa)) *
                      from_bits(static_cast<Int>((whole - half + B::exponent_one) << B::mantissa));
  const Real kept = x > B::highest ? std::numeric_limits<Real>::infinity() : scaled;
  return x == x ? (x < B::lowest ? Real(0) : kept) : x;
}

/// Natural logarithm of a positive normal number.
template <class Real>
KC_INLINE Real log(Real x) {
  using B = Bits<Real>;
  using Int = typename B::Int;
  const Int b = bits_of(x);
  const Int k = (b - B::sqrt_half) >> B::mantissa;
  const Real m =
      from_bits(static_cast<Int>(b - static_cast<Int>(static_cast<std::make_unsigned_t<Int>>(k) << B::mantissa)));
  const Real s = (m - Real(1)) / (m + Real(1)), s2 = s * s;
  Real p = Real(0);
  KC_UNROLL
  for (int i = B::log_terms; i >= 1; --i) p = p * s2 + Real(2) / Real(2 * i + 1);
  const Real kr = Real(k);
  return kr * B::ln2_high + (Real(2) * s + (s * s2 * p + kr * B::ln2_low));
}

/// sin(2 pi u) and cos(2 pi u) for |u| <= 1/2.
template <class Real>
KC_INLINE void sincos_turns(Real u, Real& sine, Real& cosine) {
  using B = Bits<Real>;
  const Real shifted = Real(4) * u + B::magic;
  const Real quarter = shifted - B::magic;
  const Real a = (u - Real(0.25) * quarter) * Real(6.283185307179586476925), a2 = a * a;
  constexpr int last = 2 * B::trig_terms - 1;
  std::int64_t f = factorial(last);
  Real sign = B::trig_terms % 2 == 1 ? Real(1) : Real(-1), s = sign / Real(f), c = sign / Real(f / last);
  f /= last;
  KC_UNROLL
  for (int i = last - 1; i >= 2; i -= 2) {
    sign = -sign;
    f /= i;
    s = s * a2 + sign / Real(f);
    f /= i - 1;
    c = c * a2 + sign / Real(f);
  }
  s *= a;
  const auto q = bits_of(shifted);
  const Real x = (q & 1) ? c : s, y = (q & 1) ? s : c;
  sine = (q & 2) ? -x : x;
  cosine = ((q + 1) & 2) ? -y : y;
}

template <class Real>
KC_INLINE bool finite(Real x) {
  return x - x == Real(0);
}

}  // namespace kilochain::math
