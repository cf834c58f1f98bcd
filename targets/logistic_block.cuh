// Logistic regression of several chains by one block, X and signs in its shared memory (targets/block_products.cuh):
//   a warp: 128 observations x K chains of logits, their residuals, their share of lp;   the block meets;
//   a warp: J features x K chains of X^T r over a stage of 512 observations;             the block meets;
//   a warp: one chain's lp and gradient, from shares in the order of observations.
// Sums: 32 observations (double: 16) in Real, then double; of a gradient a stage, then stages in order. A float's exp,
// inverse come from the device's own units: 2 ulp in place of the model's 2 and 1/2.
// Cost for a chain: 4 N n multiply-adds' flops, X and r read from shared memory (3 n / 16 + n / 16) N times 4 bytes.
#pragma once
#include "targets/block_model.cuh"
#include "targets/logistic_regression.hpp"

namespace kilochain {
namespace cuda {

/// The same as logistic_term without its weight.
template <class Real>
__device__ __forceinline__ void device_term(Real logit, Real sign, Real& residual, Real& linear, Real& factor) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(Real) == 4) {
    const float u = sign * logit;
    float e, inverse;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(fabsf(u) * -1.4426950408889634f));
    factor = e * (sign * sign) + 1.0f;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(factor));
    residual = sign * (u > 0 ? e : 1.0f) * inverse;
    linear = u > 0 ? 0.0f : u;
    return;
  }
#endif
  const LogisticTerm<Real> term = logistic_term(logit, sign);
  residual = term.residual, linear = term.linear, factor = term.factor;
}
/// The logarithm of such a factor, which is from 1 to 2: 2 atanh((f - 1)/(f + 1)) without a reduction, and 3 ulp.
template <class Real>
__device__ __forceinline__ Real device_log(Real factor) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(Real) == 4) {
    float inverse, p = 0.0f;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(factor + 1.0f));
    const float s = (factor - 1.0f) * inverse, s2 = s * s;
    KC_UNROLL
    for (int i = 6; i >= 1; --i) p = p * s2 + 2.0f / static_cast<float>(2 * i + 1);
    return 2.0f * s + s * s2 * p;
  }
#endif
  return math::log(factor);
}

}  // namespace cuda

template <class Real>
struct BlockModel<LogisticRegression<Real>, Real> {
  using Data = typename LogisticRegression<Real>::Data;
  static constexpr bool by_blocks = true, by_warps = false;
  static constexpr int K = cuda::group_chains<Real>, V = 4;
  static constexpr Index chunk = 32 * V, stage = 512;

  Data d;
  Index chains = K;   ///< of a block: a multiple of K
  Index at_once = 1;  ///< stages whose residuals are held together

  /// Where a block's arrays begin, in bytes; known on the host, so that no thread keeps them in registers.
  struct Layout {
    std::uint32_t sign = 0, w = 0, r = 0, g = 0, lp = 0, bytes = 0;
    Index ldr = 0;
  } layout{};

  static bool fit(const Data& d, Index chains, std::size_t bytes, BlockModel& out) {
    out = {d, chains, 1};
    for (out.at_once = out.stages(); out.lay_out() > bytes && out.at_once > 1;) --out.at_once;
    return out.bytes() <= bytes;
  }
  std::size_t bytes() const { return layout.bytes; }
  static bool alone(const Data&) { return false; }
  /// Warps that have something to do at the same time.
  Index warps() const {
    const Index groups = chains / K, here = at_once * stage < observations() ? at_once * stage : observations();
    const Index first = groups * (here / chunk), second = groups * feature_groups() * at_once;
    return first > second ? first : second;
  }

  KC_HD Index observations() const { return (d.num_rows + chunk - 1) / chunk * chunk; }
  KC_HD Index stages() const { return (observations() + stage - 1) / stage; }
  KC_HD Index feature_groups() const { return (d.n + K - 1) / K; }

