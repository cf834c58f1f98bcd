// What tells one chain from the others, a parameter at a time.
// Places: the mean normal score of each chain's draws (ranks.hpp), so that neither heavy tails nor units matter.
// se is what the halves of a chain differ by, 1.4826 median |h1 - h2| / 2 (times 1 + 10 / chains):
// how far apart means lie where all chains draw from one law. Of N numbers from one normal law the largest is below 6
// se for N up to 1e8.
#pragma once
#include <cstdint>
#include <vector>

#include "host/statistics/series.hpp"

namespace kilochain {

/// Where the chains of one parameter are. Empty where the parameter has no diagnostics.
struct Places {
  std::vector<double> at;  ///< of each chain
  double centre = 0, se = 0;
  /// In se from the median of all chains.
  double out(std::int64_t chain) const { return (at[static_cast<std::size_t>(chain)] - centre) / se; }
};
inline constexpr double far_out = 6;  ///< in se

/// Of a chain's mean acceptance.
inline bool accepts_nothing(double acceptance) { return !(acceptance > 1e-3); }

/// Cost: one sort.
Places places_of(const Series& series);

/// For each chain the number of its group: sorted by place, a gap of more than far_out se begins another. Groups are
/// numbered in that order.
std::vector<int> groups_of(const Places& places);

/// Mean squared step over the variance of one chain's numbers: 2 (1 - rho) for their correlation rho from draw to draw.
/// Of energies it is E-BFMI (Betancourt 2016): below 0.3 the momenta change the energy too little to reach the tails.
/// NaN for fewer than 4 numbers or equal ones. Real: float or double.
template <class Real>
double steps_over_variance(const Real* values, std::int64_t count);

/// Means of `blocks` equal parts of each chain, [chain][blocks]; the first draws that do not fill a part are left out.
std::vector<double> block_means(const Series& series, std::int64_t blocks);

/// F_c(u) - u at u = 1/(points + 1), ..., [chain][points]: the share of a chain's draws among the lowest u of all
/// draws, less u. Of chains that agree it is 0 but for noise. Cost: one sort.
std::vector<double> rank_ecdf_differences(const Series& series, std::int64_t points);

/// Median of what is finite; NaN of nothing.
double median_of(std::vector<double> values);

}  // namespace kilochain
