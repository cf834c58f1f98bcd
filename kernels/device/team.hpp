// A team runs one chain: a CUDA warp or block, or a CPU loop. Algorithms are templates over it and never see threads.
//   for_each(n, f): f(i) for i < n, in no order;  sum(n, f): sum of f(i) in `lanes` partial sums, then a fixed tree;
//   single(f): once;  sync(): earlier reads and writes of the whole team are over.
// Values that sum returns are the same on every thread, so control flow on them is team-uniform. Entry i is always the
// same lane's. A sync belongs between a write and another lane's read (a scalar; a row in another order), and between a
// read and another lane's write. Whose it is: kernels sync between the functions of a sampler's or target's contract
// (host/chains/advance.hpp), so these, and the rules of kernels/adapt and proposals that end them, may end out of step.
// Any other function that writes ends in step, behind a sync: its callers read at once. One that overwrites what its
// callers have just read begins with a sync.
// panel<Real>: rows of a triangular factor that are stored side by side (kernels/linalg/triangular.hpp).
// apart(team, f): f(part) by a part of the team that can meet alone while the rest goes on; else by the whole team.
#pragma once
#include "kernels/device/platform.hpp"

#if defined(__CUDACC__)
#include <cooperative_groups.h>
#endif

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
    KC_UNROLL
    for (int half = lanes / 2; half > 0; half /= 2)  // unrolled, the halves stay in registers
      for (int l = 0; l < half; ++l) part[l] += part[l + half];
    return part[0];
  }
  template <class F>
  KC_HD void single(F&& f) const {
    f();
  }
  KC_HD void sync() const {}
};

#if defined(KC_CUDA)
// Marked for both machines, so that algorithms marked so may call them; the host's halves are never run.
KC_INLINE int thread_of_block() {
#if defined(KC_ON_DEVICE)
  return static_cast<int>(threadIdx.x);
#else
  return 0;
#endif
}

/// One warp is the team: 32 lanes, no shared memory, several chains to a block.
struct WarpTeam {
  static constexpr bool on_host = false, sums_columns = true;
  static constexpr int lanes = 32;
  template <class Real>
  static constexpr int panel = 32;

  static KC_INLINE int rank() { return thread_of_block() & 31; }
  template <class F>
  KC_INLINE void for_each(Index n, F&& f) const {
    for (Index i = rank(); i < n; i += lanes) f(i);
  }
  template <class T>
  KC_INLINE T all_sum(T value) const {
#if defined(KC_ON_DEVICE)
    for (int half = 16; half > 0; half /= 2) value += __shfl_xor_sync(0xffffffffu, value, half);
#endif
    return value;
  }
  template <class T, class F>
  KC_INLINE T sum(Index n, F&& f) const {
    T part{};
    for (Index i = rank(); i < n; i += lanes) part += f(i);
    return all_sum(part);
  }
  /// give(c, sum of f(i)(c) over i < n) for every c < W, by one lane each: the bits of W calls of sum, but in W - 1 +
  /// log2(32 / W) shuffles where those take 5 W, and five deep. f(i) is asked once: what the columns of a row share. At
  /// each level of the tree the halves of the warp share the columns between them; so column c ends with the lanes
  /// whose upper bits are c.
  template <class T, int W, class F, class G>
  KC_INLINE void sums(Index n, F&& f, G&& give) const {
    static_assert(W == 1 || W == 2 || W == 4 || W == 8 || W == 16 || W == 32);
    T part[W] = {};
    for (Index i = rank(); i < n; i += lanes) {
      const auto row = f(i);
      KC_UNROLL
      for (int c = 0; c < W; ++c) part[c] += row(c);
    }
    share<W, lanes / 2>(part);
    if (rank() % (lanes / W) == 0) give(rank() / (lanes / W), part[0]);
  }
  template <class F>
  KC_INLINE void single(F&& f) const {
    if (rank() == 0) f();
  }
  KC_INLINE void sync() const {
#if defined(KC_ON_DEVICE)
    __syncwarp();
#endif
  }

