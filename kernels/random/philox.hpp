// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw 2011): four random words as a pure function of a counter and a key.
// CPU: Random123. CUDA: cuRAND's stateless function. The same words for the same counter, as published
// (tests/data/philox_known_answers.txt).
// Counter: (index, iteration low word, chain, purpose in the top byte + iteration's next 24 bits); key: the seed.
// A number depends on (seed, chain, iteration, purpose, index) alone: not on batch, thread, device or who asked first.
#pragma once
#include "kernels/device/platform.hpp"

#if defined(KC_ON_DEVICE)
#include <curand_philox4x32_x.h>
#else
#ifndef R123_USE_SSE
#define R123_USE_SSE 0  // Philox has no use for them, and every processor's intrinsics take a second to read
#endif
#include <Random123/philox.h>
#endif

namespace kilochain {

struct Words {
  std::uint32_t v[4];
};

KC_INLINE Words philox(std::uint32_t c0, std::uint32_t c1, std::uint32_t c2, std::uint32_t c3, std::uint32_t k0,
                       std::uint32_t k1) {
#if defined(KC_ON_DEVICE)
  const uint4 w = curand_Philox4x32_10(make_uint4(c0, c1, c2, c3), make_uint2(k0, k1));
  return {{w.x, w.y, w.z, w.w}};
#else
  const r123::Philox4x32::ctr_type counter = {{c0, c1, c2, c3}};
  const r123::Philox4x32::key_type key = {{k0, k1}};
  const r123::Philox4x32::ctr_type w = r123::Philox4x32()(counter, key);
  return {{w[0], w[1], w[2], w[3]}};
#endif
}

/// What a random number is for: no two uses in one iteration share a counter.
enum class Purpose : std::uint32_t {
  start = 0,
  proposal = 1,
  accept = 2,
  momentum = 3,
  direction = 4,
  progressive = 5,
  trajectory = 6,
  adaptation = 7,
  policy = 8,
  predictive = 9,
  relabelling = 10,
  mode = 11
};

/// The random numbers of one chain in one iteration. A value, not a generator: asking twice gives the same number.
struct Rng {
  std::uint64_t seed = 0;
  std::uint32_t chain = 0;
  std::int64_t iteration = 0;

  KC_INLINE Words words(Purpose purpose, std::uint32_t index) const {
    const auto it = static_cast<std::uint64_t>(iteration);
    return philox(index, static_cast<std::uint32_t>(it), chain,
                  (static_cast<std::uint32_t>(purpose) << 24) | static_cast<std::uint32_t>((it >> 32) & 0xffffffu),
                  static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
  }
};

}  // namespace kilochain
