// The numbers that tensor cores multiply, and floats as sums of them (round to nearest, ties to even; finite numbers).
//   bf16: 8 bits of mantissa.  A float is the sum of three, but for a part below 2^-133.
//   tf32: 11 bits.             A float is the sum of two to 2^-22 of its size.
#pragma once
#include <cstdint>
#include <cstring>

#include "kernels/device/platform.hpp"

namespace kilochain {

/// Its bits: the upper half of a float's.
struct Bfloat16 {
  std::uint16_t bits = 0;
};

/// v with its last `dropped` bits of mantissa rounded away.
template <int dropped>
KC_INLINE float rounded_float(float v) {
  std::uint32_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  const std::uint32_t last = (bits >> dropped) & 1u, half = (std::uint32_t(1) << (dropped - 1)) - 1u;
  bits = (bits + half + last) & ~((std::uint32_t(1) << dropped) - 1u);
  std::memcpy(&v, &bits, sizeof bits);
  return v;
}
KC_INLINE float to_tf32(float v) { return rounded_float<13>(v); }
KC_INLINE Bfloat16 to_bfloat16(float v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  std::uint32_t pair;  // the same by one instruction; that for one number alone is slower
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(0.0f), "f"(v));
  return {static_cast<std::uint16_t>(pair)};
#else
  std::uint32_t bits;
  v = rounded_float<16>(v);
  std::memcpy(&bits, &v, sizeof bits);
  return {static_cast<std::uint16_t>(bits >> 16)};
#endif
}
KC_INLINE float to_float(Bfloat16 b) {
  const std::uint32_t bits = std::uint32_t(b.bits) << 16;
  float v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}

/// The parts of v, largest first: (bf16, bf16, bf16) or (tf32, tf32).
KC_INLINE void split(float v, Bfloat16 (&part)[3]) {
  for (int k = 0; k < 3; ++k) {
    part[k] = to_bfloat16(v);
    v -= to_float(part[k]);
  }
}
KC_INLINE void split(float v, float (&part)[2]) {
  part[0] = to_tf32(v);
  part[1] = to_tf32(v - part[0]);
}

}  // namespace kilochain
