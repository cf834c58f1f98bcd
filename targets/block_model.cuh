// How a block of a CUDA device evaluates a model for several chains. One concept, on the host and in kernels:
//   fit(data, chains, bytes, block), bytes(), warps()   for so many chains, in so much shared memory
//   load(shared)                                        what all its chains share, once
//   by_blocks: evaluate(shared, exchange, first, last)         answers these chains: a call of the whole block
//   by_warps: evaluate_chain(shared, needs, query, reply)      answers one: a call of a warp, which waits for no other
//   alone(data)                                         of a model that has both: whether the latter is to be used
// This one wraps a model's own function of one chain, a warp a chain: what every model has. A model whose chains share
// reads of its data specialises it (gaussian_block.cuh, logistic_block.cuh).
#pragma once
#include <algorithm>

#include "targets/block_products.cuh"

namespace kilochain {

template <class Model, class Real>
struct BlockModel {
  using Data = typename Model::Data;
  static constexpr bool by_blocks = false, by_warps = true;
  static constexpr Index K = 1;  ///< chains come in multiples of it

  Data d;
  Index chains = K;     ///< of a block, a warp each
  std::size_t row = 0;  ///< of a warp's scratch

  static bool fit(const Data& d, Index chains, std::size_t bytes, BlockModel& out) {
    out = {d, chains, padded(Model::scratch(d) + 1)};
    return out.bytes() <= bytes;
  }
  std::size_t bytes() const { return static_cast<std::size_t>(chains) * row * sizeof(Real); }
  Index warps() const { return chains; }
  static bool alone(const Data&) { return true; }

#if defined(KC_CUDA)
  __device__ void load(char*) const {}
  __device__ void evaluate_chain(char* shared, Needs needs, const Query<Real>& query, const Reply<Real>& reply) const {
    Real* const scratch = reinterpret_cast<Real*>(shared) + static_cast<std::size_t>(cuda::here::warp()) * row;
    Model::evaluate(WarpTeam{}, d, needs, query, reply, scratch);
  }
#endif
};

/// The block for so many chains: no more of them than bring one block to every multiprocessor, at most 4 K; of warps
/// that need no company at most 4. False where not even the least of these fits.
template <class Block, class Data>
bool fit_block(const Data& data, Index chains, const Context& context, Block& out) {
  Block larger;
  bool found = false;
  const Index least = Block::alone(data) ? 1 : Block::K;
  for (Index many = least; many <= 4 * least; many *= 2) {
    if (found && (chains + out.chains - 1) / out.chains <= context.multiprocessors) break;
    if (!Block::fit(data, many, context.shared_bytes, larger)) break;
    out = larger, found = true;
  }
  return found;
}

}  // namespace kilochain
