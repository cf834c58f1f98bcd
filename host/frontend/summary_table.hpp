// The summary table: one parameter per row, worst first, so that what needs attention is read first.
// Columns: variable, then summary_columns; names to the left, numbers to the right. Mean and
// quantiles carry the decimals that the parameter's Monte Carlo error allows, so rows can be compared digit by digit.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "host/run/run_summary.hpp"

namespace kilochain {

/// The table as text, at most `max_rows` parameters and then how many more there are.
std::string format_table(const std::vector<ParameterSummary>& parameters, std::int64_t max_rows = 20);

/// Head lines (settings, time, acceptance over chains, quarantined chains, ESS per second), then the table.
void print_summary(std::ostream& out, const RunSummary& run, std::int64_t max_rows = 20);

}  // namespace kilochain
