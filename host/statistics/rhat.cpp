#include "host/statistics/rhat.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace kilochain {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Of a few numbers.
Moments moments_of_vector(const std::vector<double>& x) { return moments_of(Series{x.data(), 1, std::ssize(x)}); }

RowVariances row_variances(const SplitRows& split) {
  std::vector<double> means(split.rows);
  double within = 0;
  for (std::int64_t r = 0; r < split.rows; ++r) {
    const Moments row = moments_of(Series{split.row(r), 1, split.length});
    means[r] = row.mean;
    within += row.sd * row.sd / split.rows;
  }
  const double spread = moments_of_vector(means).sd;
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

double rhat_nested(const Series& series, std::int64_t superchains) {
  require(superchains >= 2 && series.chains % superchains == 0, ExitStatus::usage,
          "chains do not fall into equal superchains",
          std::to_string(series.chains) + " chains, " + std::to_string(superchains) + " superchains",
          "Choose at least 2 superchains, a divisor of the number of chains?");
  const Extent range = range_of(series);
  if (series.draws < 1 || !range.finite || range.constant()) return kNaN;
  const std::int64_t chains = series.chains / superchains;
  std::vector<double> super_means(superchains), chain_means(chains);
  double within = 0;
  for (std::int64_t k = 0; k < superchains; ++k) {
    double inside = 0;
    for (std::int64_t m = 0; m < chains; ++m) {
      const Moments chain = moments_of(Series{series.values + (k * chains + m) * series.draws, 1, series.draws});
      chain_means[m] = chain.mean;
      if (series.draws > 1) inside += chain.sd * chain.sd / chains;
    }
    const Moments super = moments_of_vector(chain_means);
    super_means[k] = super.mean;
    within += (inside + (chains > 1 ? super.sd * super.sd : 0)) / superchains;
  }
  const double between = moments_of_vector(super_means).sd;
  return std::sqrt(1 + between * between / within);
}

}  // namespace kilochain
