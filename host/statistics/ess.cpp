#include "host/statistics/ess.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace kilochain {
namespace {

/// Loads rows of the split series, each value through `map`.
template <class Map>
RowLoader loader(const SplitRows& split, Map map) {
  return [split, map](std::int64_t r, double* out) {
    const double* row = split.row(r);
    for (std::int64_t i = 0; i < split.length; ++i) out[i] = map(row[i]);
  };
}

/// The bits x <= threshold of the split series, as BitAutocovariance wants them.
std::vector<std::uint64_t> indicator_bits(const SplitRows& split, double threshold) {
  const std::int64_t words = BitAutocovariance::words_per_row(split.length);
  std::vector<std::uint64_t> bits(split.rows * words);
  for (std::int64_t r = 0; r < split.rows; ++r) {
    const double* row = split.row(r);
    std::uint64_t* out = bits.data() + r * words;
    for (std::int64_t first = 0; first < split.length; first += 64) {
      const std::int64_t count = std::min<std::int64_t>(64, split.length - first);
      std::uint64_t word = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        word |= std::uint64_t{row[first + i] <= threshold} << i;
      }
      out[first / 64] = word;
    }
  }
  return bits;
}

}  // namespace

double ess_below(const Series& series, double threshold) {
  const SplitRows split(series);
  BitAutocovariance covariance(split.rows, split.length, indicator_bits(split, threshold));
  return covariance.constant() ? series.size() : ess_of_rows(covariance);
}

double ess_mean(const Series& series) {
  if (!has_diagnostics(series)) return NAN;
  const SplitRows split(series);
  RealAutocovariance covariance(split.rows, split.length, loader(split, [](double x) { return x; }));
  return ess_of_rows(covariance);
}

double ess_square(const Series& series) {
  if (!has_diagnostics(series)) return NAN;
  const SplitRows split(series);
  const double mean = moments_of(series).mean;
  RealAutocovariance covariance(split.rows, split.length,
                                loader(split, [mean](double x) { return (x - mean) * (x - mean); }));
  return ess_of_rows(covariance);
}

double ess_paper(const double* x, std::int64_t n) {
  const Extent range = range_of(Series{x, 1, n});
  if (n < 2 || !range.finite || range.constant()) return NAN;
  RealAutocovariance covariance(1, n, [x, n](std::int64_t, double* out) { std::copy_n(x, n, out); });
  const double variance = covariance(0);
  double smallest = std::numeric_limits<double>::infinity(), sum = 0;
  for (std::int64_t lag = 0; lag + 1 < n && variance > 0; lag += 2) {
    smallest = std::min(smallest, (covariance(lag) + covariance(lag + 1)) / variance);
    if (!(smallest > 0)) break;
    sum += smallest;
  }
  return variance > 0 ? n / std::max(1.0, 2 * sum - 1) : NAN;
}

double ess_of_rows(Autocovariance& covariance) {
  return ess_of_covariances(covariance.rows(), covariance.length(), covariance.variance_within(),
                            covariance.variance_of_means(), [&](std::int64_t lag) { return covariance(lag); });
}

double ess_of_covariances(std::int64_t rows, std::int64_t n, double within, double between,
                          const std::function<double(std::int64_t)>& covariance) {
  const double var_plus = within * (n - 1) / n + between;
  if (!(var_plus > 0)) return NAN;
  const auto rho = [&](std::int64_t lag) { return 1 - (within - covariance(lag)) / var_plus; };

  // Pair sums rho_k + rho_{k+1}, k = 0, 2, 4, ..., as long as they are positive, never larger than the one before.
  double even = 1, odd = rho(1), smallest = std::numeric_limits<double>::infinity(), sum = 0;
  for (std::int64_t lag = 2; lag < n - 2 && even + odd > 0; lag += 2) {
    smallest = std::min(smallest, even + odd);
    sum += smallest;
    even = rho(lag);
    odd = rho(lag + 1);
  }
  // Of the pair that ended the sequence the even lag still counts: less bias for antithetic chains (Vehtari et al.).
  const double rest = even + odd >= 0 ? even : std::max(0.0, even);
  const double draws = rows * n;
  return draws / std::max(-1 + 2 * sum + rest, 1 / std::log10(draws));
}

}  // namespace kilochain
