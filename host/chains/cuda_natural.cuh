// The natural rule's pooled step of a dense factor, L <- L (I + B), over the whole device: adapt_factor cut at its barriers.
//   pool_facts     one block: means over the chains, what all entries share, the next beta
//   natural_tiles  B = rate A/(1 + sqrt G) and G, four blocks for each 32 x 32 tile of the factor: where tiles are few, the
//                  chunks of a sum are many, and one block would wait for them long
//   product_tiles  L + L B into scratch, a block for each tile, terms in the order of multiply_right
//   put_back       scratch into L
// Promise: adapt_factor's operations in its order, so the same bits but for what compilers contract; no atomics on numbers.
// Cost: n^3/6 multiply-adds; the longest block does n/32 products of tiles.
#pragma once
#include "host/chains/chain_memory.hpp"
#include "kernels/adapt/cholesky_gradient.hpp"
#include "kernels/device/launch.cuh"

namespace kilochain::cuda {

inline constexpr int adapt_block = 512, tile_block = 256, tile_size = 1024;

/// Whether a sampler's adaptation is adapt_factor.
template <class Sampler, class Real>
constexpr bool steps_naturally = std::is_same_v<typename Sampler::Adaptation, FactorAdaptation<Real>>;

/// Over the running chains; latest: the last of them, -1 when there is none.
struct PoolMeans {
  double running, accepted;
  int latest;
};
/// One pass over the chains, whose records lie far apart: each thread adds up its own, then the team.
template <class Sampler, class Real>
__device__ PoolMeans pool_means(const BlockTeam<adapt_block>& team, const ChainsView<Sampler, Real>& c) {
  __shared__ int latest;
  if (team.rank() == 0) latest = -1;
  double running = 0, accepted = 0;
  int own = -1;
  team.for_each(c.num_chains, [&](Index i) {
    const bool runs = c.control[i].status == ChainStatus::running;
    const double signal = c.exchange.adaptation_signal[i];
    running += runs ? 1.0 : 0.0;
    accepted += runs ? signal : 0.0;
    own = runs ? i : own;
  });
  running = team.template sum<double>(adapt_block, [&](Index) { return running; });
  accepted = team.template sum<double>(adapt_block, [&](Index) { return accepted; });
  if (own >= 0) atomicMax(&latest, own);
  team.sync();
  return {running, accepted, latest};
}

template <class Real>
KC_INLINE Real sum_of_chunks(const Real* partial, std::size_t size, Index chunks, std::size_t offset) {
  Real v = 0;
#pragma unroll 8
  for (Index k = 0; k < chunks; ++k) v += partial[static_cast<std::size_t>(k) * size + offset];
  return v;
}

template <class Real>
struct PoolFacts {
  FactorStep<Real> step;
  Real scale;  ///< of sums over chains
  int some;    ///< whether any chain runs
};

template <class Sampler, class Real>
__global__ void __launch_bounds__(adapt_block, 1)
    pool_facts(const __grid_constant__ ChainsView<Sampler, Real> c, const Segment<Real>* __restrict__ segment,
               PoolFacts<Real>* facts) {
  const BlockTeam<adapt_block> team;
  const PoolMeans means = pool_means(team, c);
  team.single([&] {
    facts->some = means.latest >= 0;
    if (means.latest < 0) return;
    const Schedule at = schedule_at(*segment, c.control[means.latest].iteration - 1);
    const auto a = c.template adaptation<32>(0);
    facts->scale = static_cast<Real>(1 / means.running);
    facts->step = factor_step<Real>(c.settings, at, true, means.running, *a.beta, c.dim);
    *a.beta = next_beta(c.settings, at, means.accepted / means.running, *a.beta);
  });
}

/// The thread's place in its tile: rows are lanes, and four columns belong to a warp.
struct TilePlace {
  Index p, q;  ///< the tile's rows begin at 32 p, its columns at 32 q
  int lane, warp;
  __device__ TilePlace() : p(0), lane(here::lane()), warp(here::warp()) {
    const Index tile = here::block();
    while ((p + 1) * (p + 2) / 2 <= tile) ++p;
    q = tile - p * (p + 1) / 2;
  }
  __device__ Index row() const { return 32 * p + lane; }
  __device__ Index column(int e) const { return 32 * q + 4 * warp + e; }
  /// Of entry (row, column(e)) in a factor's memory.
  __device__ std::size_t offset(int e) const {
    return std::size_t(here::block()) * tile_size + static_cast<std::size_t>(32 * (4 * warp + e) + lane);
  }
};

template <class Sampler, class Real>
__global__ void __launch_bounds__(tile_block, 1)
    natural_tiles(const __grid_constant__ ChainsView<Sampler, Real> c, const PoolFacts<Real>* __restrict__ facts,
                  const Real* __restrict__ partial, std::size_t size, Index chunks) {
  if (!facts->some) return;
  const TilePlace at;
  const FactorStep<Real> step = facts->step;
  const Real scale = facts->scale;
  const auto a = c.template adaptation<32>(0);
  const int e = here::block_row();
  const Index i = at.row(), j = at.column(e);
  if (i >= c.dim || j > i) return;
  const std::size_t k = at.offset(e);
  const Real g = sum_of_chunks(partial, size, chunks, k) * scale + (i == j ? step.beta : Real(0));
  a.first[k] = natural_entry(step.rate, step.decay, g, a.second[k]);
}

template <class Sampler, class Real>
__global__ void __launch_bounds__(tile_block, 1)
    product_tiles(const __grid_constant__ ChainsView<Sampler, Real> c, const PoolFacts<Real>* __restrict__ facts,
                  std::size_t size, Real* __restrict__ product) {
  if (!facts->some) return;
  __shared__ Real left[32][32], right[32][32];  // [column k][row] of L;  [column][row k] of B
  const TilePlace at;
  const auto a = c.template adaptation<32>(0);
  Real sum[4];
#pragma unroll
  for (int e = 0; e < 4; ++e) sum[e] = at.offset(e) < size ? a.L[at.offset(e)] : Real(0);
  for (Index r = at.q; r <= at.p; ++r) {
    const std::size_t of_left = panel_offset<32>(at.p) + static_cast<std::size_t>(r) * tile_size,
                      of_right = panel_offset<32>(r) + static_cast<std::size_t>(at.q) * tile_size;
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int column = 4 * at.warp + e;
      const std::size_t k = static_cast<std::size_t>(32 * column + at.lane);
      left[column][at.lane] = of_left + k < size ? a.L[of_left + k] : Real(0);
      right[column][at.lane] = of_right + k < size ? a.first[of_right + k] : Real(0);
    }
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < 32; ++k)
#pragma unroll
      for (int e = 0; e < 4; ++e) sum[e] += left[k][at.lane] * right[4 * at.warp + e][k];
    __syncthreads();
  }
