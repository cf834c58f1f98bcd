// Potential scale reduction: do the chains agree with each other, and each with itself?
// rhat_split: sqrt((B / W + n - 1) / n) over half chains of n draws, W mean variance within, B n times the variance of
// the half chains' means (Gelman, Rubin 1992; split). The rank-normalised one of the summary table, the larger of bulk
// and folded draws (Vehtari, Gelman, Simpson, Carpenter, Buerkner 2021), is summarise's (summary.hpp), which has the
// ranks. NaN for fewer than 4 draws a chain, a non-finite draw, or draws that are all equal; huge or infinite for
// chains that never move from different points. One chain is enough (its halves are compared; ArviZ returns NaN there).
// Between groups (nested R-hat: Margossian, Hoffman, Sountsov, Riou-Durand, Vehtari, Gelman 2024): chains that began
// together are one superchain, sqrt(1 + B / W) with B the variance of the superchains' means. R-hat of single chains
// stays above 1 by the noise of each, this one by that of a whole group: many short chains can show that they agree.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "host/statistics/ranks.hpp"
#include "host/statistics/series.hpp"

namespace kilochain {

/// Classic split R-hat of the draws themselves.
double rhat_split(const Series& series);

/// sqrt((n between / within + n - 1) / n) for rows of n.
double rhat_of(const RowVariances& variances);
/// Variances of rows of `length` values from their means and the mean square of all values.
RowVariances row_variances(std::span<const double> means, std::int64_t length, double mean_square);

/// Which chains began together: of each chain of a series its superchain, 0 .. count - 1. Empty: each is alone.
struct Superchains {
  std::vector<int> of_chain;
  int count = 0;
  /// Chain c of a run is in superchain c mod count; `chains`: the numbers of those that count. count < 2: none.
  Superchains() = default;
  Superchains(std::span<const std::int64_t> chains, std::int64_t superchains);
  bool empty() const { return of_chain.empty(); }
};
/// Of the halves of superchains, from the means of the halves of their chains (2 chain + half) and the mean square of
/// all.
double rhat_of_superchains(std::span<const double> means, double mean_square, const Superchains& superchains);

}  // namespace kilochain
