#include "host/frontend/summary_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "host/frontend/text.hpp"
#include "host/registry/registry.hpp"
#include "host/report/diagnosis.hpp"

namespace kilochain {
namespace {

using Cells = std::vector<std::string>;  // the variable, then summary_columns

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

Cells row_of(const ParameterSummary& parameter) {
  const int decimals = decimals_of(parameter);
  Cells row = {parameter.name};
  for (const SummaryColumn& column : summary_columns) {
    const double x = parameter.*column.figure;
    row.push_back(column.unit == FigureUnit::parameter ? value(x, decimals)
                  : column.unit == FigureUnit::draws   ? fmt::format("{:.0f}", x)
                                                       : rhat_text(x));
  }
  return row;
}

std::string counted(std::int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// "5th"; numbers of people's language, which has 1st, 2nd, 3rd and 11th.
std::string ordinal(std::int64_t n) {
  const auto last = n / 10 % 10 == 1 ? 0 : n % 10;
  return fmt::format("{}{}", n, last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

/// What the run's work consisted of, by what its sampler asks for.
std::string work_of(const RunSummary& run) {
  Needs most = Needs::gradient;
  for (const SamplerEntry& e : samplers())
    if (e.name == run.sampler) most = e.needs.most();
  if (most == Needs::nothing) return counted(run.gradient_evaluations, "iteration") + " of all chains together";
  return counted(run.gradient_evaluations, most < Needs::gradient ? "density evaluation" : "gradient evaluation");
}

std::string format_head(const RunSummary& run) {
  std::string text = fmt::format("{} on {}: {}, {} warm-up + {} samples each{} ({}{})\n", run.sampler, run.target,
                                 counted(run.num_chains, "chain"), run.num_warmup, run.num_samples,
                                 run.thin > 1 ? fmt::format(", every {} kept", ordinal(run.thin)) : std::string(),
                                 run.device.empty() ? "" : run.device + ", ", name_of(run.real));
  if (std::isnan(run.seconds_total))
    text += "time        not known: the run did not come to its end\n";
  else
    text += fmt::format("time        {} s: warm-up {} s, sampling {} s; {}\n", cli::figure(run.seconds_total, 3),
                        cli::figure(run.seconds_warmup, 3), cli::figure(run.seconds_sampling, 3), work_of(run));
  if (run.warmup_converged == false) {
    const std::string& why = run.warmup_note;
    const std::string plain = "not converged";
    text += fmt::format("warm-up     has NOT converged{}\n", why.starts_with(plain) ? why.substr(plain.size())
                                                             : why.empty()          ? ""
                                                                                    : ": " + why);
  } else if (!run.warmup_note.empty()) {
    text += fmt::format("warm-up     {}\n", run.warmup_note);
  }
  if (const auto& last = run.last_of_warmup)
    text += fmt::format(
        "stopped     in its warm-up: nothing was drawn. What follows is of the last {} draws of each {} in the "
        "warm-up's "
        "iterations {} to {}\n",
        last->draws, last->of_scouts ? "scout (\"chain\")" : "chain", last->from, last->to);
  text += fmt::format("acceptance  mean {:.3f}; over chains 5% {:.3f}, 50% {:.3f}, 95% {:.3f}\n", run.acceptance_mean,
                      run.acceptance_q05, run.acceptance_q50, run.acceptance_q95);
  if (run.resumes_from >= 0)
    text += fmt::format(
        "killed      after the state of the chains was saved at {} draws of each: `kilochain resume` continues from "
        "there, and makes the {} after it again, the same\n",
        run.resumes_from, run.num_samples / run.thin - run.resumes_from);
  if (!run.without.empty())
    text += fmt::format("left out    {}, as asked\n", counted(std::ssize(run.without), "chain"));
  if (run.stuck > 0)
    text += fmt::format("stuck       {} accepted nothing: they stand where they were ({})\n",
                        counted(run.stuck, "chain"), chains_text(run.stuck_chains));
  text += fmt::format("quarantined {} of {}{}\n", run.quarantined, counted(run.num_chains, "chain"),
                      run.quarantined > 0 ? " (left out of everything below)" : "");
  for (const std::string& modes : {run.equal_modes, run.unequal_modes})
    if (!modes.empty()) text += fmt::format("modes       {}\n", modes);
  if (run.divergences > 0) {
    const auto draws = run.num_samples / run.thin * (run.num_chains - run.quarantined);
    text += fmt::format(
        "divergences {} of {} draws ({:.3g} %): in places the step is too long, or the density not finite. Raise "
        "target_accept, or reparametrise?\n",
        run.divergences, draws, 100.0 * run.divergences / draws);
  }
  if (run.draws == KeptDraws::none) return text + "draws       none were kept (--draws none): nothing to judge\n";
  const Extremes extremes = extremes_of(run);
  text += fmt::format("min ESS     {:.0f}", extremes.worst_ess);
  if (!std::isnan(run.seconds_total) && !run.last_of_warmup)
    text += fmt::format("; per second {} with warm-up, {} without",
                        cli::figure(per_second(extremes.worst_ess, run.seconds_total), 4),
                        cli::figure(per_second(extremes.worst_ess, run.seconds_sampling), 4));
  const std::int64_t wanted = verdict_of(run).draws_wanted;
  const std::string why = wanted > 0 ? fmt::format("chains too short to tell; about {} draws of each would do", wanted)
                                     : "do not trust these numbers yet";
  text += fmt::format("\nmax rhat    {}{}{}\n", rhat_text(extremes.rhat_max),
                      run.superchains > 1 ? fmt::format(" between {} superchains", run.superchains) : "",
                      extremes.rhat_max <= rhat_bar ? "" : fmt::format("  (not below {}: {})", rhat_bar, why));
  return text;
}

}  // namespace

std::string format_table(const std::vector<ParameterSummary>& parameters, std::int64_t max_rows) {
  const std::vector<ParameterSummary> ordered = worst_first(parameters);
  const std::int64_t count = std::ssize(ordered), shown = std::clamp<std::int64_t>(max_rows, 0, count);
  std::vector<Cells> rows = {{"variable"}};
  for (const SummaryColumn& column : summary_columns) rows[0].push_back(column.title);
  for (std::int64_t i = 0; i < shown; ++i) rows.push_back(row_of(ordered[i]));
  std::vector<std::size_t> widths(rows[0].size());
  for (const Cells& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const Cells& row : rows) {
    text += fmt::format("{:<{}}", row[0], widths[0]);
    for (std::size_t c = 1; c < row.size(); ++c) text += fmt::format("  {:>{}}", row[c], widths[c]);
    text += '\n';
  }
  if (shown < count) text += fmt::format("... {} more, all at least as good\n", count - shown);
  return text;
}

void print_summary(std::ostream& out, const RunSummary& run, std::int64_t max_rows) {
  out << format_head(run);
  if (run.draws != KeptDraws::none) out << '\n' << format_table(run.parameters, max_rows);
}

}  // namespace kilochain
