// Pooled adaptation on CUDA: the mean over chains of sum_k a_k b_k^T in the layout of the factor, then one step of it.
//   partial[chunk] = sum over the chunk's chains, in their order; the step adds the chunks in order as it reads them.
// The split into chunks depends on n and the number of chains alone, so a run is bit-equal on every device.
// A dense factor is summed in 32 x 32 tiles, one block each: 1024 (chains x rank) multiply-adds against 64 loads from
// L2.
#pragma once
#include <algorithm>

#include "host/chains/chain_memory.hpp"
#include "kernels/device/launch.cuh"
#include "kernels/linalg/triangular.hpp"

namespace kilochain::cuda {

inline constexpr int adapt_block = 512;

/// How the sum over chains is cut: about eight blocks for each multiprocessor of a large device, whose batches wait for
/// memory by turns; never less than 32 chains to a chunk, and at most 64 chunks, which the step reads one after the
/// other. Not by the device's own number: a run has the same bits on all of them.
struct PoolSplit {
  Index tiles = 1, chunk = 1, chunks = 1;
  PoolSplit() = default;
  PoolSplit(Index num_chains, Index tiles_) : tiles(tiles_) {
    const Index wanted = (8 * 132 + tiles - 1) / tiles, most = (num_chains + 31) / 32;
    const Index count = std::min({wanted, most, Index(64)});
    chunk = (num_chains + count - 1) / count;
    chunks = (num_chains + chunk - 1) / chunk;
  }
};

/// The signal of one chain; of rank 0 when the chain is quarantined.
template <class Sampler, class Real>
__device__ Signal<Real> pooled_signal(const ChainsView<Sampler, Real>& c, Index chain, Index last) {
  if (chain >= last || c.control[chain].status != ChainStatus::running) return {};
  return Sampler::signal(c.settings, c.template state<32>(chain), c.exchange.adaptation_signal[chain]);
}

/// Blocks (tile, chunk) of 256 threads: tile (p, q) of the packed factor, entry (l, j) at 1024 tile + 32 j + l. Four
/// groups of 64 threads take every fourth chain each, 4 x 4 entries to a thread: 16 multiply-adds for two reads of 4
/// numbers from shared memory. The groups' sums are added in their order.
template <class Sampler, class Real>
__global__ void __launch_bounds__(256, 1)
    pool_tiles(const __grid_constant__ ChainsView<Sampler, Real> c, Index chunk, std::size_t size, Real* partial) {
  alignas(16) __shared__ Real a[32][32];
  alignas(16) __shared__ Real b[32][32];
  const Index tile = here::block(), first = here::block_row() * chunk;
  const Index last = first + chunk < c.num_chains ? first + chunk : c.num_chains;
  const int thread = here::thread(), lane = thread % 32, warp = thread / 32;
  const int group = thread / 64, rows = 4 * (thread % 8), columns = 4 * (thread / 8 % 8);
  Index p = 0;
  while ((p + 1) * (p + 2) / 2 <= tile) ++p;
  const Index row = 32 * p + lane, column = 32 * (tile - p * (p + 1) / 2) + lane;
  Real sum[4][4] = {};
  for (Index batch = first; batch < last; batch += 32) {
#pragma unroll
    for (int k = 0; k < Signal<Real>::max_rank; ++k) {
      bool more = false;
      for (int r = warp; r < 32; r += 8) {
        const Signal<Real> s = pooled_signal(c, batch + r, last);
        const bool there = k < s.rank;
        a[r][lane] = there && row < c.dim ? s.a[k][row] : Real(0);
        b[r][lane] = there && column < c.dim ? s.b[k][column] : Real(0);
        more = more || k + 1 < s.rank;
      }
      const bool again = __syncthreads_or(more);  // a chain of the batch has another outer product
      for (int r = group; r < 32; r += 4) {
        Real left[4], right[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) left[e] = a[r][rows + e], right[e] = b[r][columns + e];
#pragma unroll
        for (int q = 0; q < 4; ++q)
#pragma unroll
          for (int e = 0; e < 4; ++e) sum[q][e] += left[e] * right[q];
      }
      __syncthreads();
      if (!again) break;
    }
  }
  for (int g = 0; g < 4; ++g) {
    if (g == group)
#pragma unroll
      for (int q = 0; q < 4; ++q)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          Real& total = a[columns + q][rows + e];
          total = g == 0 ? sum[q][e] : total + sum[q][e];
        }
    __syncthreads();
  }
  for (int q = 0; q < 4; ++q) {
    const std::size_t at = static_cast<std::size_t>(tile) * 1024 + static_cast<std::size_t>(32 * (4 * warp + q) + lane);
    if (at < size) partial[blockIdx.y * size + at] = a[4 * warp + q][lane];
  }
}

