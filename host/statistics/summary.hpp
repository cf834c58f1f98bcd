// Everything the summary table says about one parameter, with the work shared: one sort gives quantiles, ranks and
// folded ranks; one set of row variances serves R-hat and bulk ESS. Single-threaded: the caller runs parameters side by
// side. Definitions: ess.hpp, rhat.hpp, ranks.hpp.
// Cost for S draws, one core: 15 to 20 ns a draw of 3e5 when chains mix well, 40 of 2e7, and ten times that when lags
// run into the thousands; scratch 42 S bytes at the peak.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "host/statistics/rhat.hpp"

namespace kilochain {

/// Units of the parameter, but ess_* in draws and rhat without unit; NaN: there is no such figure.
struct ParameterSummary {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::string name;
  double mean = none, sd = none, mcse_mean = none, q05 = none, q50 = none, q95 = none, ess_bulk = none, ess_tail = none,
         rhat = none;
};

enum class FigureUnit { parameter, draws, ratio };

/// One figure wherever it appears: its name in JSON and in files, its title in the table.
struct SummaryColumn {
  const char *name, *title;
  double ParameterSummary::*figure;
  FigureUnit unit;
};
/// All of them, in their order.
inline constexpr SummaryColumn summary_columns[] = {
    {"mean", "mean", &ParameterSummary::mean, FigureUnit::parameter},
    {"sd", "sd", &ParameterSummary::sd, FigureUnit::parameter},
    {"mcse_mean", "mcse", &ParameterSummary::mcse_mean, FigureUnit::parameter},
    {"q05", "q5", &ParameterSummary::q05, FigureUnit::parameter},
    {"q50", "q50", &ParameterSummary::q50, FigureUnit::parameter},
    {"q95", "q95", &ParameterSummary::q95, FigureUnit::parameter},
    {"ess_bulk", "ess_bulk", &ParameterSummary::ess_bulk, FigureUnit::draws},
    {"ess_tail", "ess_tail", &ParameterSummary::ess_tail, FigureUnit::draws},
    {"rhat", "rhat", &ParameterSummary::rhat, FigureUnit::ratio},
};

/// The smaller of ess_bulk and ess_tail; NaN when either is.
double worst_ess(const ParameterSummary& parameter);

/// Worst first: parameters without ESS, then by worst_ess ascending, then by rhat descending, then as given.
std::vector<ParameterSummary> worst_first(std::vector<ParameterSummary> parameters);

/// ess_bulk: of the rank-normalised draws; ess_tail: the smaller one of the indicators of the 5 % and 95 % quantiles;
/// mcse_mean: sd / sqrt(ess_mean); rhat: the larger of split R-hat of the rank-normalised draws and of the folded ones,
/// |x - median|, between superchains where there are. A non-finite draw makes every figure NaN. Fewer than 4 draws a
/// chain, or draws that are all equal, leave mean, sd and quantiles, and make mcse_mean, ess_bulk, ess_tail and rhat
/// NaN.
ParameterSummary summarise(const std::string& name, const Series& series, const Superchains& superchains = {});

/// values[chain][draw][column], with room for some more draws of each chain.
template <class Real>
struct DrawsOfChains {
  const Real* values;
  std::int64_t chains, num_draws, columns, room;
};

/// The first parameters of the draws, those that have names, in parallel, in double whatever Real is. Chains listed in
/// `excluded` (quarantined ones) are left out; superchains: how many, less than 2: none. Scratch: that of summarise per
/// thread, and gathered_bytes.
template <class Real>
std::vector<ParameterSummary> summarise_draws(const std::vector<std::string>& names, const DrawsOfChains<Real>& draws,
                                              std::span<const std::int64_t> excluded = {},
                                              std::int64_t superchains = 0);
/// The same of draws[chain][draw][parameter].
inline std::vector<ParameterSummary> summarise_draws(const std::vector<std::string>& names, const double* draws,
                                                     std::int64_t chains, std::int64_t num_draws,
                                                     std::span<const std::int64_t> excluded = {},
                                                     std::int64_t superchains = 0) {
  return summarise_draws<double>(names, {draws, chains, num_draws, std::ssize(names), num_draws}, excluded,
                                 superchains);
}

/// Parameters that are gathered in one pass over draws of so many bytes a value, and the bytes of their values in
/// double: 1 GiB at most, or one parameter a thread.
std::int64_t gathered_together(std::int64_t num_parameters, std::int64_t num_values, std::size_t bytes_of_one,
                               std::int64_t threads);

}  // namespace kilochain
