#include "host/statistics/streaming/streaming.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>

namespace kilochain {
namespace {

constexpr std::int64_t kMapSample = 16384;  // values a map is placed from

}  // namespace

/// Of a thread, for one tile.
struct StreamingSummary::Scratch {
  alignas(64) float t[kFrame][kLanes];
  alignas(64) std::uint8_t codes[kFrame][kLanes];
  alignas(64) std::uint32_t counts[kLanes * kCodes];
  LagSums lags[kLanes];
  bool entered[kLanes];  // whether lags hold anything
};

struct StreamingSummary::Plan {
  std::int64_t first_draws, tracked;

  Plan(std::int64_t num_chains, std::int64_t dim, std::int64_t expected, const StreamingOptions& options) {
    const auto fit = static_cast<std::int64_t>(options.first_bytes / sizeof(double)) / dim;
    first_draws = std::max<std::int64_t>(1, std::min(fit, options.first_values) / num_chains);
    if (expected > 0) first_draws = std::min(first_draws, expected);
    tracked = std::min(num_chains, options.max_tracked_chains);
  }
};

std::vector<StreamingSummary::Tile> StreamingSummary::tiles_of(std::int64_t num_chains, std::int64_t dim) {
  std::vector<Tile> tiles;
  std::int64_t cells = 0;
  for (std::int64_t first = 0; first < dim; first += kLanes) {
    const std::int64_t width = std::min<std::int64_t>(kLanes, dim - first), pack = kLanes / width;
    tiles.push_back({first, width, pack, cells, (num_chains + pack - 1) / pack});
    cells += tiles.back().num_cells;
  }
  return tiles;
}

StreamingSummary::StreamingSummary(std::int64_t num_chains, std::int64_t dim, std::int64_t expected_draws,
                                   StreamingOptions options)
    : num_chains_(num_chains), dim_(dim), expected_draws_(expected_draws), options_(options), excluded_(num_chains) {
  const Plan plan(num_chains, dim, expected_draws, options);
  first_draws_ = plan.first_draws;
  first_.resize(static_cast<std::size_t>(num_chains * first_draws_ * dim));
  track_of_chain_.assign(num_chains, -1);
  for (std::int64_t k = 0; k < plan.tracked; ++k) {
    tracked_.push_back(k * num_chains / plan.tracked);
    track_of_chain_[tracked_.back()] = k;
  }
}

std::size_t StreamingSummary::bytes(std::int64_t num_chains, std::int64_t dim, std::int64_t expected_draws, int threads,
                                    StreamingOptions options) {
  const Plan plan(num_chains, dim, expected_draws, options);
  const std::vector<Tile> tiles = tiles_of(num_chains, dim);
  const std::int64_t sample = std::min(kMapSample, num_chains * plan.first_draws);
  std::size_t total = sizeof(double) * num_chains * plan.first_draws * dim;
  total += sizeof(Cell) * (tiles.back().first_cell + tiles.back().num_cells) + sizeof(Tile) * tiles.size();
  total += sizeof(Track) * plan.tracked * dim + sizeof(Parameter) * dim;
  total += num_chains * (1 + 2 * sizeof(std::int64_t));
  // Results: a parameter's exact summary (summary.hpp) or its row means; add: the scratch and a sample for the map.
  const std::size_t exact = 48 * num_chains * plan.first_draws, rows = 64 * num_chains;
  return total + threads * (std::max(exact, rows) + sizeof(Scratch) + sizeof(double) * sample);
}

template <class Real>
void StreamingSummary::add(const Real* draws, std::int64_t capacity, std::int64_t count, int threads) {
  if (!streaming_) {
    const std::int64_t now = std::min(count, first_draws_ - num_draws_);
    for (std::int64_t c = 0; c < num_chains_; ++c) {
      std::copy_n(draws + c * capacity * dim_, now * dim_, first_.data() + (c * first_draws_ + num_draws_) * dim_);
    }
    num_draws_ += now;
    if (now == count) return;  // while nothing more comes, all that came is kept
    start_streaming(threads);
    draws += now * dim_;
    count -= now;
  }
  stream(draws, capacity, count, threads);
}

void StreamingSummary::start_streaming(int threads) {
  tiles_ = tiles_of(num_chains_, dim_);
  cells_.resize(tiles_.back().first_cell + tiles_.back().num_cells);
  tracks_.resize(tracked_.size() * dim_);
  parameters_.resize(dim_);
  const std::int64_t size = num_chains_ * first_draws_, step = (size + kMapSample - 1) / kMapSample;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (std::int64_t d = 0; d < dim_; ++d) {
    Parameter& parameter = parameters_[d];
    std::vector<double> sample;
    sample.reserve(size / step + 1);
    const auto each = [&](std::int64_t stride, auto&& visit) {
      for (std::int64_t i = 0; i < size; i += stride) {
        const double x = first_[i * dim_ + d];
        if (!excluded_[i / first_draws_] && std::isfinite(x)) visit(x);
      }
    };
    each(step, [&](double x) { sample.push_back(x); });
    parameter.map.place(sample);
    ScoreMap::Counts counts{};
    each(1, [&](double x) {
      const double t = (x - parameter.map.centre) * parameter.map.inverse_unit;
      const double u = t / (1 + std::abs(t));
      ++counts[std::clamp(static_cast<int>((u + 1) * (kBins / 2)), 0, kBins - 1)];
    });
    parameter.map.learn(counts);
  }
  streaming_ = true;
  block_draws_ = std::max<std::int64_t>(1, first_draws_ / kBlocks);
  next_check_ = 2 * first_draws_;
  num_draws_ = 0;
  stream(first_.data(), first_draws_, first_draws_, threads);
  std::vector<double>().swap(first_);
}

template <class Real>
void StreamingSummary::stream(const Real* draws, std::int64_t capacity, std::int64_t count, int threads) {
  while (count > 0) {
    if (num_blocks_ == 0 || num_draws_ == block_end()) open_block(threads);
    if (num_draws_ == next_check_) {
      check_maps(threads);
      next_check_ *= 2;
    }
    const std::int64_t rows =
        std::min({count, std::int64_t{kFrame}, block_end() - num_draws_, next_check_ - num_draws_});
    add_rows(draws, capacity, rows, threads);
    num_draws_ += rows;
    draws += rows * dim_;
    count -= rows;
  }
}

template <class Real>
void StreamingSummary::add_rows(const Real* draws, std::int64_t capacity, std::int64_t count, int threads) {
  const auto num_tiles = static_cast<std::int64_t>(tiles_.size());
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
      std::memset(scratch->counts, 0, sizeof(scratch->counts));
      std::fill_n(scratch->entered, kLanes, false);
      add_to_tile(tile, chunk * tile.num_cells / chunks, (chunk + 1) * tile.num_cells / chunks, draws, capacity,
                  static_cast<int>(count), *scratch);
      std::unique_lock<std::mutex> lock(merge, std::defer_lock);
      if (chunks > 1) lock.lock();
      for (std::int64_t k = 0; k < tile.width; ++k) {
        Parameter& parameter = parameters_[tile.first_parameter + k];
        for (int i = 0; i < kBins; ++i) parameter.counts[i] += scratch->counts[k * kCodes + i];
        if (scratch->entered[k]) parameter.lags.add(scratch->lags[k]);
      }
    }
  }
}

