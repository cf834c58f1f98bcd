#include "host/statistics/rhat.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kilochain {
namespace {

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

Superchains::Superchains(std::span<const std::int64_t> chains, std::int64_t superchains) {
  if (superchains < 2) return;
  count = static_cast<int>(superchains);
  for (const std::int64_t c : chains) of_chain.push_back(static_cast<int>(c % superchains));
}

double rhat_of_superchains(std::span<const double> means, double mean_square, const Superchains& superchains) {
  struct Row {
    double sum = 0, count = 0;
  };
  std::vector<Row> rows(static_cast<std::size_t>(2 * superchains.count));
  for (std::size_t r = 0; r < means.size(); ++r) {
    Row& row = rows[static_cast<std::size_t>(2 * superchains.of_chain[r / 2]) + r % 2];
    row.sum += means[r], ++row.count;
  }
  std::erase_if(rows, [](const Row& row) { return row.count == 0; });  // all of its chains are quarantined
  const double n = static_cast<double>(rows.size());
  double mean = 0, squares = 0, between = 0;
  for (const Row& row : rows) {
    mean += row.sum / row.count / n;
    squares += row.sum * row.sum / row.count / static_cast<double>(means.size());
  }
  for (const Row& row : rows) between += (row.sum / row.count - mean) * (row.sum / row.count - mean) / (n - 1);
  return std::sqrt(1 + between / std::max(0.0, mean_square - squares));
}

double rhat_split(const Series& series) {
  return has_diagnostics(series) ? rhat_of(row_variances(SplitRows(series))) : NAN;
}

}  // namespace kilochain
