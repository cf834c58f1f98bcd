// From sums to figures: StreamingSummary's const half.
#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <limits>
#include <span>

#include "host/diagnostics/geyer.hpp"
#include "host/diagnostics/rhat.hpp"
#include "host/diagnostics/streaming.hpp"
#include "host/diagnostics/table.hpp"

namespace kilochain {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// Draws of a chain beyond which the few that wait for their frame do not matter.
constexpr std::int64_t kManyDraws = 8192;

/// Variances of rows of `length` values, from their means and the mean square over all of them.
RowVariances variances_of(std::span<const double> means, std::int64_t length, double mean_square) {
  const auto rows = static_cast<double>(means.size()), n = static_cast<double>(length);
  double mean = 0, squares = 0, between = 0;
  for (const double m : means) mean += m / rows, squares += m * m / rows;
  for (const double m : means) between += (m - mean) * (m - mean);
  return {static_cast<std::int64_t>(means.size()), length, (mean_square - squares) * n / (n - 1), between / (rows - 1)};
}

/// ESS of rows.rows * rows.length draws whose covariances follow the curve of `tracked` (some of the rows).
double ess_of_curve(const RowVariances& rows, const RowVariances& tracked, const LagCurve& curve) {
  if (!(tracked.within > 0)) return kNaN;
  const double ratio = rows.within / tracked.within;
  // Half the mean square of x_i - x_{i+k} does not depend on a mean; c_k is what it leaves of the variance, with the
  // weight 1 - k / n of a biased autocovariance.
  return ess_of_covariances(rows.rows, rows.length, rows.within, rows.between, [&](std::int64_t lag) {
    if (lag > curve.last()) return -rows.within;  // not known: ends the sum
    const double half_square = curve.at_zero() - curve(lag);
    const double weight = 1 - static_cast<double>(lag) / static_cast<double>(rows.length);
    return weight * ratio * (tracked.within - half_square);
  });
}

}  // namespace

/// Shares of the blocks in the two halves of the draws from `start`. A block that lies in both is taken to be even.
struct StreamingSummary::Halves {
  std::int64_t length = 0;
  std::array<std::array<double, kBlocks>, 2> share{};
};

StreamingSummary::Halves StreamingSummary::halves_of(std::int64_t start) const {
  Halves halves;
  const std::int64_t length = halves.length = (num_draws_ - start) / 2;
  for (std::int64_t k = 0; k < kBlocks; ++k) {
    const std::int64_t from = std::max(start, k * block_draws_), to = std::min(num_draws_, (k + 1) * block_draws_);
    if (to <= from) continue;
    const auto shared = [&](std::int64_t first, std::int64_t last) {
      const std::int64_t both = std::min(to, last) - std::max(from, first);
      return static_cast<double>(std::max<std::int64_t>(0, both)) / static_cast<double>(to - from);
    };
    halves.share[0][k] = shared(start, start + length);
    halves.share[1][k] = shared(num_draws_ - length, num_draws_);
  }
  return halves;
}

ParameterSummary StreamingSummary::exact_figures(std::int64_t d) const {
  std::vector<double> values;
  std::int64_t chains = 0;
  for (std::int64_t c = 0; c < num_chains_; ++c) {
    if (excluded_[c]) continue;
    ++chains;
    for (std::int64_t i = 0; i < num_draws_; ++i) values.push_back(first_[(c * first_draws_ + i) * dim_ + d]);
  }
  return summarise("", Series{values.data(), chains, num_draws_});
}

