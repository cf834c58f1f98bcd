// cuRAND's stateless Philox, by Random123.
#pragma once
#include <Random123/philox.h>

#include "cuda_runtime.h"

inline uint4 curand_Philox4x32_10(uint4 counter, uint2 key) {
  const r123::Philox4x32::ctr_type c = {{counter.x, counter.y, counter.z, counter.w}};
  const r123::Philox4x32::key_type k = {{key.x, key.y}};
  const r123::Philox4x32::ctr_type w = r123::Philox4x32()(c, k);
  return {w[0], w[1], w[2], w[3]};
}