  struct Places {
    Real *x, *sign;  ///< (feature, observation); (observation)
    Real *w, *r;  ///< (feature, slot); (slot, observation of the stages at hand). Slot: a chain's place, cuda::Asking
    Real* g;      ///< (stage, slot, feature)
    double* lp;   ///< (chunk, slot)
  };
  KC_HD Places places(char* base) const {
    const auto reals = [&](std::uint32_t at) { return reinterpret_cast<Real*>(base + at); };
    return {reals(0),        reals(layout.sign), reals(layout.w),
            reals(layout.r), reals(layout.g),    reinterpret_cast<double*>(base + layout.lp)};
  }
  /// Bytes of all arrays, side by side.
  std::size_t lay_out() {
    const std::size_t num = std::size_t(observations()), n = std::size_t(d.n), many = std::size_t(chains);
    cuda::SideBySide next;
    layout.ldr = at_once * stage < observations() ? at_once * stage : observations();
    next.take<Real>(n * num);
    layout.sign = next.take<Real>(num), layout.w = next.take<Real>(n * many),
    layout.r = next.take<Real>(many * std::size_t(layout.ldr));
    layout.g = next.take<Real>(std::size_t(stages()) * many * n), layout.lp = next.take<double>(num / chunk * many);
    return layout.bytes = next.all();
  }

#if defined(KC_CUDA)
  /// Brings X. The block must meet before it evaluates: evaluate does.
  __device__ void load(char* shared) const {
    const Places p = places(shared);
    const Index num = observations();
    for (Index k = cuda::here::thread(); k < d.n * num; k += cuda::here::threads()) {
      const Index j = k / num, i = k % num;
      p.x[k] = i < d.num_padded ? d.x_columns[std::size_t(j) * std::size_t(d.num_padded) + std::size_t(i)] : Real(0);
    }
    for (Index i = cuda::here::thread(); i < num; i += cuda::here::threads())
      p.sign[i] = i < d.num_padded ? d.sign[i] : Real(0);
  }

  /// Answers chains first..last-1, at most `chains`, which ask for at most a gradient. The block must meet before it
  /// calls this again; the warp of chain - first, counted round, sees the answer after its next sync.
  __device__ void evaluate(char* shared, const Exchange<Real>& exchange, Index first, Index last) const {
    const Places p = places(shared);
    const Index warp = cuda::here::warp(), warps = cuda::here::warps();
    const cuda::Asking asks = cuda::asking(exchange.needs, first, last);
    for (Index k = cuda::here::thread(); k < d.n * chains; k += cuda::here::threads()) {
      const Index c = k / d.n, j = k % d.n;
      p.w[j * chains + asks.slot(c)] = asks(c) ? exchange.query(first + c).point[j] : Real(0);
    }
    __syncthreads();
    const Index chunks = observations() / chunk, of_stages = at_once * (stage / chunk);
    const Index groups = (asks.count() + K - 1) / K;
    for (Index from = 0; from < chunks; from += of_stages) {
      const Index here = from + of_stages < chunks ? of_stages : chunks - from;
      for (Index k = warp; k < here * groups; k += warps) residuals(p, k % groups, from, k / groups);
      __syncthreads();
      if (exchange.most == Needs::value) continue;
      const Index tiles = feature_groups(), wide = (d.n + tiles - 1) / tiles;
      const Index stages_here = (here * chunk + stage - 1) / stage;
      for (Index k = warp; k < stages_here * tiles * groups; k += warps)
        gradients(p, k % groups, from / (stage / chunk), k / groups / tiles, k / groups % tiles * wide, wide);
      __syncthreads();
    }
    for (Index c = warp; c < chains; c += warps)
      if (asks(c)) answer(p, exchange, first + c, asks.slot(c));
  }

