// Sums of draws for sixteen (chain, parameter) pairs side by side: the innermost part of the streaming summary.
// A tile is 16 parameters, or fewer of several chains; a cell holds the sums of a tile for one chain, or for the chains
// packed together. At most 64 draws at a time go through four phases over arrays of [draw][lane] that stay in the first
// cache: standardise (t = (x - centre) / unit), add_moments, encode (t to a bin's code), count (histogram, and each
// code's scores), add_scores. All but the histogram are vectors of 16 lanes. Cost: about 2 ns a value.
#pragma once
#include <cstdint>
#include <vector>

#include "host/statistics/streaming/blocks.hpp"
#include "host/statistics/streaming/lag_track.hpp"

namespace kilochain {

inline constexpr int kLanes = 16;

/// `width` parameters of one chain, or of `pack` chains.
struct Tile {
  std::int64_t first_parameter, width, pack, first_cell, num_cells;

  std::int64_t cell_of(std::int64_t chain) const { return first_cell + chain / pack; }
  std::int64_t lane_of(std::int64_t chain, std::int64_t parameter) const {
    return chain % pack * width + parameter - first_parameter;
  }
};
std::vector<Tile> tiles_of(std::int64_t num_chains, std::int64_t dim);

struct Cell {
  alignas(64) double sum[kLanes], square[kLanes];  // of t
  std::int64_t bulk_square[kLanes], folded_square[kLanes];
  std::uint32_t bulk[kBlocks][kLanes], folded[kBlocks][kLanes];  // unsigned: wraps instead of overflowing
};

/// What a chain whose lags are followed leaves of one parameter.
struct Track {
  LagTrack lags;
  float blocks[kBlocks][kFeatures];  // sums of features
};

/// Blocks of one series when blocks are joined: each goes to place[k] <= k.
template <class Sum, int lanes>
void join_blocks(Sum (&blocks)[kBlocks][lanes], const BlockPlaces& place) {
  for (int k = 0; k < kBlocks; ++k)
    for (int lane = 0; lane < lanes && place[k] != k; ++lane) {
      blocks[place[k]][lane] += blocks[k][lane];
      blocks[k][lane] = 0;
    }
}

/// A tile's maps, as its lanes need them; the first parameter's where a lane has none.
template <class Real>
struct Lanes {
  alignas(64) Real centre[kLanes], inverse_unit[kLanes];
  std::int32_t first_count[kLanes];  ///< where a lane's counts begin
  const std::uint32_t* scores[kLanes];

  /// map_of(k): the map of the tile's parameter k.
  template <class MapOf>
  Lanes(const Tile& tile, const MapOf& map_of) {
    for (int l = 0; l < kLanes; ++l) {
      const int k = l < tile.width * tile.pack ? l % static_cast<int>(tile.width) : 0;
      const ScoreMap& map = map_of(k);
      centre[l] = map.centre;
      inverse_unit[l] = map.inverse_unit;
      first_count[l] = k * kCodes;
      scores[l] = map.scores.data();
    }
  }
};

/// What the phases hand on, of one thread.
struct TileDraws {
  alignas(64) float t[kFrame][kLanes];
  alignas(64) std::uint8_t codes[kFrame][kLanes];
  alignas(64) std::uint32_t scores[kFrame][kLanes];
  alignas(64) std::uint32_t counts[kLanes * kCodes];  ///< [parameter of the tile][code]; added up until it is zeroed

  /// `count` rows of x, `stride` values apart, for `width` lanes from `first` on.
  template <class Real>
  void standardise(const Lanes<Real>& lanes, const Real* x, std::int64_t stride, int count, std::int64_t first,
                   std::int64_t width);
  /// Nothing is there: no lane counts until it is standardised.
  void clear(int count);

  void add_moments(Cell& cell, int count) const;
  void encode(int count);
  template <class Real>
  void look_up(const Lanes<Real>& lanes, int count);
  void add_scores(Cell& cell, int block, int count) const;
};

}  // namespace kilochain
