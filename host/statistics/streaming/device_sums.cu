// Kernels of device_sums.hpp. add_to_cells: sixteen threads a cell, a block for a tile and some of its chains, which counts
// in shared memory. add_to_tracks: a warp a tracked (chain, parameter); lanes are lags when a frame of 64 draws is complete.
// Launched on the context's stream: after the draws were made, and before what overwrites them.
#include <algorithm>

#include "host/statistics/streaming/device_sums.hpp"
#include "kernels/device/launch.cuh"

namespace kilochain {
namespace {

constexpr int threads_of_block = 256, warps_of_block = threads_of_block / 32;
constexpr std::int64_t many_blocks = 8 * 132;  // enough for every multiprocessor

using BigCount = unsigned long long;  // what atomicAdd has

/// A parameter's map as kernels read it.
struct MapTables {
  float centre, inverse_unit;
  std::int64_t start;
  std::uint32_t scores[kCodes];
  float features[kCodes][kFeatures];
};

struct SumsView {
  Cell* cells;
  Track* tracks;  // [tracked][dim]
  const MapTables* maps;
  BigCount* counts;  // [dim][code]
  LagSums* lags;
  const std::int64_t* tracked;
  std::int64_t num_chains, dim, num_tracked;
};

template <class Real>
__global__ void __launch_bounds__(threads_of_block)
    add_to_cells(const __grid_constant__ SumsView s, View3<const Real> draws, const __grid_constant__ NewDraws n,
                 std::int64_t chunks) {
  __shared__ std::uint32_t counts[kLanes * kCodes], scores[kLanes * kCodes];
  const Tile tile = tile_at(blockIdx.x / chunks, s.num_chains, s.dim);
  const int width = static_cast<int>(tile.width), entries = width * kCodes, thread = cuda::here::thread();
  for (int i = thread; i < entries; i += threads_of_block) {
    counts[i] = 0;
    scores[i] = s.maps[tile.first_parameter + i / kCodes].scores[i % kCodes];
  }
  __syncthreads();
  const int l = thread % kLanes, k = l % width;
  const MapTables& map = s.maps[tile.first_parameter + k];
  const Real centre = map.centre, inverse_unit = map.inverse_unit;
  const std::int64_t first = n.first_chain / tile.pack, end = (n.first_chain + draws.planes - 1) / tile.pack + 1;
  const std::int64_t chunk = blockIdx.x % chunks, cells = end - first, last = first + (chunk + 1) * cells / chunks;
  for (std::int64_t at = first + chunk * cells / chunks + thread / kLanes; at < last; at += threads_of_block / kLanes) {
    const std::int64_t chain = at * tile.pack + l / width - n.first_chain;
    if (l >= width * tile.pack || chain < 0 || chain >= draws.planes || n.excluded[chain]) continue;
    Cell& cell = s.cells[tile.first_cell + at];
    double sum = cell.sum[l], square = cell.square[l];
    std::int64_t bulk_square = 0, folded_square = 0;
    std::uint32_t bulk = 0, folded = 0;
    const Real* x = draws.data + chain * draws.rows * draws.columns + tile.first_parameter + k;
    for (std::int64_t i = 0; i < n.count; ++i, x += draws.columns) {
      const float t = standardised(__ldg(x), centre, inverse_unit);
      const double value = t;
      sum += value;
      square += value * value;  // exact before it is added: a float squared
      const int entry = k * kCodes + code_of(t);
      atomicAdd(&counts[entry], 1u);
      const std::int32_t b = bulk_score(scores[entry]), f = folded_score(scores[entry]);
      bulk += b, folded += f;
      bulk_square += b * b, folded_square += f * f;
    }
    cell.sum[l] = sum, cell.square[l] = square;
    cell.bulk_square[l] += bulk_square, cell.folded_square[l] += folded_square;
    cell.bulk[n.block][l] += bulk, cell.folded[n.block][l] += folded;
  }
  __syncthreads();
  for (int i = thread; i < entries; i += threads_of_block)
    if (counts[i] > 0 && i % kCodes < kBins)
      atomicAdd(&s.counts[tile.first_parameter * kCodes + i], static_cast<BigCount>(counts[i]));
}

/// A warp's rows of shared memory.
struct TrackScratch {
  float values[kNearLags + kFrame][kFeatures];
  float window[2 * kFarLags * kFeatures];
  std::uint8_t codes[kNearLags + kFrame];
};

/// A lane's share of LagSums: of level 0 the lag with the lane's number, of each other level two of 64 products.
struct LaneLags {
  std::int64_t near[kFeatures] = {}, far[kLevels][2] = {};
  std::int32_t near_pairs = 0, far_pairs[kLevels] = {};
};

__device__ inline std::int64_t product_units(float sum) { return static_cast<std::int64_t>(sum * kProductsPerUnit); }

/// LagTrack::enter of a whole frame, by a warp: the same sums in the same order, four chains of fused products each.
__device__ inline void enter_frame(int lane, TrackScratch& w, const float (*features)[kFeatures], LagTrack& track,
                                   std::int64_t seen, LaneLags& sums) {
  for (int i = lane; i < kNearLags + kFrame; i += 32)
    for (int f = 0; f < kFeatures; ++f) w.values[i][f] = features[w.codes[i]][f];
  __syncwarp();
  float total[kFeatures] = {};
  for (int r = 0; r < 4; ++r) {
    float sum[kFeatures] = {};
    for (int i = r; i < kFrame; i += 4) KC_UNROLL
    for (int f = 0; f < kFeatures; ++f)
      sum[f] = fused(w.values[kNearLags + i - lane][f], w.values[kNearLags + i][f], sum[f]);
    KC_UNROLL
    for (int f = 0; f < kFeatures; ++f) total[f] += sum[f];
  }
  KC_UNROLL
  for (int f = 0; f < kFeatures; ++f) sums.near[f] += product_units(total[f]);
  sums.near_pairs += static_cast<std::int32_t>(new_pairs(kFrame, seen, lane));

  constexpr int kept_values = kFarLags * kFeatures;
  static_assert(kNearLags == 32 && kept_values == 64);
  const float* below = &w.values[kNearLags][0];
  std::int64_t before = seen;
  int fresh = kFrame;
  bool more = true;
  KC_UNROLL
  for (int level = 0; level < kLevels; ++level) {
    float made_values[2] = {};
    int made = 0;
    if (more && fresh >= 4) {
      made = fresh / 4;
      for (int q = 0; q < 2; ++q) {
        const int item = lane + 32 * q;
        if (item >= made * kFeatures) continue;
        const float* four = below + 4 * (item / kFeatures) * kFeatures + item % kFeatures;
        made_values[q] = 0.25f * ((four[0] + four[kFeatures]) + (four[2 * kFeatures] + four[3 * kFeatures]));
      }
    } else if (more && level > 0 && (before + 1) % 4 == 0) {
      made = 1;
      int sum = 0;
      if (lane < kFeatures)
        for (int j = 1; j <= 4; ++j) sum += track.coarse[level > 0 ? level - 1 : 0][(kFarLags - j) * kFeatures + lane];
      made_values[0] = 0.25f * kMeanUnit * sum;
    }
    more = made > 0;
    if (!more) continue;  // and none of the levels above: a break would keep the loop rolled, and the sums in memory
    auto& kept = track.coarse[level];
    __syncwarp();  // all have read the level below
    for (int item = lane; item < kept_values; item += 32) w.window[item] = kMeanUnit * kept[item];
    for (int q = 0; q < 2; ++q)
      if (lane + 32 * q < made * kFeatures)
        w.window[kept_values + lane + 32 * q] = kMeanUnit * rintf(made_values[q] / kMeanUnit);
    __syncwarp();
    before /= 4;
    KC_UNROLL
    for (int q = 0; q < 2; ++q) {
      const int item = lane + 32 * q, lag = item / kFeatures, f = item % kFeatures;
      float all = 0;
      for (int r = 0; r < 4; ++r) {
        float sum = 0;
        for (int i = r; i < made; i += 4)
          sum = fused(w.window[(kFarLags + i - lag) * kFeatures + f], w.window[(kFarLags + i) * kFeatures + f], sum);
        all += sum;
      }
      sums.far[level][q] += product_units(all);
      kept[item] = static_cast<std::int16_t>(w.window[made * kFeatures + item] / kMeanUnit);
    }
    if (lane < kFarLags) sums.far_pairs[level] += static_cast<std::int32_t>(new_pairs(made, before, lane));
    __syncwarp();
    below = w.window + kept_values;
    fresh = made;
  }
}

__device__ inline void add_big(std::int64_t& to, std::int64_t value) {
  static_assert(sizeof(std::int64_t) == sizeof(BigCount));
  atomicAdd(reinterpret_cast<BigCount*>(&to), static_cast<BigCount>(value));
}

/// A level's longest lag is stored first.
__device__ inline void add_lags(int lane, const LaneLags& part, LagSums& to) {
  KC_UNROLL
  for (int f = 0; f < kFeatures; ++f) add_big(to.products[(kNearLags - 1 - lane) * kFeatures + f], part.near[f]);
  add_big(to.pairs[lane], part.near_pairs);
  KC_UNROLL
  for (int level = 0; level < kLevels; ++level) {
    const int slot = kNearLags + level * kFarLags;
    KC_UNROLL
    for (int q = 0; q < 2; ++q) {
      const int item = lane + 32 * q, place = kFarLags - 1 - item / kFeatures;
      add_big(to.products[(slot + place) * kFeatures + item % kFeatures], part.far[level][q]);
    }
    if (lane < kFarLags) add_big(to.pairs[slot + lane], part.far_pairs[level]);
  }
}

template <class Real>
__global__ void __launch_bounds__(threads_of_block)
    add_to_tracks(const __grid_constant__ SumsView s, View3<const Real> draws, const __grid_constant__ NewDraws n,
                  std::int64_t chunks) {
  alignas(16) __shared__ float features[kCodes][kFeatures];
  alignas(16) __shared__ TrackScratch scratch[warps_of_block];
  const std::int64_t d = blockIdx.x / chunks;
  const int warp = cuda::here::warp(), lane = cuda::here::lane();
  const MapTables& map = s.maps[d];
  for (int i = cuda::here::thread(); i < kCodes * kFeatures; i += threads_of_block)
    features[i / kFeatures][i % kFeatures] = map.features[i / kFeatures][i % kFeatures];
  __syncthreads();
  const Real centre = map.centre, inverse_unit = map.inverse_unit;
  const std::int64_t seen = n.before - map.start;
  TrackScratch& w = scratch[warp];
  LaneLags sums;
  bool entered = false;
  for (std::int64_t slot = blockIdx.x % chunks * warps_of_block + warp; slot < s.num_tracked;
       slot += chunks * warps_of_block) {
    const std::int64_t chain = s.tracked[slot] - n.first_chain;
    if (chain < 0 || chain >= draws.planes || n.excluded[chain]) continue;
    Track& track = s.tracks[slot * s.dim + d];
    for (int i = lane; i < kNearLags + kFrame; i += 32) w.codes[i] = track.lags.codes[i];
    float sum = lane < kFeatures ? track.blocks[n.block][lane] : 0;
    std::int64_t frames = seen / kFrame;
    int waiting = static_cast<int>(seen % kFrame);
    for (std::int64_t done = 0; done < n.count;) {
      const std::int64_t left = n.count - done;
      const int rows = left < kFrame - waiting ? static_cast<int>(left) : kFrame - waiting;
      __syncwarp();
      for (int i = lane; i < rows; i += 32) {
        const Real x = __ldg(draws.data + (chain * draws.rows + done + i) * draws.columns + d);
        w.codes[kNearLags + waiting + i] = static_cast<std::uint8_t>(code_of(standardised(x, centre, inverse_unit)));
      }
      __syncwarp();
      if (lane < kFeatures)
        for (int i = 0; i < rows; ++i) sum += features[w.codes[kNearLags + waiting + i]][lane];
      waiting += rows, done += rows;
      if (waiting < kFrame) continue;
      enter_frame(lane, w, features, track.lags, frames * kFrame, sums);
      entered = true;
      ++frames;
      waiting = 0;
      w.codes[lane] = w.codes[kFrame + lane];
    }
    if (lane < kFeatures) track.blocks[n.block][lane] = sum;
    for (int i = lane; i < kNearLags + kFrame; i += 32) track.lags.codes[i] = w.codes[i];
    __syncwarp();  // all have read the codes before the next track's overwrite them
  }
  if (entered) add_lags(lane, sums, s.lags[d]);
}

__global__ void __launch_bounds__(threads_of_block)
    join_cells(Cell* cells, std::int64_t count, const __grid_constant__ BlockPlaces place) {
  const std::int64_t i = std::int64_t{blockIdx.x} * threads_of_block + threadIdx.x;
  if (i / kLanes >= count) return;
  Cell& cell = cells[i / kLanes];
  join_blocks(cell.bulk, place, static_cast<int>(i % kLanes));
  join_blocks(cell.folded, place, static_cast<int>(i % kLanes));
}

__global__ void __launch_bounds__(threads_of_block)
    join_tracks(Track* tracks, std::int64_t count, const __grid_constant__ BlockPlaces place) {
  const std::int64_t i = std::int64_t{blockIdx.x} * threads_of_block + threadIdx.x;
  if (i / kFeatures < count) join_blocks(tracks[i / kFeatures].blocks, place, static_cast<int>(i % kFeatures));
}

std::int64_t cells_of(std::int64_t num_chains, std::int64_t dim) {
  const Tile last = tile_at(num_tiles(dim) - 1, num_chains, dim);
  return last.first_cell + last.num_cells;
}

dim3 blocks_of(std::int64_t threads) {
  return dim3(static_cast<unsigned>((threads + threads_of_block - 1) / threads_of_block));
}

constexpr const char* row_of_estimate = "streaming statistics";

class CudaSums final : public DeviceSums {
 public:
  CudaSums(const Place& place, std::int64_t num_chains, std::int64_t dim, const std::vector<std::int64_t>& tracked)
      : place_(place),
        num_chains_(num_chains),
        dim_(dim),
        cells_(place, static_cast<std::size_t>(cells_of(num_chains, dim)), row_of_estimate),
        tracks_(place, tracked.size() * static_cast<std::size_t>(dim), row_of_estimate),
        maps_(place, static_cast<std::size_t>(dim), row_of_estimate),
        counts_(place, static_cast<std::size_t>(dim), row_of_estimate),
        lags_(place, static_cast<std::size_t>(dim), row_of_estimate),
        tracked_(place, tracked.size(), row_of_estimate) {
    tracked_.upload(tracked.data());
  }
  void upload(const std::vector<Cell>& cells, const std::vector<Track>& tracks,
              const std::vector<StreamedParameter>& parameters) override {
    cells_.upload(cells.data());
    tracks_.upload(tracks.data());
    std::vector<MapTables> maps(parameters.size());
    std::vector<ScoreMap::Counts> counts(parameters.size());
    std::vector<LagSums> lags(parameters.size());
    for (std::size_t d = 0; d < parameters.size(); ++d) {
      const StreamedParameter& of = parameters[d];
      maps[d].centre = of.map.centre, maps[d].inverse_unit = of.map.inverse_unit, maps[d].start = of.start;
      std::copy(of.map.scores.begin(), of.map.scores.end(), maps[d].scores);
      std::copy(of.map.features.begin(), of.map.features.end(), &maps[d].features[0][0]);
      counts[d] = of.counts;
      lags[d] = of.lags;
    }
    maps_.upload(maps.data()), counts_.upload(counts.data()), lags_.upload(lags.data());
  }
  void download(std::vector<Cell>& cells, std::vector<Track>& tracks,
                std::vector<StreamedParameter>& parameters) const override {
    cells_.download(cells.data());
    tracks_.download(tracks.data());
    download_counts(parameters);
    const std::vector<LagSums> lags = lags_.host();
    for (std::size_t d = 0; d < parameters.size(); ++d) parameters[d].lags = lags[d];
  }
  void download_counts(std::vector<StreamedParameter>& parameters) const override {
    const std::vector<ScoreMap::Counts> counts = counts_.host();
    for (std::size_t d = 0; d < parameters.size(); ++d) parameters[d].counts = counts[d];
  }
  void add(View3<const float> draws, const NewDraws& which) override { add_draws(draws, which); }
  void add(View3<const double> draws, const NewDraws& which) override { add_draws(draws, which); }
  void join(const BlockPlaces& place) override {
    const auto cells = static_cast<std::int64_t>(cells_.size()), tracks = static_cast<std::int64_t>(tracks_.size());
    cuda::launch(place_, join_cells, blocks_of(cells * kLanes), threads_of_block, cells_.data(), cells, place);
    if (tracks > 0)
      cuda::launch(place_, join_tracks, blocks_of(tracks * kFeatures), threads_of_block, tracks_.data(), tracks, place);
  }

