// Random words and normals as a CUDA device makes them, brought to the host.
#pragma once
#include <vector>

#include "kernels/device/context.hpp"
#include "kernels/random/philox.hpp"

namespace kilochain {

struct CounterKey {
  std::uint32_t c[4], k[2];
};
/// The words of each counter and key.
std::vector<Words> device_words(const Context& context, const std::vector<CounterKey>& counters);
/// n normals of one chain, by a warp.
template <class Real>
std::vector<Real> device_normals(const Context& context, const Rng& rng, Index n);
/// math::exp, math::log, sine and cosine of x turns: four results for each x.
template <class Real>
std::vector<Real> device_functions(const Context& context, const std::vector<Real>& x);

}  // namespace kilochain
