#include "host/statistics/streaming/cells.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kilochain {

std::vector<Tile> tiles_of(std::int64_t num_chains, std::int64_t dim) {
  std::vector<Tile> tiles;
  std::int64_t cells = 0;
  for (std::int64_t first = 0; first < dim; first += kLanes) {
    const std::int64_t width = std::min<std::int64_t>(kLanes, dim - first), pack = kLanes / width;
    tiles.push_back({first, width, pack, cells, (num_chains + pack - 1) / pack});
    cells += tiles.back().num_cells;
  }
  return tiles;
}

template <class Real>
void TileDraws::standardise(const Lanes<Real>& lanes, const Real* x, std::int64_t stride, int count, std::int64_t first,
                            std::int64_t width) {
  for (int i = 0; i < count && width == kLanes; ++i, x += stride) {
#pragma omp simd
    for (int l = 0; l < kLanes; ++l) t[i][l] = (x[l] - lanes.centre[l]) * lanes.inverse_unit[l];
  }
  for (int i = 0; i < count && width < kLanes; ++i, x += stride) {
    for (std::int64_t k = 0; k < width; ++k) t[i][first + k] = (x[k] - lanes.centre[k]) * lanes.inverse_unit[k];
  }
}

void TileDraws::clear(int count) { std::fill_n(&t[0][0], count * kLanes, std::numeric_limits<float>::quiet_NaN()); }

void TileDraws::add_moments(Cell& cell, int count) const {
  alignas(64) double sum[kLanes], square[kLanes];
  std::copy_n(cell.sum, kLanes, sum);
  std::copy_n(cell.square, kLanes, square);
  for (int i = 0; i < count; ++i) {
#pragma omp simd
    for (int l = 0; l < kLanes; ++l) {
      const double value = t[i][l];
      sum[l] += value;
      square[l] += value * value;
    }
  }
  std::copy_n(sum, kLanes, cell.sum);
  std::copy_n(square, kLanes, cell.square);
}

void TileDraws::encode(int count) {
  for (int i = 0; i < count; ++i) {
#pragma omp simd
    for (int l = 0; l < kLanes; ++l) {
      const float size = std::abs(t[i][l]), u = t[i][l] / (1 + size);
      const float place = std::min((u + 1) * (kBins / 2), kBins - 0.5f);
      const std::int32_t code = size <= std::numeric_limits<float>::max() ? place : float{kNowhere};
      codes[i][l] = code;
    }
  }
}

template <class Real>
void TileDraws::look_up(const Lanes<Real>& lanes, int count) {
  for (int i = 0; i < count; ++i) {
    for (int l = 0; l < kLanes; ++l) {
      const std::uint8_t code = codes[i][l];
      ++counts[lanes.first_count[l] + code];
      scores[i][l] = lanes.scores[l][code];
    }
  }
}

void TileDraws::add_scores(Cell& cell, int block, int count) const {
  alignas(64) std::int32_t bulk[kLanes] = {}, folded[kLanes] = {}, bulk_square[kLanes] = {}, folded_square[kLanes] = {};
  for (int i = 0; i < count; ++i) {
#pragma omp simd
    for (int l = 0; l < kLanes; ++l) {
      // Signed numbers of 16 bits, the low ones and the high ones.
      const std::int32_t low = scores[i][l] << 16, high = scores[i][l], b = low >> 16, f = high >> 16;
      bulk[l] += b;
      folded[l] += f;
      bulk_square[l] += b * b;
      folded_square[l] += f * f;
    }
  }
#pragma omp simd
  for (int l = 0; l < kLanes; ++l) {
    cell.bulk[block][l] += bulk[l];
    cell.folded[block][l] += folded[l];
    cell.bulk_square[l] += bulk_square[l];
    cell.folded_square[l] += folded_square[l];
  }
}

#define KILOCHAIN_INSTANTIATE(Real)                                                                      \
  template void TileDraws::standardise(const Lanes<Real>&, const Real*, std::int64_t, int, std::int64_t, \
                                       std::int64_t);                                                    \
  template void TileDraws::look_up(const Lanes<Real>&, int);
KILOCHAIN_INSTANTIATE(float)
KILOCHAIN_INSTANTIATE(double)
#undef KILOCHAIN_INSTANTIATE

}  // namespace kilochain
