#include "host/statistics/streaming/streaming.hpp"

#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>

namespace kilochain {

constexpr std::int64_t kMapSample = 16384;  // values a map is placed from

/// Of a thread, for one tile.
struct StreamingSummary::Scratch {
  TileDraws tile;
  LagSums lags[kLanes];
  bool entered[kLanes];  // whether lags hold anything

  void reset() {
    std::memset(tile.counts, 0, sizeof(tile.counts));
    std::fill_n(entered, kLanes, false);
  }
};

struct StreamingSummary::Sizes {
  std::int64_t first_draws, tracked;

  Sizes(std::int64_t num_chains, std::int64_t dim, std::int64_t expected, const StreamingOptions& options) {
    const std::int64_t fit = options.first_bytes / sizeof(double) / dim;
    first_draws = std::max<std::int64_t>(1, std::min(fit, options.first_values) / num_chains);
    if (expected > 0) first_draws = std::min(first_draws, expected);
    tracked = std::min(num_chains, options.max_tracked_chains);
  }
};

StreamingSummary::StreamingSummary(std::int64_t num_chains, std::int64_t dim, std::int64_t expected_draws,
                                   StreamingOptions options)
    : num_chains_(num_chains), dim_(dim), expected_draws_(expected_draws), options_(options), excluded_(num_chains) {
  const Sizes sizes(num_chains, dim, expected_draws, options);
  first_draws_ = sizes.first_draws;
  first_.resize(num_chains * first_draws_ * dim);
  track_of_chain_.assign(num_chains, -1);
  for (std::int64_t k = 0; k < sizes.tracked; ++k) {
    tracked_.push_back(k * num_chains / sizes.tracked);
    track_of_chain_[tracked_.back()] = k;
  }
}

std::size_t StreamingSummary::bytes(std::int64_t num_chains, std::int64_t dim, std::int64_t expected_draws, int threads,
                                    StreamingOptions options) {
  const Sizes sizes(num_chains, dim, expected_draws, options);
  const std::vector<Tile> tiles = tiles_of(num_chains, dim);
  const std::int64_t sample = std::min(kMapSample, num_chains * sizes.first_draws);
  std::size_t total = sizeof(double) * num_chains * sizes.first_draws * dim;
  total += sizeof(Cell) * (tiles.back().first_cell + tiles.back().num_cells) + sizeof(Tile) * tiles.size();
  total += sizeof(Track) * sizes.tracked * dim + sizeof(Parameter) * dim;
  total += num_chains * (1 + 2 * sizeof(std::int64_t));
  // Results: a parameter's exact summary (summary.hpp) or its row means; add: the scratch and a sample for the map.
  const std::size_t exact = 48 * num_chains * sizes.first_draws, rows = 64 * num_chains;
  return total + threads * (std::max(exact, rows) + sizeof(Scratch) + sizeof(double) * sample);
}

template <class Real>
void StreamingSummary::add(View3<const Real> draws, std::int64_t count, int threads) {
  if (streaming_) return stream(draws, 0, count, threads);
  const std::int64_t now = std::min(count, first_draws_ - num_draws_);
  for (std::int64_t c = 0; c < num_chains_ && now > 0; ++c) {
    std::copy_n(&draws(c, 0, 0), now * dim_, first_.data() + (c * first_draws_ + num_draws_) * dim_);
  }
  num_draws_ += now;
  if (now == count) return;  // while nothing more comes, all that came is kept
  start_streaming(threads);
  stream(draws, now, count, threads);
}

void StreamingSummary::start_streaming(int threads) {
  tiles_ = tiles_of(num_chains_, dim_);
  cells_.resize(tiles_.back().first_cell + tiles_.back().num_cells);
  tracks_.resize(std::ssize(tracked_) * dim_);
  parameters_.resize(dim_);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (std::int64_t d = 0; d < dim_; ++d) place_map(d);
  streaming_ = true;
  blocks_ = Blocks(std::max<std::int64_t>(1, first_draws_ / kBlocks), expected_draws_);
  next_check_ = 2 * first_draws_;
  num_draws_ = 0;
  stream(View3<const double>{first_.data(), num_chains_, first_draws_, dim_}, 0, first_draws_, threads);
  std::vector<double>().swap(first_);
}

/// The parameter's map from the first draws: its place from a sample of them, its scores from all.
void StreamingSummary::place_map(std::int64_t d) {
  const std::int64_t size = num_chains_ * first_draws_, step = (size + kMapSample - 1) / kMapSample;
  const auto each = [&](std::int64_t stride, auto&& visit) {
    for (std::int64_t i = 0; i < size; i += stride) {
      const double x = first_[i * dim_ + d];
      if (!excluded_[i / first_draws_] && std::isfinite(x)) visit(x);
    }
  };
  ScoreMap& map = parameters_[d].map;
  std::vector<double> sample;
  sample.reserve(size / step + 1);
  each(step, [&](double x) { sample.push_back(x); });
  map.place(sample);
  ScoreMap::Counts counts{};
  each(1, [&](double x) { ++counts[map.code_of(x)]; });
  map.learn(counts);
}

/// Draws `from` to `to` - 1 of the window, in pieces that lie in one block, and in one frame at most.
template <class Real>
void StreamingSummary::stream(View3<const Real> draws, std::int64_t from, std::int64_t to, int threads) {
  while (from < to) {
    if (blocks_.last() < 0 || num_draws_ == blocks_.end()) open_block(threads);
    if (num_draws_ == next_check_) {
      check_maps(threads);
      next_check_ *= 2;
    }
    const std::int64_t rows =
        std::min({to - from, std::int64_t{kFrame}, blocks_.end() - num_draws_, next_check_ - num_draws_});
    add_rows(draws, from, static_cast<int>(rows), threads);
    num_draws_ += rows;
    from += rows;
  }
}

template <class Real>
void StreamingSummary::add_rows(View3<const Real> draws, std::int64_t first, int count, int threads) {
  const std::int64_t num_tiles = std::ssize(tiles_);
  // A thread that is woken for less than this costs more than it does.
  threads = static_cast<int>(std::clamp<std::int64_t>(num_chains_ * dim_ * count / 32768, 1, threads));
  // Few tiles are cut into chunks of chains too, so that every thread has work; sums over chains are integers.
  const std::int64_t wanted = num_tiles >= 4 * threads ? 1 : (4 * threads + num_tiles - 1) / num_tiles;
  const std::int64_t chunks = threads == 1 ? 1 : std::clamp<std::int64_t>(tiles_[0].num_cells / 16, 1, wanted);
  std::mutex merge;
#pragma omp parallel num_threads(threads)
  {
    const auto scratch = std::make_unique_for_overwrite<Scratch>();
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t item = 0; item < num_tiles * chunks; ++item) {
      const Tile& tile = tiles_[item / chunks];
      const std::int64_t chunk = item % chunks;
      scratch->reset();
      add_to_tile(tile, chunk * tile.num_cells / chunks, (chunk + 1) * tile.num_cells / chunks, draws, first, count,
                  *scratch);
      const std::lock_guard<std::mutex> lock(merge);
      add_counts(tile, *scratch);
    }
  }
}

