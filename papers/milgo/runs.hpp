// The runs of one cell: chains side by side, the three quantities of each run, mean and deviation over runs.
// The share inside a region needs no second evaluation: a twisted Gaussian's lp is its quadratic form.
#pragma once
#include <array>
#include <atomic>
#include <functional>
#include <vector>

#include "papers/milgo/paper.hpp"

namespace kilochain::milgo {

/// Mean and standard deviation of numbers that are independent, and the standard errors of both.
struct Spread {
  double mean, sd, mean_error, sd_error;
};
Spread spread_of(const std::vector<double>& values);

struct CellResult {
  Cell cell;
  std::array<std::vector<double>, num_figures>
      runs;                            ///< one number for each run: the error of the mean, percentage points
  double acceptance = 0, seconds = 0;  ///< over the draws; CPU seconds of all runs
  std::size_t num_runs() const { return runs[0].size(); }
  /// Chains that share what they learn are not independent: their errors are those between two or more populations.
  Spread spread(Figure f) const;
};

/// Runs first .. first + count - 1 of a cell; a run's numbers depend on seed and its number alone, unless chains are
/// pooled: then a hundred share what they learn. Stops early, with fewer runs, when `stop` becomes true.
CellResult run_cell(const Cell& cell, Index first, Index count, std::uint64_t seed, const std::atomic<bool>& stop,
                    const std::function<void(double fraction)>& tick = nullptr);

/// Every thin-th draw of the first `count` runs: (count * draws, dim), for the figure.
std::vector<std::vector<double>> draws_of(const Cell& cell, Index count, std::int64_t thin, std::uint64_t seed);

/// Runs that say how uncertain their own deviation is; fewer of them are reported, and compared with nothing.
inline constexpr std::size_t fewest_compared = 10;

/// One of the cell's published numbers against ours. The paper's errors have no sign: they are compared with |ours|.
struct Comparison {
  Figure figure;
  bool deviation;  ///< the standard deviation over runs, else the mean
  double ours, published, z;
  std::string reason;  ///< where |z| > 4: known_reason
};
std::vector<Comparison> compare(const CellResult& result);

}  // namespace kilochain::milgo