ParameterSummary StreamingSummary::streamed_figures(std::int64_t d) const {
  ParameterSummary summary{"", kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN};
  const Parameter& parameter = parameters_[d];
  const Tile& tile = tile_of(d);
  const Halves halves = halves_of(parameter.start);
  const std::int64_t length = num_draws_ - parameter.start;

  std::vector<double> bulk_means, folded_means;
  double chains = 0, sum = 0, square = 0, bulk_square = 0, folded_square = 0;
  for (std::int64_t c = 0; c < num_chains_; ++c) {
    if (excluded_[c]) continue;
    const Cell& cell = cell_of(tile, c);
    const std::int64_t l = lane_of(tile, c, d);
    chains += 1;
    sum += cell.sum[l];
    square += cell.square[l];
    bulk_square += static_cast<double>(cell.bulk_square[l]);
    folded_square += static_cast<double>(cell.folded_square[l]);
    for (const auto& share : halves.share) {
      double bulk = 0, folded = 0;
      for (int k = 0; k < kBlocks; ++k) {
        bulk += share[k] * static_cast<std::int32_t>(cell.bulk[k][l]);
        folded += share[k] * static_cast<std::int32_t>(cell.folded[k][l]);
      }
      bulk_means.push_back(bulk * kScoreUnit / static_cast<double>(halves.length));
      folded_means.push_back(folded * kScoreUnit / static_cast<double>(halves.length));
    }
  }
  if (!(chains > 0) || !std::isfinite(sum) || !std::isfinite(square)) return summary;
  const double size = chains * static_cast<double>(num_draws_), mean = sum / size;
  const double variance = (square - size * mean * mean) / (size - 1);
  summary.mean = parameter.map.value_of(mean);
  if (!(variance > 1e-10 * mean * mean)) {  // what rounding leaves of draws that are all equal
    summary.sd = 0;
    summary.q05 = summary.q50 = summary.q95 = summary.mean;
    return summary;
  }
  summary.sd = std::sqrt(variance) / parameter.map.inverse_unit;
  summary.q05 = parameter.map.quantile(parameter.counts, 0.05);
  summary.q50 = parameter.map.quantile(parameter.counts, 0.50);
  summary.q95 = parameter.map.quantile(parameter.counts, 0.95);
  if (length < kFewestDraws) return summary;

  const double scored = chains * static_cast<double>(length) / (kScoreUnit * kScoreUnit);
  const RowVariances bulk = variances_of(bulk_means, halves.length, bulk_square / scored);
  const RowVariances folded = variances_of(folded_means, halves.length, folded_square / scored);
  summary.rhat = std::max(rhat_of(bulk), rhat_of(folded));

  // The tracked chains: their lags, those of the last frame included, and their halves.
  LagSums lags = parameter.lags;
  const std::int64_t waiting = length % kFrame;
  std::array<std::vector<double>, kFeatures> means;
  for (std::size_t slot = 0; slot < tracked_.size(); ++slot) {
    if (excluded_[tracked_[slot]]) continue;
    const Track& track = tracks_[slot * dim_ + d];
    if (waiting > 0 && length < kManyDraws) {
      LagTrack last = track.lags;
      last.enter(static_cast<int>(waiting), length - waiting, parameter.map, lags);
    }
    for (const auto& share : halves.share) {
      for (int f = 0; f < kFeatures; ++f) {
        double total = 0;
        for (int k = 0; k < kBlocks; ++k) total += share[k] * static_cast<double>(track.blocks[k][f]);
        means[f].push_back(total / static_cast<double>(halves.length));
      }
    }
  }
  if (means[0].empty()) return summary;
  std::array<double, kFeatures> ess;
  for (int f = 0; f < kFeatures; ++f) {
    const LagCurve curve(lags, f);
    RowVariances tracked = variances_of(means[f], halves.length, curve.at_zero());
    RowVariances rows = f == 1 ? bulk : tracked;
    rows.rows = bulk.rows;
    // Draws before the start count too: the chains are taken to have mixed then as they did later.
    ess[f] = ess_of_curve(rows, tracked, curve) * static_cast<double>(num_draws_) / static_cast<double>(length);
    if (f > 1 && !(tracked.within > 0)) ess[f] = size;  // the indicator is the same for all
  }
  summary.mcse_mean = summary.sd / std::sqrt(ess[0]);
  summary.ess_bulk = ess[1];
  summary.ess_tail = std::min(ess[2], ess[3]);
  return summary;
}

ParameterSummary StreamingSummary::figures_of(std::int64_t d) const {
  return streaming_ ? streamed_figures(d) : exact_figures(d);
}

std::vector<ParameterSummary> StreamingSummary::results(const std::vector<std::string>& names, int threads) const {
  std::vector<ParameterSummary> summaries(dim_);
  std::exception_ptr failure;  // an exception may not leave a parallel region
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (std::int64_t d = 0; d < dim_; ++d) {
    try {
      summaries[d] = figures_of(d);
      summaries[d].name = names[d];
    } catch (...) {
#pragma omp critical(kilochain_streaming_failure)
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
  return summaries;
}

StreamingSummary::Quick StreamingSummary::quick(std::int64_t max_parameters) const {
  // While draws are kept a parameter costs far more: a sort.
  const std::int64_t most = streaming_ ? max_parameters : std::max<std::int64_t>(1, max_parameters / 8);
  const std::int64_t count = std::min(dim_, most);
  Quick quick{0, std::numeric_limits<double>::infinity()};
  for (std::int64_t k = 0; k < count; ++k) {
    const ParameterSummary figures = figures_of(k * dim_ / count);
    const double ess = worst_ess(figures);
    if (std::isnan(ess) || std::isnan(figures.rhat)) return {kNaN, kNaN};
    quick.rhat_max = std::max(quick.rhat_max, figures.rhat);
    quick.ess_min = std::min(quick.ess_min, ess);
  }
  return quick;
}

}  // namespace kilochain
