// The summary table: one parameter per row, worst first, so that what needs attention is read first.
// Columns variable mean sd mcse q5 q50 q95 ess_bulk ess_tail rhat; names to the left, numbers to the right. Mean and
// quantiles carry the decimals that the parameter's Monte Carlo error allows, so rows can be compared digit by digit.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "host/diagnostics/summary.hpp"

namespace kilochain {

/// The smaller of ess_bulk and ess_tail; NaN when either is.
double worst_ess(const ParameterSummary& parameter);

/// Worst first: parameters without ESS, then by worst_ess ascending, then by rhat descending, then as given.
std::vector<ParameterSummary> worst_first(std::vector<ParameterSummary> parameters);

/// The table as text, at most `max_rows` parameters and then how many more there are.
std::string format_table(const std::vector<ParameterSummary>& parameters, std::int64_t max_rows = 20);

}  // namespace kilochain
