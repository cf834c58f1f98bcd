// From sums to figures: StreamingSummary's const half.
#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <limits>

#include "host/statistics/geyer.hpp"
#include "host/statistics/rhat.hpp"
#include "host/statistics/streaming/streaming.hpp"

namespace kilochain {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// Draws of a chain beyond which the few that wait for their frame do not matter.
constexpr std::int64_t kManyDraws = 8192;

/// ESS of rows.rows * rows.length draws whose covariances follow the curve of `tracked` (some of the rows).
double ess_of_curve(const RowVariances& rows, const RowVariances& tracked, const LagCurve& curve) {
  if (!(tracked.within > 0)) return kNaN;
  const double ratio = rows.within / tracked.within;
  // Half the mean square of x_i - x_{i+k} does not depend on a mean; c_k is what it leaves of the variance. A biased
  // autocovariance has the weight 1 - k / n, but there noise ends the sum earlier than on these smoother curves: half
  // of that weight came closest to it, for ESS of 20 a half chain and more.
  return ess_of_covariances(rows.rows, rows.length, rows.within, rows.between, [&](std::int64_t lag) {
    if (lag > curve.last()) return -rows.within;  // not known: ends the sum
    const double half_square = curve.at_zero() - curve(lag);
    const double weight = 1 - 0.5 * static_cast<double>(lag) / static_cast<double>(rows.length);
    return weight * ratio * (tracked.within - half_square);
  });
}

}  // namespace

/// Shares of the blocks in the two halves of the draws from `start`. A block that the middle cuts goes to both by
/// length, as if it were even; for draws that forget faster than a block is long this makes the halves of a chain too
/// alike, on average by the factor that `stretch` undoes.
struct StreamingSummary::Halves {
  std::int64_t length = 0;
  std::array<std::array<double, kBlocks>, 2> share{};
  double stretch = 1;

  /// Means of the two halves from the sums of the blocks.
  template <class Sum>
  void append_means(const Sum& sum, std::vector<double>& means) const {
    double first = 0, second = 0;
    for (int k = 0; k < kBlocks; ++k) {
      first += share[0][k] * sum(k);
      second += share[1][k] * sum(k);
    }
    const double middle = 0.5 * (first + second), apart = 0.5 * stretch * (first - second);
    means.push_back((middle + apart) / static_cast<double>(length));
    means.push_back((middle - apart) / static_cast<double>(length));
  }
};

StreamingSummary::Halves StreamingSummary::halves_of(std::int64_t start) const {
  Halves halves;
  const std::int64_t length = halves.length = (num_draws_ - start) / 2;
  double lost = 0;  // of the variance of the difference of the halves' sums, in draws
  for (int k = 0; k < num_blocks_; ++k) {
    const std::int64_t end = k + 1 < num_blocks_ ? block_begin_[k + 1] : num_draws_;
    const std::int64_t from = std::max(start, block_begin_[k]), to = std::min(num_draws_, end);
    if (to <= from) continue;
    const auto shared = [&](std::int64_t first, std::int64_t last) {
      const std::int64_t both = std::min(to, last) - std::max(from, first);
      return static_cast<double>(std::max<std::int64_t>(0, both)) / static_cast<double>(to - from);
    };
    halves.share[0][k] = shared(start, start + length);
    halves.share[1][k] = shared(num_draws_ - length, num_draws_);
    lost += 4 * halves.share[0][k] * halves.share[1][k] * static_cast<double>(to - from);
  }
  const double draws = 2 * static_cast<double>(length);
  halves.stretch = lost < 0.5 * draws ? std::sqrt(draws / (draws - lost)) : 1;
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
  ParameterSummary summary;
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
    const auto scores = [l](const auto& blocks) {
      return [&blocks, l](int k) { return kScoreUnit * static_cast<std::int32_t>(blocks[k][l]); };
    };
    halves.append_means(scores(cell.bulk), bulk_means);
    halves.append_means(scores(cell.folded), folded_means);
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
  const RowVariances bulk = row_variances(bulk_means, halves.length, bulk_square / scored);
  const RowVariances folded = row_variances(folded_means, halves.length, folded_square / scored);
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
    for (int f = 0; f < kFeatures; ++f) {
      halves.append_means([&](int k) { return static_cast<double>(track.blocks[k][f]); }, means[f]);
    }
  }
  if (means[0].empty()) return summary;
  std::array<double, kFeatures> ess;
  for (int f = 0; f < kFeatures; ++f) {
    const LagCurve curve(lags, f);
    RowVariances tracked = row_variances(means[f], halves.length, curve.at_zero());
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
