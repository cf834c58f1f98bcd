// The draws of one parameter, and the same draws with every chain cut in two halves.
// Layout: row-major [chain][draw]. Split: [2 * chain + half][draws / 2]; of an odd number of draws the middle one is
// left out of the halves (as in Stan and ArviZ), but stays in means and quantiles. Views: nothing is owned or copied.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

namespace kilochain {

/// The draws of one parameter: values[chain * draws + draw].
struct Series {
  const double* values;
  std::int64_t chains, draws;
  std::int64_t size() const { return chains * draws; }
};

/// The halves of the chains of a series as 2 * chains rows of draws / 2.
struct SplitRows {
  explicit SplitRows(const Series& series)
      : values(series.values), draws(series.draws), rows(2 * series.chains), length(series.draws / 2) {}
  const double* row(std::int64_t r) const { return values + (r / 2) * draws + (r % 2 == 0 ? 0 : draws - length); }

  const double* values;
  std::int64_t draws, rows, length;
};

/// What decides whether diagnostics can be computed at all; one pass over the draws.
struct Extent {
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  bool finite = true;  ///< no NaN and no infinity anywhere
  bool constant() const { return finite && lowest == highest; }
};

inline Extent range_of(const Series& series) {
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  double zero = 0;  // x - x is 0 for numbers, NaN for NaN and the infinities
  const double* x = series.values;
  const std::int64_t n = series.size();
#pragma omp simd reduction(min : lowest) reduction(max : highest) reduction(+ : zero)
  for (std::int64_t i = 0; i < n; ++i) {
    lowest = x[i] < lowest ? x[i] : lowest;
    highest = x[i] > highest ? x[i] : highest;
    zero += x[i] - x[i];
  }
  return {lowest, highest, zero == 0};
}

/// Fewer draws per chain than this have no split-chain diagnostics.
inline constexpr std::int64_t kFewestDraws = 4;

/// Whether diagnostics exist: at least one chain of 4 draws, everything finite, not all draws equal.
inline bool has_diagnostics(const Series& series) {
  if (series.chains < 1 || series.draws < kFewestDraws) return false;
  const Extent range = range_of(series);
  return range.finite && !range.constant();
}

/// Of all draws, in double: two passes over each chain, about its own mean.
struct Moments {
  double mean, sd;  ///< sd with divisor S - 1; NaN for fewer than 2 draws
};

inline Moments moments_of(const Series& series) {
  const double draws = series.draws, size = series.size();
  double mean = 0, within = 0, between = 0;
  for (std::int64_t c = 0; c < series.chains; ++c) {
    const double* x = series.values + c * series.draws;
    double sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < series.draws; ++i) sum += x[i];
    const double own = sum / draws;
#pragma omp simd reduction(+ : squares)
    for (std::int64_t i = 0; i < series.draws; ++i) squares += (x[i] - own) * (x[i] - own);
    const double from_mean = own - mean, chains = c + 1;  // Chan, Golub, LeVeque 1983
    mean += from_mean / chains, between += from_mean * from_mean * (c / chains), within += squares;
  }
  return {size > 0 ? mean : std::nan(""), std::sqrt((within + draws * between) / (size - 1))};
}

}  // namespace kilochain
