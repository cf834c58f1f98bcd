// Several chains to a block, the target's data in its shared memory (targets/tiles.cuh):
//   evaluate_tiles  all chains' queries answered
//   iterate_chains  whole iterations, up to the segment's end, in one launch: propose, the block's evaluation, update, and
//                   again, until no chain of the block waits. The samplers' bodies are those of advance_chains: a warp for a
//                   chain, one after another; a chain that asks for more points than others keeps its block waiting.
// A block that is done with its chains takes the next ones. Chains of different blocks never meet, so adaptation is not pooled
// here. Its draws are those of rounds of evaluate_tiles and advance_chains but for rounding: one body, which nvcc compiles
// twice and may fuse differently.
#pragma once
#include "host/chains/advance.hpp"
#include "targets/tiles.cuh"

namespace kilochain::cuda {

template <class Tile, class Real>
__global__ void __launch_bounds__(tile_threads<Real>, 1)
    evaluate_tiles(const __grid_constant__ Tile tile, const __grid_constant__ Exchange<Real> exchange, Index first,
                   Index last) {
  char* const shared = dynamic_shared();
  tile.load(shared);
  const Index step = here::blocks() * tile.chains;
  for (Index at = first + here::block() * tile.chains; at < last; at += step) {
    tile.evaluate(shared, exchange, at, at + tile.chains < last ? at + tile.chains : last);
    __syncthreads();
  }
}

/// Threads of a block of whole iterations, at most: 512 leave each 128 registers, and what asks often needs more.
template <class Sampler, class Real>
inline constexpr int iterate_threads = sizeof(Real) == 4 && Sampler::about.asks == Asks::once ? 512 : 256;

template <class Sampler, class Tile, class Real>
__global__ void __launch_bounds__((iterate_threads<Sampler, Real>), 1)
    iterate_chains(const __grid_constant__ ChainsView<Sampler, Real> c, const Segment<Real>* __restrict__ segment,
                   const __grid_constant__ Tile tile, const __grid_constant__ Exchange<Real> exchange) {
  char* const shared = dynamic_shared();
  tile.load(shared);
  const auto end = [&](Index at) { return at + tile.chains < c.num_chains ? at + tile.chains : c.num_chains; };
  for (Index at = here::block() * tile.chains; at < c.num_chains; at += here::blocks() * tile.chains) {
    for (;;) {
      int waits = 0;
      for (Index chain = at + here::warp(); chain < end(at); chain += here::warps())
        waits |= advance_chain(WarpTeam{}, c, *segment, action_update | action_propose, chain) ? 1 : 0;
      if (!__syncthreads_or(waits)) break;  // all have written their queries, and done with the last answers
      tile.evaluate(shared, exchange, at, end(at));
    }
  }
}

template <class Tile, class Real>
void evaluate(const Context& context, const AnyTile<Real>& any, const Exchange<Real>& exchange, Index first,
              Index last) {
  launch_sharing(context, evaluate_tiles<Tile, Real>, dim3(static_cast<unsigned>(any.blocks)), any.threads, any.shared,
                 std::get<Tile>(any.tile), exchange, first, last);
}

/// Queues all iterations of a segment that does not pool.
template <class Sampler, class Real>
void iterate(const Context& context, const AnyTile<Real>& any, const ChainsView<Sampler, Real>& c,
             const Segment<Real>* segment, const Exchange<Real>& exchange) {
  std::visit(
      [&](const auto& tile) {
        using Tile = std::decay_t<decltype(tile)>;
        launch_sharing(context, iterate_chains<Sampler, Tile, Real>, dim3(static_cast<unsigned>(any.blocks)),
                       std::min(any.threads, iterate_threads<Sampler, Real>), any.shared, c, segment, tile, exchange);
      },
      any.tile);
}

}  // namespace kilochain::cuda
