#include "host/diagnostics/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace kilochain {
namespace {

constexpr int kColumns = 10;
using Row = std::array<std::string, kColumns>;
const Row kTitles = {"variable", "mean", "sd", "mcse", "q5", "q50", "q95", "ess_bulk", "ess_tail", "rhat"};

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

Row row_of(const ParameterSummary& p) {
  const int decimals = decimals_of(p);
  return {p.name,
          value(p.mean, decimals),
          value(p.sd, decimals),
          value(p.mcse_mean, decimals),
          value(p.q05, decimals),
          value(p.q50, decimals),
          value(p.q95, decimals),
          fmt::format("{:.0f}", p.ess_bulk),
          fmt::format("{:.0f}", p.ess_tail),
          fmt::format("{:.4f}", p.rhat)};
}

}  // namespace

double worst_ess(const ParameterSummary& parameter) {
  if (std::isnan(parameter.ess_bulk) || std::isnan(parameter.ess_tail)) return std::numeric_limits<double>::quiet_NaN();
  return std::min(parameter.ess_bulk, parameter.ess_tail);
}

std::vector<ParameterSummary> worst_first(std::vector<ParameterSummary> parameters) {
  const auto ess = [](const ParameterSummary& p) {
    const double worst = worst_ess(p);
    return std::isnan(worst) ? -1 : worst;
  };
  const auto rhat = [](const ParameterSummary& p) {
    return std::isnan(p.rhat) ? std::numeric_limits<double>::infinity() : p.rhat;
  };
  std::stable_sort(parameters.begin(), parameters.end(), [&](const ParameterSummary& a, const ParameterSummary& b) {
    return ess(a) != ess(b) ? ess(a) < ess(b) : rhat(a) > rhat(b);
  });
  return parameters;
}

std::string format_table(const std::vector<ParameterSummary>& parameters, std::int64_t max_rows) {
  const std::vector<ParameterSummary> ordered = worst_first(parameters);
  const auto count = static_cast<std::int64_t>(ordered.size()), shown = std::clamp<std::int64_t>(max_rows, 0, count);
  std::vector<Row> rows = {kTitles};
  for (std::int64_t i = 0; i < shown; ++i) rows.push_back(row_of(ordered[i]));
  std::array<std::size_t, kColumns> widths{};
  for (const Row& row : rows) {
    for (int c = 0; c < kColumns; ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const Row& row : rows) {
    text += fmt::format("{:<{}}", row[0], widths[0]);
    for (int c = 1; c < kColumns; ++c) text += fmt::format("  {:>{}}", row[c], widths[c]);
    text += '\n';
  }
  if (shown < count) text += fmt::format("... {} more, all at least as good\n", count - shown);
  return text;
}

}  // namespace kilochain
