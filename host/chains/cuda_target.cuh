// A model written for one chain, as a target for all chains on CUDA. In rounds: a warp for each chain, scratch in
// device memory; or several chains to a block, of a model whose chains share reads of its data (block_model.cuh).
// With the samplers of host/registry/instantiate/inside.hpp: whole iterations in one kernel (cuda_blocks.cuh), where a
// block of the model fits into shared memory.
#pragma once
#include <type_traits>

#include "host/chains/cuda_blocks.cuh"
#include "kernels/device/launch.cuh"
#include "targets/gaussian_block.cuh"
#include "targets/logistic_block.cuh"
#include "targets/target.hpp"

namespace kilochain {
namespace cuda {

template <class Model, class Real>
__global__ void __launch_bounds__(max_block, 1)
    evaluate_chains(const __grid_constant__ typename Model::Data data, const __grid_constant__ Exchange<Real> exchange,
                    Real* scratch, std::size_t row, Index first, Index last) {
  const Index chain = chain_of_warp(first);
  if (chain >= last || exchange.needs[chain] == Needs::nothing) return;
  Model::evaluate(WarpTeam{}, data, exchange.needs[chain], exchange.query(chain), exchange.reply(chain),
                  scratch + static_cast<std::size_t>(chain - first) * row);
}

}  // namespace cuda

/// Samplers whose iterations are compiled with a model.
template <class... Sampler>
struct SamplerList {};

template <class Model, class Real, class Samplers = SamplerList<>>
class CudaTarget final : public Target<Real> {
  static_assert(std::is_trivially_copyable_v<typename Model::Data>, "a model's data travels to kernels by value");
  using Block = BlockModel<Model, Real>;

 public:
  /// in_blocks: false where a warp is asked for each chain.
  CudaTarget(const Context& context, const typename Model::Settings& settings, bool in_blocks = true)
      : context_(context),
        arena_(context),
        data_(Model::prepare(settings, arena_, this->info_)),
        row_(padded(Model::scratch(data_) + 1)),
        in_blocks_(in_blocks) {
    this->info_.scratch_bytes = [row = row_](Index chains) {
      return row * sizeof(Real) * static_cast<std::size_t>(chains);
    };
  }

  void evaluate(const Exchange<Real>& exchange, Index first, Index last) override {
    if constexpr (Block::by_blocks)
      if (exchange.most <= Needs::gradient && fits(last - first))
        return cuda::evaluate(context_, block_, exchange, first, last);
    const std::size_t size = row_ * static_cast<std::size_t>(last - first);
    if (scratch_.size() < size) scratch_ = Buffer<Real>(context_, size);
    cuda::for_each_chain(context_, cuda::evaluate_chains<Model, Real>, first, last, data_, exchange, scratch_.data(),
                         row_);
  }
  bool iterate(const Iterations<Real>& it) override { return iterate_one_of(it, Samplers{}); }
  std::string evaluation() const override {
    if (chains_ == 0) return "a warp for each chain";
    return std::string(whole_ ? "whole iterations in one kernel, " : "") + std::to_string(block_.chains) +
           " chains to a block, " + std::to_string(block_.bytes() >> 10) + " of " +
           std::to_string(context_.shared_bytes >> 10) + " KiB of shared memory";
  }

 private:
  template <class... Sampler>
  bool iterate_one_of([[maybe_unused]] const Iterations<Real>& it, SamplerList<Sampler...>) {
    return (iterate_with<Sampler>(it) || ...);
  }
  template <class Sampler>
  bool iterate_with(const Iterations<Real>& it) {
    if (it.sampler != typeid(Sampler) || !fits(it.num_chains)) return false;
    if (it.segment) cuda::iterate<Sampler>(context_, block_, it), whole_ = true;
    return true;
  }
  /// Whether shared memory has room for a block; block_ is the one for so many chains then.
  bool fits(Index chains) {
    if (!in_blocks_) return false;
    if (chains == chains_) return true;
    Block block;
    if (!fit_block(data_, chains, context_, block)) return false;
    block_ = block, chains_ = chains;
    return true;
  }

  Context context_;
  Arena<Real> arena_;
  typename Model::Data data_;
  std::size_t row_;
  Buffer<Real> scratch_;
  bool in_blocks_, whole_ = false;  ///< whole_: whole iterations were made
  Block block_;
  Index chains_ = 0;  ///< for how many it is
};

}  // namespace kilochain
