// A team runs one chain: a CUDA warp or block, or a CPU loop. Algorithms are templates over it and never see threads.
//   for_each(n, f): f(i) for i < n, in no order;  sum(n, f): sum of f(i) in `lanes` partial sums, then a fixed tree;
//   single(f): once;  sync(): earlier writes are visible to the whole team.
// Values that sum returns are the same on every thread, so control flow on them is team-uniform.
// panel<Real>: rows of a triangular factor that are stored side by side (kernels/linalg/triangular.hpp).
#pragma once
#include "kernels/device/platform.hpp"

namespace kilochain {

/// One thread of the CPU plays the whole team. `lanes` partial sums map onto vector registers.
struct HostTeam {
  static constexpr bool on_host = true;
  static constexpr int lanes = 32;
  template <class Real>
  static constexpr int panel = 64 / static_cast<int>(sizeof(Real));

  template <class F>
  KC_HD void for_each(Index n, F&& f) const {
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i) f(i);
  }
  template <class T, class F>
  KC_HD T sum(Index n, F&& f) const {
    T part[lanes] = {};
    Index i = 0;
    for (; i + lanes <= n; i += lanes)
      for (int l = 0; l < lanes; ++l) part[l] += f(i + l);
    for (int l = 0; i + l < n; ++l) part[l] += f(i + l);
    for (int half = lanes / 2; half > 0; half /= 2)
      for (int l = 0; l < half; ++l) part[l] += part[l + half];
    return part[0];
  }
  template <class F>
  KC_HD void single(F&& f) const {
    f();
  }
  KC_HD void sync() const {}
};

#if defined(__CUDACC__)
/// One warp is the team: 32 lanes, no shared memory, several chains to a block.
struct WarpTeam {
  static constexpr bool on_host = false;
  static constexpr int lanes = 32;
  template <class Real>
  static constexpr int panel = 32;

  __device__ static int rank() { return static_cast<int>(threadIdx.x) & 31; }
  template <class F>
  __device__ void for_each(Index n, F&& f) const {
    for (Index i = rank(); i < n; i += 32) f(i);
  }
  template <class T>
  __device__ T all_sum(T value) const {
    for (int half = 16; half > 0; half /= 2) value += __shfl_xor_sync(0xffffffffu, value, half);
    return value;
  }
  template <class T, class F>
  __device__ T sum(Index n, F&& f) const {
    T part{};
    for (Index i = rank(); i < n; i += 32) part += f(i);
    return all_sum(part);
  }
  template <class F>
  __device__ void single(F&& f) const {
    if (rank() == 0) f();
  }
  __device__ void sync() const { __syncwarp(); }
};
#endif

}  // namespace kilochain
