// Potential scale reduction: do the chains agree with each other, and each with itself?
// rhat_split: sqrt((B / W + n - 1) / n) over half chains of n draws, W mean variance within, B n times the variance of
// the half chains' means (Gelman, Rubin 1992; split). The rank-normalised one of the summary table, the larger of bulk
// and folded draws (Vehtari, Gelman, Simpson, Carpenter, Buerkner 2021), is summarise's (summary.hpp), which has the
// ranks. NaN for fewer than 4 draws a chain, a non-finite draw, or draws that are all equal; huge or infinite for
// chains that never move from different points. One chain is enough (its halves are compared; ArviZ returns NaN there).
#pragma once
#include <cstdint>
#include <span>

#include "host/statistics/ranks.hpp"
#include "host/statistics/series.hpp"

namespace kilochain {

/// Classic split R-hat of the draws themselves.
double rhat_split(const Series& series);

/// sqrt((n between / within + n - 1) / n) for rows of n.
double rhat_of(const RowVariances& variances);
/// Variances of rows of `length` values from their means and the mean square of all values.
RowVariances row_variances(std::span<const double> means, std::int64_t length, double mean_square);

}  // namespace kilochain