template <class Real>
void StreamingSummary::add_to_tile(const Tile& tile, std::int64_t first_cell, std::int64_t last_cell,
                                   View3<const Real> draws, std::int64_t first, int count, Scratch& scratch) {
  const Lanes<Real> lanes(tile, [&](int k) -> const ScoreMap& { return parameters_[tile.first_parameter + k].map; });
  for (std::int64_t at = first_cell; at < last_cell; ++at) {
    if (!standardise(tile, at, lanes, draws, first, count, scratch.tile)) continue;
    Cell& cell = cells_[tile.first_cell + at];
    scratch.tile.add_moments(cell, count);
    scratch.tile.encode(count);
    scratch.tile.look_up(lanes, count);
    scratch.tile.add_scores(cell, blocks_.last(), count);
    add_to_tracks(tile, at, count, scratch);
  }
}

/// t of every lane of a cell; NaN for lanes without a chain and for excluded chains. False when all of them are.
template <class Real>
bool StreamingSummary::standardise(const Tile& tile, std::int64_t cell, const Lanes<Real>& lanes,
                                   View3<const Real> draws, std::int64_t first, int count, TileDraws& out) const {
  const auto [begin, end] = chains_of(tile, cell);
  if (tile.width == kLanes && excluded_[begin]) return false;
  if (tile.width < kLanes) out.clear(count);
  for (std::int64_t c = begin; c < end; ++c) {
    if (excluded_[c]) continue;
    out.standardise(lanes, &draws(c, first, tile.first_parameter), dim_, count, c % tile.pack * tile.width, tile.width);
  }
  return true;
}

void StreamingSummary::add_to_tracks(const Tile& tile, std::int64_t cell, int count, Scratch& scratch) {
  const auto [begin, end] = chains_of(tile, cell);
  for (std::int64_t c = begin; c < end; ++c) {
    if (track_of_chain_[c] < 0 || excluded_[c]) continue;
    for (std::int64_t k = 0; k < tile.width; ++k) {
      const std::int64_t d = tile.first_parameter + k, waiting = (num_draws_ - parameters_[d].start) % kFrame;
      if (waiting + count >= kFrame && !scratch.entered[k]) {
        scratch.entered[k] = true;
        scratch.lags[k] = LagSums();
      }
      add_to_track(track_of_chain_[c], d, &scratch.tile.codes[0][tile.lane_of(c, d)], count, scratch.lags[k]);
    }
  }
}

