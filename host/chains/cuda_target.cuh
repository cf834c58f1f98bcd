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
        row_(padded(Model::scratch(data_) + 1)),
        forced_(forced) {
    this->info_.scratch_bytes = [row = row_](Index chains) {
      return row * sizeof(Real) * static_cast<std::size_t>(chains);
    };
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
      Choice& now = choices_[whole_iterations];
      if (now.chains != chains) now = choose(chains, whole_iterations);
      return now.engine == Engine::tiles ? &now.tile : nullptr;
    } else {
      return nullptr;
    }
  }
  std::string evaluation() const override {
    std::string text;
    for (const bool whole : {true, false}) {
      const Choice& c = choices_[whole];
      if (c.chains == 0) continue;
      text += text.empty() ? "" : "; ";
      text += whole ? "whole iterations: " : "rounds: ";
      text += c.engine == Engine::tiles
                  ? std::to_string(c.in_block) + " chains to a block, " + std::to_string(c.tile.shared >> 10) + " of " +
                        std::to_string(context_.shared_bytes >> 10) + " KiB of shared memory"
                  : "a warp for each chain";
      text += forced_ ? " (asked for)" : " (a round must cost " + text_of(c.costs) + ")";
    }
    return text.empty() ? "a warp for each chain" : text;
  }

 private:
  struct Choice {
    Index chains = 0, in_block = 0;  ///< 0 chains: nothing was chosen yet
    Engine engine = Engine::warps;
    EngineCosts costs{};
    AnyTile<Real> tile;
  };
  Choice choose(Index chains, bool whole_iterations) const {
    Choice out;
    out.chains = chains;
    Tile tile;
    EngineWork work = engine_work<Real>(data_);
    work.chains = chains, work.element = sizeof(Real), work.multiprocessors = context_.multiprocessors;
    work.whole_iterations = whole_iterations;
    if (fit_tile(data_, chains, context_, tile)) {
      work.tile = out.in_block = tile.chains, work.tile_warps = tile.warps();
      out.tile = launched<Tile, Real>(tile, chains, context_);
    }
    out.costs = engine_costs(work);
    out.engine = forced_ ? *forced_ : out.costs.best();
    if (work.tile == 0) out.engine = Engine::warps;
    return out;
  }

  Context context_;
  Arena<Real> arena_;
  typename Model::Data data_;
  std::size_t row_;
  std::optional<Engine> forced_;
  Buffer<Real> scratch_;
  Choice choices_[2];  ///< of rounds, of whole iterations
};

}  // namespace kilochain