/// Blocks (128 entries, chunk): the diagonal of the same sum, or the sum of the signals' vectors.
template <class Sampler, class Real, bool vectors>
__global__ void __launch_bounds__(128, 1)
    pool_rows(const __grid_constant__ ChainsView<Sampler, Real> c, Index chunk, std::size_t size, Real* partial) {
  const Index i = here::thread_of_all(), first = here::block_row() * chunk;
  const Index last = first + chunk < c.num_chains ? first + chunk : c.num_chains;
  if (i >= (vectors ? vector_length<Sampler>(c.settings, c.dim) : c.dim)) return;
  Real sum = 0;
  for (Index chain = first; chain < last; ++chain) {
    const Signal<Real> s = pooled_signal(c, chain, last);
    if constexpr (vectors) {
      if (s.vector.data) sum += s.vector[i];
    } else {
#pragma unroll
      for (int k = 0; k < Signal<Real>::max_rank; ++k)
        if (k < s.rank) sum += s.a[k][i] * s.b[k][i];
    }
  }
  partial[blockIdx.y * size + static_cast<std::size_t>(i)] = sum;
}

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

/// PooledSource whose matrix is still in chunks.
template <class Real>
struct ChunkedSource {
  static constexpr bool pooled = true;
  const Real *matrix, *mean_vector;
  std::size_t size;
  Index chunks;
  Real scale;
  double mean_acceptance, num_chains;
  KC_INLINE Real operator()(Index, Index, std::size_t offset) const {
    return sum_of_chunks(matrix, size, chunks, offset) * scale;
  }
  KC_INLINE Real vector(Index i) const { return mean_vector[i]; }
  KC_INLINE double acceptance() const { return mean_acceptance; }
  KC_INLINE double chains() const { return num_chains; }
};

/// The sums of one pooled step: matrix (chunk, size), vector (chunk, vector_size).
template <class Real>
struct PoolSums {
  Real *matrix, *vector, *scratch;
  std::size_t size, vector_size;
  Index matrix_chunks, vector_chunks;
};

/// All blocks take the step together, from the means over the running chains, which each makes for itself.
template <class Sampler, class Real>
__global__ void __launch_bounds__(adapt_block, 1)
    pool_adapt(const __grid_constant__ ChainsView<Sampler, Real> c, const Segment<Real>* __restrict__ segment,
               const __grid_constant__ PoolSums<Real> sums) {
  const GridTeam<adapt_block> team{sums.scratch};
  const PoolMeans means = pool_means(BlockTeam<adapt_block>{}, c);
  if (means.latest < 0) return;
  const Schedule at = schedule_at(*segment, c.control[means.latest].iteration - 1);
  const Real scale = static_cast<Real>(1 / means.running);
  if constexpr (Sampler::about.signals_vector) {
    team.for_each(vector_length<Sampler>(c.settings, c.dim), [&](Index i) {
      Real v = 0;
      for (Index k = 0; k < sums.vector_chunks; ++k)
        v += sums.vector[static_cast<std::size_t>(k) * sums.vector_size + static_cast<std::size_t>(i)];
      sums.vector[i] = v * scale;
    });
    team.sync();
  }
  auto a = c.template adaptation<32>(0);
  const ChunkedSource<Real> source{
      sums.matrix, sums.vector, sums.size, sums.matrix_chunks, scale, means.accepted / means.running, means.running};
  Sampler::adapt(team, c.settings, at, source, a, c.dim);
}

