// Uniform, normal and integer draws from Philox words.
//   normal: Box-Muller, a fixed number of words for each number (a block of four words gives 4 floats or 2 doubles);
//   uniform: (0, 1), never 0 or 1, 53 bits.
// normals fills a row, which has room for n rounded up to 32, and leaves its padding zero. Cost: n/4 or n/2 Philox
// blocks.
#pragma once
#include "kernels/device/math.hpp"
#include "kernels/device/storage.hpp"
#include "kernels/random/philox.hpp"

namespace kilochain {

/// Uniform on (0, 1): 53 random bits, centred in their cell.
KC_INLINE double uniform(const Rng& rng, Purpose purpose, std::uint32_t index = 0) {
  const Words w = rng.words(purpose, index);
  const std::uint64_t bits = (static_cast<std::uint64_t>(w.v[0]) << 21) ^ (w.v[1] >> 11);
  return (static_cast<double>(bits) + 0.5) * 0x1p-53;
}

/// Uniform on {0, ..., count - 1}; the bias is below count / 2^64.
KC_INLINE std::uint32_t uniform_index(const Rng& rng, Purpose purpose, std::uint32_t index, std::uint32_t count) {
  const Words w = rng.words(purpose, index);
  const std::uint64_t high = static_cast<std::uint64_t>(w.v[0]) * count;
  const std::uint64_t low = static_cast<std::uint64_t>(w.v[1]) * count;
  return static_cast<std::uint32_t>((high + (low >> 32)) >> 32);
}

/// How many normals one block of four words gives.
template <class Real>
inline constexpr int normals_per_block = sizeof(Real) == 4 ? 4 : 2;

KC_INLINE void normal_block(const Words& w, float* z) {
  // (0, 1]: 24 bits and half a cell, so that the logarithm is finite; angle in (-1/2, 1/2).
  for (int k = 0; k < 2; ++k) {
    const float u = (static_cast<float>(static_cast<std::int32_t>(w.v[2 * k] >> 8)) + 0.5f) * 0x1p-24f;
    const float v = static_cast<float>(static_cast<std::int32_t>(w.v[2 * k + 1])) * 0x1p-32f;
    float s, c;
    math::sincos_turns(v, s, c);
    const float r = sqrtf(-2.0f * math::log(u));
    z[2 * k] = r * c;
    z[2 * k + 1] = r * s;
  }
}
KC_INLINE void normal_block(const Words& w, double* z) {
  const std::int64_t a = static_cast<std::int64_t>((static_cast<std::uint64_t>(w.v[0]) << 20) ^ (w.v[1] >> 12));
  const std::int64_t b = static_cast<std::int64_t>((static_cast<std::uint64_t>(w.v[2]) << 20) ^ (w.v[3] >> 12));
  const double u = (static_cast<double>(a) + 0.5) * 0x1p-52;
  const double v = (static_cast<double>(b) + 0.5) * 0x1p-52 - 0.5;
  double s, c;
  math::sincos_turns(v, s, c);
  const double r = sqrt(-2.0 * math::log(u));
  z[0] = r * c;
  z[1] = r * s;
}

/// Blocks first, first + 1, ... of normals on the host, `width` counters at a time: a fixed trip count keeps whole
/// vectors even for the last few.
template <int width, class Real>
KC_INLINE void normal_blocks(const Rng& rng, Purpose purpose, Real* z, Index first, Index blocks) {
  constexpr int per = normals_per_block<Real>;
  Real out[per][width];
#pragma GCC ivdep
  for (int l = 0; l < width; ++l) {
    Real pair[per];
    normal_block(rng.words(purpose, static_cast<std::uint32_t>(first + l)), pair);
    for (int k = 0; k < per; ++k) out[k][l] = pair[k];
  }
  const Index count = blocks - first < width ? blocks - first : width;
  for (int k = 0; k < per; ++k)
    for (Index l = 0; l < count; ++l) z[k * blocks + first + l] = out[k][l];
}

/// Fills row with n independent standard normals.
template <class Team, class Real>
KC_HD void normals(const Team& team, const Rng& rng, Purpose purpose, Row<Real> row, Index n) {
  Real* const z = row.data;  // blocks write into the padding
  constexpr int per = normals_per_block<Real>;
  const Index blocks = (n + per - 1) / per;
  if constexpr (Team::on_host) {
    Index first = 0;
    for (; blocks - first > 8; first += 16) normal_blocks<16>(rng, purpose, z, first, blocks);
    if (first < blocks) normal_blocks<8>(rng, purpose, z, first, blocks);
    for (Index i = n; i < per * blocks; ++i) z[i] = Real(0);  // the padding of a row stays zero
  } else {
    team.for_each(blocks, [&](Index b) {
      Real out[per];
      normal_block(rng.words(purpose, static_cast<std::uint32_t>(b)), out);
      for (int k = 0; k < per; ++k) z[k * blocks + b] = k * blocks + b < n ? out[k] : Real(0);
    });
    team.sync();
  }
}

}  // namespace kilochain
