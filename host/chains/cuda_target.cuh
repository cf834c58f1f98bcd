// A model written for one chain, as a target for all chains on CUDA: a warp for each chain, scratch in device memory; or,
// of a model that has a tile (targets/tiles.cuh), several chains to a block, where that must cost less (targets/engine.hpp).
#pragma once
#include <optional>
#include <type_traits>

#include "host/chains/cuda_tiles.cuh"
#include "kernels/device/launch.cuh"
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

template <class Model, class Real>
class CudaTarget final : public Target<Real> {
  static_assert(std::is_trivially_copyable_v<typename Model::Data>, "a model's data travels to kernels by value");
  using Tile = typename TileOf<Model>::Type;
  static constexpr bool has_tile = !std::is_void_v<Tile>;

 public:
  /// forced: the one way that may be taken; empty: by cost.
  CudaTarget(const Context& context, const typename Model::Settings& settings, std::optional<Engine> forced = {})
      : context_(context),
        arena_(context),
        data_(Model::prepare(settings, arena_, this->info_)),
        row_(padded(Model::scratch(data_) + 1)) {
    this->info_.scratch_bytes = [row = row_](Index chains) {
      return row * sizeof(Real) * static_cast<std::size_t>(chains);
    };
    if constexpr (has_tile) {
      costs_ = costs_of_ways<Tile, Real>(data_, context_, false);
      engine_ = forced ? *forced : costs_.best();
      asked_for_ = forced.has_value();
    }
  }

  void evaluate(const Exchange<Real>& exchange, Index first, Index last) override {
    if constexpr (has_tile)
      if (const auto* any = exchange.most <= Needs::gradient ? tiles(last - first, false) : nullptr)
        return cuda::evaluate<Tile>(context_, *any, exchange, first, last);
    const std::size_t size = row_ * static_cast<std::size_t>(last - first);
    if (scratch_.size() < size) scratch_ = Buffer<Real>(context_, size);
    cuda::for_each_chain(context_, cuda::evaluate_chains<Model, Real>, first, last, data_, exchange, scratch_.data(),
                         row_);
  }
  const AnyTile<Real>* tiles([[maybe_unused]] Index chains, [[maybe_unused]] bool whole_iterations) override {
    if constexpr (has_tile) {
      Tile tile;
      if (engine_ != Engine::tiles) return nullptr;
      if (chains != chains_) {
        if (!fit_tile(data_, chains, context_, tile)) return nullptr;
        tile_ = launched<Tile, Real>(tile, chains, context_);
        chains_ = chains, in_block_ = tile.chains;
      }
      whole_ = whole_ || whole_iterations;
      return &tile_;
    } else {
      return nullptr;
    }
  }
  std::string evaluation() const override {
    if constexpr (!has_tile) return "a warp for each chain";
    std::string text = "a warp for each chain";
    if (engine_ == Engine::tiles && chains_ > 0)
      text = std::string(whole_ ? "whole iterations in one kernel, " : "") + std::to_string(in_block_) +
             " chains to a block, " + std::to_string(tile_.shared >> 10) + " of " +
             std::to_string(context_.shared_bytes >> 10) + " KiB of shared memory";
    if (asked_for_) return text + " (as asked)";
    return text + " (auto; a round of " + std::to_string(usual_chains) + " chains must cost " + text_of(costs_) + ")";
  }

 private:
  Context context_;
  Arena<Real> arena_;
  typename Model::Data data_;
  std::size_t row_;
  Buffer<Real> scratch_;
  EngineCosts costs_{};
  Engine engine_ = Engine::warps;
  bool asked_for_ = false, whole_ = false;  ///< whole_: tiles were asked for whole iterations
  AnyTile<Real> tile_;                      ///< for chains_ chains, in_block_ to a block
  Index chains_ = 0, in_block_ = 0;
};

}  // namespace kilochain