 private:
  template <class Real>
  void add_draws(View3<const Real> draws, const NewDraws& which) {
    if (which.count == 0 || draws.planes == 0) return;
    const std::int64_t tracked = static_cast<std::int64_t>(tracked_.size());
    const SumsView view{cells_.data(), tracks_.data(),  maps_.data(), reinterpret_cast<BigCount*>(counts_.data()),
                        lags_.data(),  tracked_.data(), num_chains_,  dim_,
                        tracked};
    const std::int64_t tiles = num_tiles(dim_), pack = tile_at(0, num_chains_, dim_).pack;
    const auto few = [](std::int64_t most, std::int64_t of) {
      return std::clamp<std::int64_t>(most, 1, std::max<std::int64_t>(1, many_blocks / of));
    };
    const std::int64_t of_tile = few(draws.planes / pack * kLanes / threads_of_block, tiles),
                       of_parameter = few((tracked + warps_of_block - 1) / warps_of_block, dim_);
    cuda::launch(place_, add_to_cells<Real>, dim3(static_cast<unsigned>(tiles * of_tile)), threads_of_block, view,
                 draws, which, of_tile);
    cuda::launch(place_, add_to_tracks<Real>, dim3(static_cast<unsigned>(dim_ * of_parameter)), threads_of_block, view,
                 draws, which, of_parameter);
  }

  Place place_;
  std::int64_t num_chains_, dim_;
  Buffer<Cell> cells_;
  Buffer<Track> tracks_;
  Buffer<MapTables> maps_;
  Buffer<ScoreMap::Counts> counts_;
  Buffer<LagSums> lags_;
  Buffer<std::int64_t> tracked_;
};

}  // namespace

std::unique_ptr<DeviceSums> make_device_sums(const Place& place, std::int64_t num_chains, std::int64_t dim,
                                             const std::vector<std::int64_t>& tracked) {
  return std::make_unique<CudaSums>(place, num_chains, dim, tracked);
}

}  // namespace kilochain