#pragma unroll
  for (int e = 0; e < 4; ++e)
    if (at.offset(e) < size) product[at.offset(e)] = sum[e];
}

template <class Sampler, class Real>
__global__ void __launch_bounds__(tile_block, 1)
    put_back(const __grid_constant__ ChainsView<Sampler, Real> c, const PoolFacts<Real>* __restrict__ facts,
             std::size_t size, const Real* __restrict__ product) {
  if (!facts->some) return;
  const auto a = c.template adaptation<32>(0);
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const std::size_t k =
        std::size_t(here::block()) * tile_size + static_cast<std::size_t>(e) * tile_block + std::size_t(here::thread());
    if (k < size) a.L[k] = product[k];
  }
}

/// Launches such steps.
template <class Sampler, class Real>
class NaturalStep {
 public:
  NaturalStep() = default;
  explicit NaturalStep(const Context& context) : facts_(context, 1, "pooled sums") {}
  /// partial: (chunk, size), sums over chains; scratch: (size).
  void launch_all(const Context& context, const ChainsView<Sampler, Real>& c, const Segment<Real>* segment,
                  const Real* partial, std::size_t size, Index chunks, Real* scratch) {
    const dim3 tiles(static_cast<unsigned>((size + tile_size - 1) / tile_size));
    PoolFacts<Real>* facts = facts_.data();
    launch(context, pool_facts<Sampler, Real>, dim3(1), adapt_block, c, segment, facts);
    launch(context, natural_tiles<Sampler, Real>, dim3(tiles.x, 4), tile_block, c, facts, partial, size, chunks);
    launch(context, product_tiles<Sampler, Real>, tiles, tile_block, c, facts, size, scratch);
    launch(context, put_back<Sampler, Real>, tiles, tile_block, c, facts, size, static_cast<const Real*>(scratch));
  }

 private:
  Buffer<PoolFacts<Real>> facts_;
};

}  // namespace kilochain::cuda