template <class Real>
void StreamingSummary::add_to_tile(const Tile& tile, std::int64_t first, std::int64_t last, const Real* draws,
                                   std::int64_t capacity, int count, Scratch& scratch) {
  Real centre[kLanes] = {}, inverse[kLanes] = {};
  alignas(64) std::int32_t table[kLanes] = {};  // where a lane's counts are
  alignas(64) const std::uint32_t* scores[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    const std::int64_t k = l < tile.width * tile.pack ? l % tile.width : 0;
    const ScoreMap& map = parameters_[tile.first_parameter + k].map;
    centre[l] = map.centre;
    inverse[l] = map.inverse_unit;
    table[l] = static_cast<std::int32_t>(k * kCodes);
    scores[l] = map.scores.data();
  }
  const int block = num_blocks_ - 1;
  for (std::int64_t index = first; index < last; ++index) {
    Cell& cell = cells_[tile.first_cell + index];
    // t of every lane; NaN for lanes without a chain and for excluded chains.
    if (tile.width == kLanes) {
      if (excluded_[index]) continue;
      const Real* x = draws + index * capacity * dim_ + tile.first_parameter;
      for (int i = 0; i < count; ++i, x += dim_) {
#pragma omp simd
        for (int l = 0; l < kLanes; ++l) scratch.t[i][l] = static_cast<float>((x[l] - centre[l]) * inverse[l]);
      }
    } else {
      for (int i = 0; i < count; ++i) std::fill_n(scratch.t[i], kLanes, std::numeric_limits<float>::quiet_NaN());
      for (std::int64_t c = index * tile.pack; c < std::min((index + 1) * tile.pack, num_chains_); ++c) {
        if (excluded_[c]) continue;
        const Real* x = draws + c * capacity * dim_ + tile.first_parameter;
        const std::int64_t lane = c % tile.pack * tile.width;
        for (int i = 0; i < count; ++i, x += dim_) {
          for (std::int64_t k = 0; k < tile.width; ++k) {
            scratch.t[i][lane + k] = static_cast<float>((x[k] - centre[k]) * inverse[k]);
          }
        }
      }
    }
    alignas(64) std::int32_t bulk[kLanes] = {}, folded[kLanes] = {}, bulk_square[kLanes] = {},
                             folded_square[kLanes] = {};
    alignas(64) std::int32_t codes[kLanes];
    alignas(64) std::uint32_t both[kLanes];
    for (int i = 0; i < count; ++i) {
      const float* t = scratch.t[i];
#pragma omp simd
      for (int l = 0; l < kLanes; ++l) {
        cell.sum[l] += static_cast<double>(t[l]);
        cell.square[l] += static_cast<double>(t[l]) * static_cast<double>(t[l]);
      }
#pragma omp simd
      for (int l = 0; l < kLanes; ++l) {
        const float size = std::abs(t[l]), u = t[l] / (1 + size);
        const float place = std::min((u + 1) * (kBins / 2), kBins - 0.5f);
        codes[l] = static_cast<std::int32_t>(size <= std::numeric_limits<float>::max() ? place : float{kNowhere});
      }
      for (int l = 0; l < kLanes; ++l) {
        scratch.codes[i][l] = static_cast<std::uint8_t>(codes[l]);
        ++scratch.counts[table[l] + codes[l]];
        both[l] = scores[l][codes[l]];
      }
#pragma omp simd
      for (int l = 0; l < kLanes; ++l) {
        const std::int32_t b = static_cast<std::int32_t>(both[l] << 16) >> 16,
                           f = static_cast<std::int32_t>(both[l]) >> 16;
        bulk[l] += b;
        folded[l] += f;
        bulk_square[l] += b * b;
        folded_square[l] += f * f;
      }
    }
#pragma omp simd
    for (int l = 0; l < kLanes; ++l) {
      cell.bulk[block][l] += static_cast<std::uint32_t>(bulk[l]);
      cell.folded[block][l] += static_cast<std::uint32_t>(folded[l]);
      cell.bulk_square[l] += bulk_square[l];
      cell.folded_square[l] += folded_square[l];
    }
    for (std::int64_t c = index * tile.pack; c < std::min((index + 1) * tile.pack, num_chains_); ++c) {
      if (track_of_chain_[c] < 0 || excluded_[c]) continue;
      for (std::int64_t k = 0; k < tile.width; ++k) {
        const std::int64_t waiting = (num_draws_ - parameters_[tile.first_parameter + k].start) % kFrame;
        if (waiting + count >= kFrame && !scratch.entered[k]) {
          scratch.entered[k] = true;
          scratch.lags[k] = LagSums();
        }
        add_to_track(track_of_chain_[c], tile.first_parameter + k, &scratch.codes[0][c % tile.pack * tile.width + k],
                     count, scratch.lags[k]);
      }
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
  auto waiting = static_cast<int>(seen % kFrame);
  std::int64_t entered = seen - waiting;
  using Four = float __attribute__((vector_size(16)));  // of GCC and Clang: four features at once
  static_assert(sizeof(Four) == sizeof(float) * kFeatures);
  Four sum, features;
  float* block = track.blocks[num_blocks_ - 1];
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

std::int64_t StreamingSummary::block_end() const {
  const std::int64_t begin = block_begin_[num_blocks_ - 1], end = begin + block_draws_, half = expected_draws_ / 2;
  return begin < half && half < end ? half : end;
}

void StreamingSummary::open_block(int threads) {
  std::array<int, kBlocks> place;  // of each block after merging
  int kept = num_blocks_;
  while (kept == kBlocks) {
    // The middle only moves on: blocks before it can be one. When there are none, neighbours join.
    int before = 0;
    while (before < num_blocks_ && block_begin_[before + 1] <= num_draws_ / 2) ++before;
    const bool pairs = before < 2;
    if (pairs) block_draws_ *= 2;
    kept = 0;
    for (int k = 0; k < num_blocks_; ++kept) {
      int last = !pairs && k < before ? before - 1 : k;
      if (pairs && k > 0 && k + 1 < num_blocks_ && block_begin_[k + 1] != expected_draws_ / 2) last = k + 1;
      for (; k <= last; ++k) place[k] = kept;
    }
    const auto merge = [&](auto& blocks, int lanes) {
      for (int k = 0; k < num_blocks_; ++k) {
        for (int l = 0; l < lanes && place[k] != k; ++l) {
          blocks[place[k]][l] += blocks[k][l];
          blocks[k][l] = 0;
        }
      }
    };
#pragma omp parallel num_threads(threads)
    {
#pragma omp for
      for (std::size_t i = 0; i < cells_.size(); ++i) {
        merge(cells_[i].bulk, kLanes);
        merge(cells_[i].folded, kLanes);
      }
#pragma omp for
      for (std::size_t i = 0; i < tracks_.size(); ++i) merge(tracks_[i].blocks, kFeatures);
    }
    const auto begin = block_begin_;
    for (int k = num_blocks_ - 1; k >= 0; --k) block_begin_[place[k]] = begin[k];
    num_blocks_ = kept;
    block_begin_[num_blocks_] = num_draws_;
    // The last block may be shorter than blocks are now: it stays open.
    if (num_draws_ < block_end()) return;
  }
  block_begin_[num_blocks_++] = num_draws_;
  block_begin_[num_blocks_] = num_draws_;
}

void StreamingSummary::check_maps(int threads) {
  // Too late to start again: most of the run would be lost for R-hat and ESS.
  if (expected_draws_ > 0 && 3 * num_draws_ > expected_draws_) return;
  const auto num_tiles = static_cast<std::int64_t>(tiles_.size());
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (std::int64_t i = 0; i < num_tiles; ++i) {
    for (std::int64_t k = 0; k < tiles_[i].width; ++k) {
      const std::int64_t d = tiles_[i].first_parameter + k;
      if (parameters_[d].map.outdated(parameters_[d].counts)) learn_again(tiles_[i], d);
    }
  }
}

void StreamingSummary::learn_again(const Tile& tile, std::int64_t d) {
  Parameter& parameter = parameters_[d];
  const double old_centre = parameter.map.centre, old_unit = 1 / static_cast<double>(parameter.map.inverse_unit);
  parameter.map.place_again(parameter.counts);
  parameter.map.learn(parameter.counts);
  parameter.lags = LagSums();
  parameter.start = num_draws_;
  // t' = scale t + shift.
  const auto n = static_cast<double>(num_draws_);
  const double scale = old_unit * parameter.map.inverse_unit;
  const double shift = (old_centre - parameter.map.centre) * parameter.map.inverse_unit;
  for (std::int64_t c = 0; c < num_chains_; ++c) {
    Cell& cell = cells_[tile.first_cell + c / tile.pack];
    const std::int64_t l = lane_of(tile, c, d);
    cell.square[l] = scale * scale * cell.square[l] + 2 * scale * shift * cell.sum[l] + n * shift * shift;
    cell.sum[l] = scale * cell.sum[l] + n * shift;
    cell.bulk_square[l] = cell.folded_square[l] = 0;
    for (int k = 0; k < kBlocks; ++k) cell.bulk[k][l] = cell.folded[k][l] = 0;
  }
  for (std::size_t slot = 0; slot < tracked_.size(); ++slot) tracks_[slot * dim_ + d] = Track();
}

void StreamingSummary::exclude(std::int64_t chain) { excluded_[chain] = 1; }

template void StreamingSummary::add(const float*, std::int64_t, std::int64_t, int);
template void StreamingSummary::add(const double*, std::int64_t, std::int64_t, int);

}  // namespace kilochain
