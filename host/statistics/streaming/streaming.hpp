// The summary of a run from draws that are not kept: windows of draws go in, any number of them, memory stays the same.
// The first draws (65 536 a parameter, or 64 MiB in all) are kept, and while no more came every figure is exact; from
// them each parameter gets a ScoreMap. Then per chain and parameter (96 bytes): sums of x and x^2, and of normal scores
// and folded scores in 8 blocks of draws, for split R-hat; per parameter: a histogram for quantiles; on at most 256
// chains, evenly spread: a LagTrack for effective sizes. When the histogram leaves what a map was learnt from, the map
// is learnt anew at 1, 2, 4, ... times the first draws; R-hat and ESS of that parameter then speak of later draws.
// Against the same run with all draws kept: quantiles within 0.03 sd, ESS within 15 %, R-hat within 0.0005
// (0.002 where a map was learnt anew): a twentieth of what R-hat may be above 1 in a run that has converged.
// Results depend neither on threads nor on windows. Cost: see add.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host/statistics/ranks.hpp"
#include "host/statistics/streaming/blocks.hpp"
#include "host/statistics/streaming/cells.hpp"
#include "host/statistics/streaming/lag_track.hpp"
#include "host/statistics/streaming/score_map.hpp"
#include "host/statistics/summary.hpp"
#include "kernels/device/view.hpp"

namespace kilochain {

struct StreamingOptions {
  std::int64_t max_tracked_chains = 256;           ///< chains whose autocovariances are followed
  std::size_t first_bytes = std::size_t(1) << 26;  ///< for the draws that are kept at first
  std::int64_t first_values = 65536;               ///< of them a parameter, at most
};

class StreamingSummary {
 public:
  /// `expected_draws`: of each chain; 0 when not known (more may come than expected, at some loss in R-hat).
  StreamingSummary(std::int64_t num_chains, std::int64_t dim, std::int64_t expected_draws,
                   StreamingOptions options = {});
  /// What add and the results will have allocated at most, with that many threads.
  static std::size_t bytes(std::int64_t num_chains, std::int64_t dim, std::int64_t expected_draws, int threads,
                           StreamingOptions options = {});

  /// The next `count` draws of every chain: draws(chain, 0 .. count - 1, parameter). `threads` as in OpenMP. About 2 ns
  /// a value and core for windows of 8 draws and more, 6 ns more for chains that are tracked.
  /// A draw that is not finite makes the figures of its parameter NaN, unless its chain is excluded.
  template <class Real>
  void add(View3<const Real> draws, std::int64_t count, int threads);
  /// The chain's draws from now on are ignored, and its past leaves means, sd and R-hat; in quantiles and in
  /// autocovariances draws that have left the first ones stay, a share of at most 1 / chains.
  void exclude(std::int64_t chain) { excluded_[chain] = 1; }

  /// R-hat is between so many superchains from now on (rhat.hpp); less than 2: none.
  void set_superchains(std::int64_t superchains) { superchains_ = superchains; }

  std::int64_t num_draws() const { return num_draws_; }  ///< of each chain so far
  bool exact() const { return !streaming_; }             ///< all draws are still kept

  /// All figures; names.size() == dim. NaN where summarise would say NaN. mcse_mean takes the autocorrelation of values
  /// cut at 10 units (near sd) from the median: for heavy tails it is too large (lognormal with sigma 2: by half).
  std::vector<ParameterSummary> results(const std::vector<std::string>& names, int threads) const;

 private:
  struct Parameter {
    ScoreMap map;
    ScoreMap::Counts counts{};
    LagSums lags;
    std::int64_t start = 0;  ///< the draw from which scores, blocks and lags are taken
  };
  struct Sizes;    // shared by the constructor and bytes()
  struct Scratch;  // of a thread

  void start_streaming(int threads);
  void place_map(std::int64_t parameter);
  template <class Real>
  void stream(View3<const Real> draws, std::int64_t from, std::int64_t to, int threads);
  template <class Real>
  void add_rows(View3<const Real> draws, std::int64_t first, int count, int threads);
  template <class Real>
  void add_to_tile(const Tile& tile, std::int64_t first_cell, std::int64_t last_cell, View3<const Real> draws,
                   std::int64_t first, int count, Scratch& scratch);
  template <class Real>
  bool standardise(const Tile& tile, std::int64_t cell, const Lanes<Real>& lanes, View3<const Real> draws,
                   std::int64_t first, int count, TileDraws& out) const;
  void add_to_tracks(const Tile& tile, std::int64_t cell, int count, Scratch& scratch);
  void add_to_track(std::int64_t slot, std::int64_t parameter, const std::uint8_t* codes, int count, LagSums& sums);
  void add_counts(const Tile& tile, const Scratch& scratch);
  void open_block(int threads);
  void join_blocks(const BlockPlaces& place, int threads);
  void check_maps(int threads);
  void learn_again(const Tile& tile, std::int64_t parameter);

  /// The chains of a tile's cell, from its first to the one after its last.
  std::pair<std::int64_t, std::int64_t> chains_of(const Tile& tile, std::int64_t cell) const {
    return {cell * tile.pack, std::min((cell + 1) * tile.pack, num_chains_)};
  }
  struct ChainSums;
  ChainSums sums_of_chains(std::int64_t parameter, const Halves& halves) const;
  void add_sizes(std::int64_t parameter, const Halves& halves, const RowVariances& bulk, double size,
                 ParameterSummary& summary) const;
  ParameterSummary exact_figures(std::int64_t parameter) const;
  ParameterSummary streamed_figures(std::int64_t parameter) const;

  Superchains superchains() const;

  std::int64_t num_chains_, dim_, expected_draws_, num_draws_ = 0, superchains_ = 0;
  StreamingOptions options_;
  std::vector<char> excluded_;
  std::vector<std::int64_t> tracked_;         // chains, ascending
  std::vector<std::int64_t> track_of_chain_;  // -1, or the place in tracked_
  bool streaming_ = false;

  std::int64_t first_draws_;   // of each chain that are kept at first
  std::vector<double> first_;  // [chain][first_draws][dim]
  std::int64_t next_check_ = 0;
  Blocks blocks_;
  std::vector<Tile> tiles_;
  std::vector<Cell> cells_;
  std::vector<Track> tracks_;  // [tracked][dim]
  std::vector<Parameter> parameters_;
};

}  // namespace kilochain