 private:
  /// One level of sums' tree, and those below: of `width` columns each half keeps as many as it gives away.
  template <int width, int half, class T>
  KC_INLINE void share(T* part) const {
#if defined(KC_ON_DEVICE)
    if constexpr (width > 1) {
      const bool upper = (rank() & half) != 0;
      KC_UNROLL
      for (int c = 0; c < width / 2; ++c) {
        const T away = upper ? part[c] : part[c + width / 2];
        part[c] = (upper ? part[c + width / 2] : part[c]) + __shfl_xor_sync(0xffffffffu, away, half);
      }
    } else {
      part[0] += __shfl_xor_sync(0xffffffffu, part[0], half);
    }
    if constexpr (half > 1) share<(width > 1 ? width / 2 : 1), half / 2>(part);
#endif
  }
};

/// A whole block of `Threads` is the team: for work that is one for all chains and less than a multiprocessor's.
template <int Threads>
struct BlockTeam {
  static_assert(Threads % 32 == 0 && Threads <= 1024);
  static constexpr bool on_host = false;
  static constexpr int lanes = Threads;
  template <class Real>
  static constexpr int panel = 32;

  static KC_INLINE int rank() { return thread_of_block(); }
  template <class F>
  KC_INLINE void for_each(Index n, F&& f) const {
    for (Index i = rank(); i < n; i += lanes) f(i);
  }
  /// Trees inside the warps, then the warps in order.
  template <class T, class F>
  KC_INLINE T sum(Index n, F&& f) const {
    T part{};
    for (Index i = rank(); i < n; i += lanes) part += f(i);
    part = WarpTeam().all_sum(part);
#if defined(KC_ON_DEVICE)
    __shared__ T parts[Threads / 32];
    __syncthreads();
    if (rank() % 32 == 0) parts[rank() / 32] = part;
    __syncthreads();
    part = T{};
    for (int w = 0; w < Threads / 32; ++w) part += parts[w];
#endif
    return part;
  }
  template <class F>
  KC_INLINE void single(F&& f) const {
    if (rank() == 0) f();
  }
  KC_INLINE void sync() const {
#if defined(KC_ON_DEVICE)
    __syncthreads();
#endif
  }
};

/// All blocks of a launch whose blocks run at once (launch_together) are the team: for work that is one for all chains
/// and more than a block's (a step of the pooled factor). for_each goes over the threads of all blocks; a sum is made
/// whole by each block, to the same bits. So what for_each wrote is there for sum, or a for_each of another length,
/// after a sync only; and how many blocks there are changes no bit.
template <int Threads>
struct GridTeam {
  static constexpr bool on_host = false, spread = true;
  template <class Real>
  static constexpr int panel = 32;
  void* scratch = nullptr;  ///< as large as a dense factor, where there is one

  static KC_INLINE Index rank() {
#if defined(KC_ON_DEVICE)
    return static_cast<Index>(blockIdx.x) * Threads + thread_of_block();
#else
    return 0;
#endif
  }
  static KC_INLINE Index size() {
#if defined(KC_ON_DEVICE)
    return static_cast<Index>(gridDim.x) * Threads;
#else
    return 1;
#endif
  }
  template <class F>
  KC_INLINE void for_each(Index n, F&& f) const {
    for (Index i = rank(); i < n; i += size()) f(i);
  }
  template <class T, class F>
  KC_INLINE T sum(Index n, F&& f) const {
    return BlockTeam<Threads>().template sum<T>(n, f);
  }
  template <class F>
  KC_INLINE void single(F&& f) const {
    if (rank() == 0) f();
  }
  template <class F>
  KC_INLINE void apart(F&& f) const {
    if (rank() < 32) f(WarpTeam{});
  }
  KC_INLINE void sync() const {
#if defined(KILOCHAIN_EMULATED)
    emulated::sync_grid();
#elif defined(KC_ON_DEVICE)
    cooperative_groups::this_grid().sync();
#endif
  }
};
#endif

/// Whether a team is so wide that loops should be few and long.
template <class Team>
inline constexpr bool is_spread = requires {
  requires Team::spread;
};

/// Whether a team has `sums`, of several columns at once.
template <class Team>
inline constexpr bool sums_columns = requires {
  requires Team::sums_columns;
};

template <class Team, class F>
KC_HD void apart(const Team& team, F&& f) {
  if constexpr (is_spread<Team>)
    team.apart(f);
  else
    f(team);
}

}  // namespace kilochain
