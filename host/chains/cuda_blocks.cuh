// The engine inside: where blocks of a CUDA device can evaluate a model (targets/block_model.cuh), a launch makes whole
// iterations, up to the segment's end: propose, evaluate, update, and again, by the bodies of rounds (advance.hpp).
// Where adaptation is pooled a launch makes one iteration, and the end of a kernel is the barrier that all chains need.
//   iterate_warps    a warp runs its chain from the first iteration to the last and waits for nobody. State, queries
//                    and answers lie in shared memory where that has room, so a trajectory leaves it at its end
//   iterate_blocks   a block's chains are evaluated together: a warp for a chain, one after another; a chain that asks
//                    for more points than others keeps its block waiting. A block that is done takes the next ones
//   evaluate_blocks  all chains' queries answered: the same evaluation, in rounds
// Draws are those of rounds but for rounding: one body, which nvcc compiles twice and may fuse differently.
#pragma once
#include <typeinfo>

#include "host/chains/advance.hpp"
#include "kernels/device/launch.cuh"
#include "targets/block_model.cuh"

namespace kilochain {

/// Iterations that one sampler's chains are to make in one launch, for a target that knows the sampler by its type.
template <class Real>
struct Iterations {
  const std::type_info& sampler;
  const void* chains;  ///< the sampler's ChainsView
  Index num_chains;
  const Segment<Real>* segment;  ///< on the device; null: the question is only whether it can
  bool once;                     ///< one iteration of each chain, after which all chains' memory holds their signals
  Exchange<Real> exchange;
};

namespace cuda {

template <class Block, class Real>
__global__ void __launch_bounds__(block_threads<Real>, 1)
    evaluate_blocks(const __grid_constant__ Block block, const __grid_constant__ Exchange<Real> exchange, Index first,
                    Index last) {
  char* const shared = dynamic_shared();
  block.load(shared);
  const Index step = here::blocks() * block.chains;
  for (Index at = first + here::block() * block.chains; at < last; at += step) {
    block.evaluate(shared, exchange, at, at + block.chains < last ? at + block.chains : last);
    __syncthreads();
  }
}

/// Threads of a block of whole iterations, at most: 512 leave each 128 registers, and a factor or many questions need
/// more.
template <class Sampler, class Real>
inline constexpr int iterate_threads = sizeof(Real) == 8 || Sampler::about.asks != Asks::once ? 256
                                       : Sampler::moves == Moves::by_factor                   ? 384
                                                                                              : 512;

template <class Sampler, class Block, class Real>
__global__ void __launch_bounds__((iterate_threads<Sampler, Real>), 1)
    iterate_blocks(const __grid_constant__ ChainsView<Sampler, Real> c, const Segment<Real>* __restrict__ segment,
                   bool once, const __grid_constant__ Block block, const __grid_constant__ Exchange<Real> exchange) {
  char* const shared = dynamic_shared();
  block.load(shared);
  const auto end = [&](Index at) { return at + block.chains < c.num_chains ? at + block.chains : c.num_chains; };
  for (Index at = here::block() * block.chains; at < c.num_chains; at += here::blocks() * block.chains) {
    for (unsigned actions = action_propose;; actions = once ? action_update : action_update | action_propose) {
      int waits = 0;
      for (Index chain = at + here::warp(); chain < end(at); chain += here::warps())
        waits |= advance_chain(WarpTeam{}, c, *segment, actions, chain) ? 1 : 0;
      if (!__syncthreads_or(waits)) break;  // all have written their queries, and done with the last answers
      block.evaluate(shared, exchange, at, end(at));
    }
  }
}

/// Moves a chain's fields between all chains' memory and a slice of its own, and points to those there. Workspace
/// begins as zeros.
template <int P>
struct FieldMover : FieldVisitor<P, FieldMover<P>> {
  char *all, *own;
  std::size_t chains, chain;
  bool back;
  KC_INLINE FieldMover(Index dim, char* all_, std::size_t chains_, std::size_t chain_, char* own_, bool back_)
      : FieldVisitor<P, FieldMover<P>>{dim}, all(all_), own(own_), chains(chains_), chain(chain_), back(back_) {}