void StreamingSummary::add_to_track(std::int64_t slot, std::int64_t parameter, const std::uint8_t* codes, int count,
                                    LagSums& sums) {
  Track& track = tracks_[slot * dim_ + parameter];
  if (&track + 1 < tracks_.data() + tracks_.size()) {  // most likely the next one, and not in any cache
    for (std::size_t line = 0; line < sizeof(Track); line += 64) {
      __builtin_prefetch(reinterpret_cast<const char*>(&track + 1) + line, 1);
    }
  }
  const Parameter& of = parameters_[parameter];
  const std::int64_t seen = num_draws_ - of.start;
  int waiting = seen % kFrame;
  std::int64_t entered = seen - waiting;
  using Four = float __attribute__((vector_size(16)));  // of GCC and Clang: four features at once
  static_assert(sizeof(Four) == sizeof(float) * kFeatures);
  Four sum, features;
  float* block = track.blocks[blocks_.last()];
  std::memcpy(&sum, block, sizeof(sum));
  for (int i = 0; i < count; ++i) {
    const std::uint8_t code = codes[i * kLanes];
    std::memcpy(&features, &of.map.features[code * kFeatures], sizeof(features));
    sum += features;
    track.lags.codes[kNearLags + waiting++] = code;
    if (waiting == kFrame) {
      track.lags.enter(kFrame, entered, of.map, sums);
      entered += kFrame;
      waiting = 0;
    }
  }
  std::memcpy(block, &sum, sizeof(sum));
}

/// Integers: the same whichever thread comes first.
void StreamingSummary::add_counts(const Tile& tile, const Scratch& scratch) {
  for (std::int64_t k = 0; k < tile.width; ++k) {
    Parameter& parameter = parameters_[tile.first_parameter + k];
    for (int i = 0; i < kBins; ++i) parameter.counts[i] += scratch.tile.counts[k * kCodes + i];
    if (scratch.entered[k]) parameter.lags.add(scratch.lags[k]);
  }
}

void StreamingSummary::open_block(int threads) {
  while (blocks_.full()) {
    join_blocks(blocks_.join(num_draws_), threads);
    if (num_draws_ < blocks_.end()) return;  // the last block is shorter than blocks are now: it stays open
  }
  blocks_.open(num_draws_);
}

void StreamingSummary::join_blocks(const BlockPlaces& place, int threads) {
#pragma omp parallel num_threads(threads)
  {
#pragma omp for
    for (Cell& cell : cells_) {
      kilochain::join_blocks(cell.bulk, place);
      kilochain::join_blocks(cell.folded, place);
    }
#pragma omp for
    for (Track& track : tracks_) kilochain::join_blocks(track.blocks, place);
  }
}

void StreamingSummary::check_maps(int threads) {
  // Too late to start again: most of the run would be lost for R-hat and ESS.
  if (expected_draws_ > 0 && 3 * num_draws_ > expected_draws_) return;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (const Tile& tile : tiles_) {
    for (std::int64_t k = 0; k < tile.width; ++k) {
      const Parameter& parameter = parameters_[tile.first_parameter + k];
      if (parameter.map.outdated(parameter.counts)) learn_again(tile, tile.first_parameter + k);
    }
  }
}

void StreamingSummary::learn_again(const Tile& tile, std::int64_t d) {
  Parameter& parameter = parameters_[d];
  const double old_centre = parameter.map.centre, old_unit = 1.0 / parameter.map.inverse_unit;
  parameter.map.place_again(parameter.counts);
  parameter.map.learn(parameter.counts);
  parameter.lags = LagSums();
  parameter.start = num_draws_;
  // t' = scale t + shift.
  const double n = num_draws_, scale = old_unit * parameter.map.inverse_unit;
  const double shift = (old_centre - parameter.map.centre) * parameter.map.inverse_unit;
  for (std::int64_t c = 0; c < num_chains_; ++c) {
    Cell& cell = cells_[tile.cell_of(c)];
    const std::int64_t l = tile.lane_of(c, d);
    cell.square[l] = scale * scale * cell.square[l] + 2 * scale * shift * cell.sum[l] + n * shift * shift;
    cell.sum[l] = scale * cell.sum[l] + n * shift;
    cell.bulk_square[l] = cell.folded_square[l] = 0;
    for (int k = 0; k < kBlocks; ++k) cell.bulk[k][l] = cell.folded[k][l] = 0;
  }
  for (std::int64_t slot = 0; slot < std::ssize(tracked_); ++slot) tracks_[slot * dim_ + d] = Track();
}

template void StreamingSummary::add(View3<const float>, std::int64_t, int);
template void StreamingSummary::add(View3<const double>, std::int64_t, int);

}  // namespace kilochain
