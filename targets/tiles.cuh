// The models of which a block can evaluate several chains from its shared memory: what a new one adds its tile to. A tile is
//   fit(data, chains, bytes, tile), bytes(), warps()      on the host: for so many chains, in so much shared memory
//   load(shared), evaluate(shared, exchange, first, last) calls of a whole block (targets/logistic_tile.cuh)
#pragma once
#include <algorithm>
#include <variant>

#include "targets/engine.hpp"
#include "targets/gaussian_tile.cuh"
#include "targets/logistic_tile.cuh"

namespace kilochain {

/// The tile of a model, void where it has none.
template <class Model>
struct TileOf {
  using Type = void;
};
template <class Real>
struct TileOf<LogisticRegression<Real>> {
  using Type = LogisticTile<Real>;
};
template <class Real>
struct TileOf<Gaussian<Real>> {
  using Type = GaussianTile<Real>;
};

/// A target's tile, and how its kernels are launched: a block takes tile after tile.
template <class Real>
struct AnyTile {
  std::variant<LogisticTile<Real>, GaussianTile<Real>> tile;
  Index blocks = 0;
  int threads = 0;
  std::size_t shared = 0;
};

/// The tile for so many chains: no more of them to a block than bring one to every multiprocessor, at most 4 K. False where
/// not even K of them fit.
template <class Tile, class Data>
bool fit_tile(const Data& data, Index chains, const Context& context, Tile& out) {
  Tile larger;
  bool found = false;
  for (Index many = Tile::K; many <= 4 * Tile::K; many *= 2) {
    if (found && (chains + out.chains - 1) / out.chains <= context.multiprocessors) break;
    if (!Tile::fit(data, many, context.shared_bytes, larger)) break;
    out = larger, found = true;
  }
  return found;
}

template <class Tile, class Real>
AnyTile<Real> launched(const Tile& tile, Index chains, const Context& context) {
  const Index warps = std::clamp<Index>(std::max(tile.warps(), tile.chains), 1, cuda::tile_threads<Real> / 32);
  const Index tiles = (chains + tile.chains - 1) / tile.chains;
  return {tile, std::min<Index>(tiles, context.multiprocessors), 32 * static_cast<int>(warps), tile.bytes()};
}

// What the cost of an evaluation follows from.
template <class Real>
EngineWork engine_work(const typename LogisticRegression<Real>::Data& d) {
  EngineWork w;
  w.rows = d.num_rows, w.entries = static_cast<double>(d.num_rows) * static_cast<double>(d.n);
  return w;
}
template <class Real>
EngineWork engine_work(const typename Gaussian<Real>::Data& d) {
  EngineWork w;
  w.entries = static_cast<double>(d.n) * (d.diagonal ? 1.0 : static_cast<double>(d.n)), w.passes = 1;
  return w;
}

/// For how many chains ways are compared: not for those that there are, or a chain's bits would depend on its company.
inline constexpr Index usual_chains = 4096;

/// What whole iterations must cost by each way, of data that has no more than its shape.
template <class Tile, class Real, class Data>
EngineCosts costs_of_ways(const Data& data, const Context& context, bool offers_products) {
  Tile tile;
  EngineWork work = engine_work<Real>(data);
  work.chains = usual_chains, work.element = sizeof(Real), work.multiprocessors = context.multiprocessors;
  work.whole_iterations = true, work.offers_products = offers_products;
  if (fit_tile(data, usual_chains, context, tile)) work.tile = tile.chains, work.tile_warps = tile.warps();
  return engine_costs(work);
}

}  // namespace kilochain
