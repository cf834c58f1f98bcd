#include "host/frontend/summary_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace kilochain {
namespace {

using Row = std::vector<std::string>;  // the variable, then summary_columns

Row titles() {
  Row row = {"variable"};
  for (const SummaryColumn& column : summary_columns) row.push_back(column.title);
  return row;
}

/// Decimals so that two digits of the Monte Carlo error (or else of the spread) show.
int decimals_of(const ParameterSummary& parameter) {
  const double unit = parameter.mcse_mean > 0 ? parameter.mcse_mean : parameter.sd / 100;
  if (!(unit > 0) || !std::isfinite(unit)) return 4;
  return std::clamp(1 - static_cast<int>(std::floor(std::log10(unit))), 0, 12);
}

/// Fixed point, or scientific where that would need a very wide column.
std::string value(double x, int decimals) {
  if (!std::isfinite(x)) return fmt::format("{}", x);
  return decimals > 8 || std::abs(x) >= 1e9 ? fmt::format("{:.4e}", x) : fmt::format("{:.{}f}", x, decimals);
}

Row row_of(const ParameterSummary& parameter) {
  const int decimals = decimals_of(parameter);
  Row row = {parameter.name};
  for (const SummaryColumn& column : summary_columns) {
    const double x = parameter.*column.figure;
    row.push_back(column.unit == FigureUnit::parameter ? value(x, decimals)
                  : column.unit == FigureUnit::draws   ? fmt::format("{:.0f}", x)
                                                       : fmt::format("{:.4f}", x));
  }
  return row;
}

std::string format_head(const RunSummary& run) {
  const Extremes extremes = extremes_of(run);
  std::string text = fmt::format("{} on {}: {} chains, {} warm-up + {} samples each{} ({}, {})\n", run.sampler,
                                 run.target, run.num_chains, run.num_warmup, run.num_samples,
                                 run.thin > 1 ? fmt::format(", every {}th kept", run.thin) : std::string(), run.device,
                                 name_of(run.real));
  text += fmt::format("time        {:.3g} s: warm-up {:.3g} s, sampling {:.3g} s; {} gradient evaluations\n",
                      run.seconds_total, run.seconds_warmup, run.seconds_sampling, run.gradient_evaluations);
  if (!run.warmup_converged) {
    text += fmt::format("warm-up     has NOT converged{}{}\n", run.warmup_note.empty() ? "" : ": ", run.warmup_note);
  } else if (!run.warmup_note.empty()) {
    text += fmt::format("warm-up     {}\n", run.warmup_note);
  }
  text += fmt::format("acceptance  mean {:.3f}; over chains 5% {:.3f}, 50% {:.3f}, 95% {:.3f}\n", run.acceptance_mean,
                      run.acceptance_q05, run.acceptance_q50, run.acceptance_q95);
  text += fmt::format("quarantined {} of {} chains{}\n", run.quarantined, run.num_chains,
                      run.quarantined > 0 ? " (left out of everything below)" : "");
  if (run.divergences > 0) {
    const auto draws = run.num_samples / run.thin * (run.num_chains - run.quarantined);
    text += fmt::format(
        "divergences {} of {} draws ({:.2g} %): in places the step is too long, or the density not finite. Raise "
        "target_accept, or reparametrise?\n",
        run.divergences, draws, 100.0 * run.divergences / draws);
  }
  text += fmt::format("min ESS     {:.0f}; per second {:.4g} with warm-up, {:.4g} without\n", extremes.worst_ess,
                      per_second(extremes.worst_ess, run.seconds_total),
                      per_second(extremes.worst_ess, run.seconds_sampling));
  text += fmt::format("max rhat    {:.4f}{}\n", extremes.rhat_max,
                      extremes.rhat_max < 1.01 ? "" : "  (not below 1.01: do not trust these numbers yet)");
  return text;
}

}  // namespace

std::string format_table(const std::vector<ParameterSummary>& parameters, std::int64_t max_rows) {
  const std::vector<ParameterSummary> ordered = worst_first(parameters);
  const std::int64_t count = std::ssize(ordered), shown = std::clamp<std::int64_t>(max_rows, 0, count);
  std::vector<Row> rows = {titles()};
  for (std::int64_t i = 0; i < shown; ++i) rows.push_back(row_of(ordered[i]));
  std::vector<std::size_t> widths(rows[0].size());
  for (const Row& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const Row& row : rows) {
    text += fmt::format("{:<{}}", row[0], widths[0]);
    for (std::size_t c = 1; c < row.size(); ++c) text += fmt::format("  {:>{}}", row[c], widths[c]);
    text += '\n';
  }
  if (shown < count) text += fmt::format("... {} more, all at least as good\n", count - shown);
  return text;
}

void print_summary(std::ostream& out, const RunSummary& run, std::int64_t max_rows) {
  out << format_head(run) << '\n' << format_table(run.parameters, max_rows);
}

}  // namespace kilochain
