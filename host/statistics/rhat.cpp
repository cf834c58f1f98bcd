#include "host/statistics/rhat.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace kilochain {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

RowVariances row_variances(const SplitRows& split) {
  std::vector<double> means(split.rows);
  double within = 0;
  for (std::int64_t r = 0; r < split.rows; ++r) {
    const Moments row = moments_of(Series{split.row(r), 1, split.length});
    means[r] = row.mean;
    within += row.sd * row.sd / split.rows;
  }
  const double spread = moments_of(Series{means.data(), 1, split.rows}).sd;
  return {split.rows, split.length, within, spread * spread};
}

}  // namespace

RowVariances row_variances(std::span<const double> means, std::int64_t length, double mean_square) {
  const double rows = means.size(), n = length;
  double mean = 0, squares = 0, between = 0;
  for (const double m : means) mean += m / rows, squares += m * m / rows;
  for (const double m : means) between += (m - mean) * (m - mean);
  const double within = std::max(0.0, mean_square - squares) * n / (n - 1);
  return {std::ssize(means), length, within, between / (rows - 1)};
}

double rhat_of(const RowVariances& variances) {
  const double n = variances.length;
  return std::sqrt((n * variances.between / variances.within + n - 1) / n);
}

double rhat_split(const Series& series) {
  return has_diagnostics(series) ? rhat_of(row_variances(SplitRows(series))) : kNaN;
}

}  // namespace kilochain