 private:
  /// One chunk's residuals and share of lp, for K chains.
  __device__ __forceinline__ void residuals(const Places& p, Index group, Index from, Index k) const {
    const Index lane = cuda::here::lane(), i = (from + k) * chunk + V * lane;
    Real t[V][K];
    cuda::multiply(p.x + i, observations(), p.w + group * K, chains, d.n, t);
    const auto signs = cuda::several<V>(p.sign + i);
    Real linear[K][1], factor[K][1];
#pragma unroll
    for (int c = 0; c < K; ++c) {
      cuda::Several<Real, V> residual;
      linear[c][0] = 0, factor[c][0] = 1;
#pragma unroll
      for (int v = 0; v < V; ++v) {
        Real l, f;
        cuda::device_term(t[v][c], signs.v[v], residual.v[v], l, f);
        linear[c][0] += l, factor[c][0] *= f;
      }
      cuda::put(p.r + (group * K + c) * layout.ldr + k * chunk + V * lane, residual);
    }
    cuda::fold_chains(linear, [](Real a, Real b) { return a + b; });
    cuda::fold_chains(factor, [](Real a, Real b) { return a * b; });  // at most 2^32
    const double lp = cuda::fold_lanes<K>(double(linear[0][0]) - double(math::log(factor[0][0])));
    if (lane < K) p.lp[(from + k) * chains + group * K + cuda::folded_chain<K>()] = lp;
  }
  /// One stage's sums for K chains and features first..first + wide - 1.
  __device__ __forceinline__ void gradients(const Places& p, Index group, Index stages_before, Index k, Index first,
                                            Index wide) const {
    if constexpr (K == 8) {
      if (wide == 8) return gradients_of<8>(p, group, stages_before, k, first);
      if (wide == 7) return gradients_of<7>(p, group, stages_before, k, first);
      if (wide == 6) return gradients_of<6>(p, group, stages_before, k, first);
      if (wide == 5) return gradients_of<5>(p, group, stages_before, k, first);
    } else if (wide == 3) {
      return gradients_of<3>(p, group, stages_before, k, first);
    }
    gradients_of<4>(p, group, stages_before, k, first);
  }
  template <int J>
  __device__ __forceinline__ void gradients_of(const Places& p, Index group, Index stages_before, Index k,
                                               Index first) const {
    const Index at = (stages_before + k) * stage, num = observations();
    const Index count = at + stage < num ? stage : num - at, lane = cuda::here::lane();
    Real s[K][J];
    cuda::transposed<J>(p.x + at, num, first, d.n - 1, p.r + group * K * layout.ldr + k * stage, layout.ldr, count, s);
    cuda::fold_chains(s, [](Real a, Real b) { return a + b; });
    Real* to = p.g + ((stages_before + k) * chains + group * K + cuda::folded_chain<K>()) * d.n + first;
#pragma unroll
    for (int f = 0; f < J; ++f) {
      const Real sum = cuda::fold_lanes<K>(s[0][f]);
      if (lane < K && first + f < d.n) to[f] = sum;
    }
  }
  __device__ void answer(const Places& p, const Exchange<Real>& exchange, Index chain, Index c) const {
    const WarpTeam team;
    const Reply<Real> reply = exchange.reply(chain);
    const double likelihood =
        team.template sum<double>(observations() / chunk, [&](Index k) { return p.lp[k * chains + c]; });
    const double square = team.template sum<double>(
        d.n, [&](Index j) { return double(p.w[j * chains + c]) * double(p.w[j * chains + c]); });
    team.single([&] { *reply.lp = likelihood - 0.5 * d.inverse_variance * square + d.log_constant; });
    if (exchange.needs[chain] == Needs::gradient)
      team.for_each(d.n, [&](Index j) {
        Real sum = p.g[c * d.n + j];
        for (Index s = 1; s < stages(); ++s) sum += p.g[(s * chains + c) * d.n + j];
        reply.gradient[j] = sum - Real(d.inverse_variance) * p.w[j * chains + c];
      });
  }
#endif
};

}  // namespace kilochain