/// How large the sums of one sampler's pooled steps are, and how they are cut.
struct PoolLayout {
  bool dense = false;
  PoolSplit matrix, vector;
  std::size_t size = 0, vector_size = 0;  ///< of one chunk

  PoolLayout() = default;
  PoolLayout(Index num_chains, Index dim, FactorShape shape, Index length)
      : dense(shape == FactorShape::dense),
        vector(num_chains, (length + 127) / 128),
        size(factor_size<32>(dim, shape)),
        vector_size(static_cast<std::size_t>(length)) {
    const Index panels = (dim + 31) / 32;
    matrix = PoolSplit(num_chains, dense ? panels * (panels + 1) / 2 : (dim + 127) / 128);
  }
  std::size_t matrix_elements() const { return size * static_cast<std::size_t>(matrix.chunks); }
  std::size_t vector_elements() const { return vector_size * static_cast<std::size_t>(vector.chunks); }
};

/// Owns the sums of one sampler's pooled steps and launches them.
template <class Sampler, class Real>
class Pool {
 public:
  Pool() = default;
  Pool(const Context& context, const ChainsView<Sampler, Real>& c)
      : layout_(c.num_chains, c.dim, Sampler::signal_shape(c.settings), vector_length<Sampler>(c.settings, c.dim)) {
    sums_ = Buffer<Real>(context, layout_.matrix_elements(), "pooled sums");
    if constexpr (Sampler::about.signals_vector)
      vectors_ = Buffer<Real>(context, layout_.vector_elements(), "pooled sums");
    if (layout_.dense) scratch_ = Buffer<Real>(context, layout_.size, "pooled sums");
    blocks_ = static_cast<int>(
        std::clamp<std::size_t>(layout_.size / 1024, 1, static_cast<std::size_t>(context.multiprocessors)));
  }
  static std::size_t bytes(Index num_chains, Index dim, const typename Sampler::Settings& settings) {
    const PoolLayout l(num_chains, dim, Sampler::signal_shape(settings), vector_length<Sampler>(settings, dim));
    const std::size_t elements =
        l.matrix_elements() + (Sampler::about.signals_vector ? l.vector_elements() : 0) + (l.dense ? l.size : 0);
    return sizeof(Real) * elements;
  }
  void step(const Context& context, const ChainsView<Sampler, Real>& c, const Segment<Real>* segment) {
    const PoolLayout& l = layout_;
    const auto grid = [](const PoolSplit& s) {
      return dim3(static_cast<unsigned>(s.tiles), static_cast<unsigned>(s.chunks));
    };
    if (l.dense)
      launch(context, pool_tiles<Sampler, Real>, grid(l.matrix), 256, c, l.matrix.chunk, l.size, sums_.data());
    else
      launch(context, pool_rows<Sampler, Real, false>, grid(l.matrix), 128, c, l.matrix.chunk, l.size, sums_.data());
    if constexpr (Sampler::about.signals_vector)
      launch(context, pool_rows<Sampler, Real, true>, grid(l.vector), 128, c, l.vector.chunk, l.vector_size,
             vectors_.data());
    const PoolSums<Real> sums{sums_.data(),  vectors_.data(), scratch_.data(), l.size,
                              l.vector_size, l.matrix.chunks, l.vector.chunks};
    launch_together(context, pool_adapt<Sampler, Real>, blocks_, adapt_block, c, segment, sums);
  }

 private:
  PoolLayout layout_;
  Buffer<Real> sums_, vectors_, scratch_;
  int blocks_ = 1;
};

}  // namespace kilochain::cuda