  template <class T>
  KC_INLINE void field(const char*, T*& pointer, std::size_t length, std::size_t row, Keep keep) {
    T *const theirs = reinterpret_cast<T*>(all) + row * chain, *const mine = reinterpret_cast<T*>(own);
    all += (row * chains * sizeof(T) + 127) / 128 * 128, own += slice_of<T>(row);
    const bool kept = keep == Keep::yes;
    if (!back)
      WarpTeam{}.for_each(static_cast<Index>(row), [=](Index i) { mine[i] = kept ? theirs[i] : T{}; });
    else if (kept)
      WarpTeam{}.for_each(static_cast<Index>(length), [=](Index i) { theirs[i] = mine[i]; });
    pointer = mine;
  }
  template <class T>
  static constexpr KC_INLINE std::size_t slice_of(std::size_t count) {
    return (count * sizeof(T) + 15) / 16 * 16;
  }
};
/// Bytes of such a slice.
template <int P>
struct FieldSizes : FieldVisitor<P, FieldSizes<P>> {
  std::size_t bytes = 0;
  KC_INLINE explicit FieldSizes(Index dim) : FieldVisitor<P, FieldSizes<P>>{dim} {}
  template <class T>
  KC_INLINE void field(const char*, T*&, std::size_t, std::size_t row, Keep) {
    bytes += FieldMover<P>::template slice_of<T>(row);
  }
};

/// Shared memory of iterate_warps: the model's, then a slice for each warp: point, direction and gradient; log density;
/// what is wanted; state. None: chains stay where they are.
struct Slices {
  std::uint32_t first = 0, state = 0, bytes = 0;
};

/// Blocks of a multiprocessor, at least: as many as leave a thread the registers that the sampler needs (a factor or a
/// tree has more rows) and the model (the derivatives of one that is only wrapped take many).
template <class Sampler, class Block>
inline constexpr int blocks_of_warps = Sampler::about.asks == Asks::once
                                           ? (Sampler::moves == Moves::by_factor ? 3 : 4)
                                           : (Block::by_blocks && sizeof(typename Sampler::State) <= 16 * sizeof(void*)
                                                  ? 3
                                                  : 2);

template <class Sampler, class Block, class Real>
__global__ void __launch_bounds__(max_block, (blocks_of_warps<Sampler, Block>))
    iterate_warps(const __grid_constant__ ChainsView<Sampler, Real> c, const Segment<Real>* __restrict__ segment,
                  bool once, const __grid_constant__ Block block, const __grid_constant__ Slices slices) {
  const Index chain = chain_of_warp(0);
  if (chain >= c.num_chains) return;
  char* const shared = dynamic_shared();
  const WarpTeam team;
  auto b = BoundChain<Sampler, Real>::template of<32>(c, chain);
  char* const own = shared + slices.first + static_cast<std::size_t>(here::warp()) * slices.bytes;
  const auto move = [&](bool back) {
    const std::size_t all = static_cast<std::size_t>(c.num_chains), k = static_cast<std::size_t>(chain);
    Sampler::state(FieldMover<32>(c.dim, c.states, all, k, own + slices.state, back), b.st, c.settings);
  };
  if (slices.bytes > 0) {
    move(false);
    const std::size_t row = c.exchange.row, n = static_cast<std::size_t>(c.dim);
    Real* const rows = reinterpret_cast<Real*>(own);
    double* const lp = reinterpret_cast<double*>(rows + 3 * row);
    team.for_each(static_cast<Index>(3 * row), [=](Index i) { rows[i] = Real(0); });  // their padding is read, as zeros
    b.query = {{rows, n}, {rows + row, n}, reinterpret_cast<Needs*>(lp + 1)};
    b.reply = {lp, {rows + 2 * row, n}, {}};
  }
  const std::int64_t next = c.control[chain].iteration + 1;
  iterate_chain(team, c, *segment, once && next < segment->until ? next : segment->until, b,
                [&] { block.evaluate_chain(shared, *b.query.needs, b.query, b.reply); });
  if (slices.bytes > 0) move(true);
}

/// The slices of a sampler's chains: where four blocks of a multiprocessor have room for them, or its warps would be
/// too few.
template <class Sampler, class Real>
Slices slices_of(const ChainsView<Sampler, Real>& c, std::size_t model, Index warps, std::size_t shared) {
  FieldSizes<32> state(c.dim);
  typename Sampler::State none;
  Sampler::state(state, none, c.settings);
  const std::size_t first = (model + 15) / 16 * 16, rows = 3 * c.exchange.row * sizeof(Real) + 2 * sizeof(double),
                    bytes = rows + state.bytes;
  if (4 * (first + static_cast<std::size_t>(warps) * bytes) > shared) return {};
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(bytes)};
}

template <class Real, class Block>
int threads_of(const Block& block) {
  return 32 * static_cast<int>(std::clamp<Index>(std::max(block.warps(), block.chains), 1, block_threads<Real> / 32));
}

template <class Sampler, class Block, class Real>
void iterate(const Context& context, const Block& block, const Iterations<Real>& it) {
  const auto& c = *static_cast<const ChainsView<Sampler, Real>*>(it.chains);
  const Index blocks = (c.num_chains + block.chains - 1) / block.chains;
  if constexpr (Block::by_warps)
    if (Block::alone(block.d)) {
      const Slices slices = it.once ? Slices{} : slices_of(c, block.bytes(), block.chains, context.shared_bytes);
      const std::size_t shared =
          std::max<std::size_t>(block.bytes(), slices.first + static_cast<std::size_t>(block.chains) * slices.bytes);
      return launch_sharing(context, iterate_warps<Sampler, Block, Real>, dim3(static_cast<unsigned>(blocks)),
                            32 * static_cast<int>(block.chains), shared, c, it.segment, it.once, block, slices);
    }
  if constexpr (Block::by_blocks)
    launch_sharing(context, iterate_blocks<Sampler, Block, Real>,
                   dim3(static_cast<unsigned>(std::min<Index>(blocks, context.multiprocessors))),
                   std::min(threads_of<Real>(block), iterate_threads<Sampler, Real>), block.bytes(), c, it.segment,
                   it.once, block, it.exchange);
}

template <class Block, class Real>
void evaluate(const Context& context, const Block& block, const Exchange<Real>& exchange, Index first, Index last) {
  const Index blocks = (last - first + block.chains - 1) / block.chains;
  launch_sharing(context, evaluate_blocks<Block, Real>,
                 dim3(static_cast<unsigned>(std::min<Index>(blocks, context.multiprocessors))), threads_of<Real>(block),
                 block.bytes(), block, exchange, first, last);
}

}  // namespace cuda
}  // namespace kilochain
