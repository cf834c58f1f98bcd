// From sums to figures: StreamingSummary's const half.
#include <array>
#include <cmath>
#include <exception>

#include "host/statistics/ess.hpp"
#include "host/statistics/rhat.hpp"
#include "host/statistics/streaming/streaming.hpp"

namespace kilochain {
namespace {

/// Draws of a chain beyond which the few that wait for their frame do not matter.
constexpr std::int64_t kManyDraws = 8192;

/// ESS of rows.rows * rows.length draws whose covariances follow the curve of `tracked` (some of the rows).
double ess_of_curve(const RowVariances& rows, const RowVariances& tracked, const LagCurve& curve) {
  if (!(tracked.within > 0)) return NAN;
  const double ratio = rows.within / tracked.within;
  // Half the mean square of x_i - x_{i+k} does not depend on a mean; c_k is what it leaves of the variance. A biased
  // autocovariance has the weight 1 - k / n, but there noise ends the sum earlier than on these smoother curves: half
  // of that weight came closest to it, for ESS of 20 a half chain and more.
  return ess_of_covariances(rows.rows, rows.length, rows.within, rows.between, [&](std::int64_t lag) {
    if (lag > curve.last()) return -rows.within;  // not known: ends the sum
    const double half_square = curve.at_zero() - curve(lag);
    const double weight = 1 - 0.5 * lag / rows.length;
    return weight * ratio * (tracked.within - half_square);
  });
}

}  // namespace

Superchains StreamingSummary::superchains() const {
  std::vector<std::int64_t> kept;
  for (std::int64_t c = 0; c < num_chains_; ++c)
    if (!excluded_[c]) kept.push_back(c);
  return {kept, superchains_};
}

ParameterSummary StreamingSummary::exact_figures(std::int64_t d) const {
  std::vector<double> values;
  std::int64_t chains = 0;
  for (std::int64_t c = 0; c < num_chains_; ++c) {
    if (excluded_[c]) continue;
    ++chains;
    for (std::int64_t t = 0; t < num_draws_; ++t) values.push_back(first_[(c * first_draws_ + t) * dim_ + d]);
  }
  return summarise("", Series{values.data(), chains, num_draws_}, superchains());
}

/// What the chains that count have left of one parameter.
struct StreamingSummary::ChainSums {
  std::int64_t chains = 0;
  double sum = 0, square = 0, bulk_square = 0, folded_square = 0;  // over all of them
  std::vector<double> bulk_means, folded_means;                    // of the halves of each
};

StreamingSummary::ChainSums StreamingSummary::sums_of_chains(std::int64_t d, const Halves& halves) const {
  ChainSums sums;
  const Tile& tile = tiles_[d / kLanes];
  for (std::int64_t c = 0; c < num_chains_; ++c) {
    if (excluded_[c]) continue;
    const Cell& cell = cells_[tile.cell_of(c)];
    const std::int64_t l = tile.lane_of(c, d);
    ++sums.chains;
    sums.sum += cell.sum[l];
    sums.square += cell.square[l];
    sums.bulk_square += cell.bulk_square[l];
    sums.folded_square += cell.folded_square[l];
    const auto scores = [l](const auto& blocks) {
      return [&blocks, l](int k) { return kScoreUnit * static_cast<std::int32_t>(blocks[k][l]); };
    };
    halves.append_means(scores(cell.bulk), sums.bulk_means);
    halves.append_means(scores(cell.folded), sums.folded_means);
  }
  return sums;
}

ParameterSummary StreamingSummary::streamed_figures(std::int64_t d) const {
  ParameterSummary summary;
  const Parameter& parameter = parameters_[d];
  const ScoreMap& map = parameter.map;
  const Halves halves = blocks_.halves(parameter.start, num_draws_);
  const ChainSums sums = sums_of_chains(d, halves);
  if (sums.chains == 0 || !std::isfinite(sums.sum) || !std::isfinite(sums.square)) return summary;
  const double size = sums.chains * num_draws_, mean = sums.sum / size;
  const double variance = (sums.square - size * mean * mean) / (size - 1);
  summary.mean = map.value_of(mean);
  if (!(variance > 1e-10 * mean * mean)) {  // what rounding leaves of draws that are all equal
    summary.sd = 0;
    summary.q05 = summary.q50 = summary.q95 = summary.mean;
    return summary;
  }
  summary.sd = std::sqrt(variance) / map.inverse_unit;
  summary.q05 = map.quantile(parameter.counts, 0.05);
  summary.q50 = map.quantile(parameter.counts, 0.50);
  summary.q95 = map.quantile(parameter.counts, 0.95);
  const std::int64_t length = num_draws_ - parameter.start;
  if (length < kFewestDraws) return summary;
  const double scored = sums.chains * length / (kScoreUnit * kScoreUnit);
  const RowVariances bulk = row_variances(sums.bulk_means, halves.length, sums.bulk_square / scored);
  const RowVariances folded = row_variances(sums.folded_means, halves.length, sums.folded_square / scored);
  const Superchains together = superchains();
  summary.rhat = together.empty()
                     ? std::max(rhat_of(bulk), rhat_of(folded))
                     : std::max(rhat_of_superchains(sums.bulk_means, sums.bulk_square / scored, together),
                                rhat_of_superchains(sums.folded_means, sums.folded_square / scored, together));
  add_sizes(d, halves, bulk, size, summary);
  return summary;
}

/// Effective sizes, from the lags and the halves of the tracked chains.
void StreamingSummary::add_sizes(std::int64_t d, const Halves& halves, const RowVariances& bulk, double size,
                                 ParameterSummary& summary) const {
  const Parameter& parameter = parameters_[d];
  const std::int64_t length = num_draws_ - parameter.start, waiting = length % kFrame;
  LagSums lags = parameter.lags;
  std::array<std::vector<double>, kFeatures> means;
  for (std::int64_t slot = 0; slot < std::ssize(tracked_); ++slot) {
    if (excluded_[tracked_[slot]]) continue;
    const Track& track = tracks_[slot * dim_ + d];
    if (waiting > 0 && length < kManyDraws) {
      LagTrack last = track.lags;
      last.enter(static_cast<int>(waiting), length - waiting, parameter.map, lags);
    }
    for (int f = 0; f < kFeatures; ++f) {
      halves.append_means([&](int k) { return double{track.blocks[k][f]}; }, means[f]);
    }
  }
  if (means[0].empty()) return;
  std::array<double, kFeatures> ess;
  for (int f = 0; f < kFeatures; ++f) {
    const LagCurve curve(lags, f);
    const RowVariances tracked = row_variances(means[f], halves.length, curve.at_zero());
    RowVariances rows = f == 1 ? bulk : tracked;
    rows.rows = bulk.rows;
    // Draws before the start count too: the chains are taken to have mixed then as they did later.
    ess[f] = ess_of_curve(rows, tracked, curve) * num_draws_ / length;
    if (f > 1 && !(tracked.within > 0)) ess[f] = size;  // the indicator is the same for all
  }
  summary.mcse_mean = summary.sd / std::sqrt(ess[0]);
  summary.ess_bulk = ess[1];
  summary.ess_tail = std::min(ess[2], ess[3]);
}

std::vector<ParameterSummary> StreamingSummary::results(const std::vector<std::string>& names, int threads) const {
  std::vector<ParameterSummary> summaries(dim_);
  std::exception_ptr failure;  // an exception may not leave a parallel region
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (std::int64_t d = 0; d < dim_; ++d) {
    try {
      summaries[d] = streaming_ ? streamed_figures(d) : exact_figures(d);
      summaries[d].name = names[d];
    } catch (...) {
#pragma omp critical(kilochain_streaming_failure)
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
  return summaries;
}

}  // namespace kilochain
