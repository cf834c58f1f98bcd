#include "host/run/run_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/error.hpp"
#include "host/statistics/chain_figures.hpp"
#include "host/statistics/ranks.hpp"

namespace kilochain {
namespace {

/// Sorted, or empty when a value is NaN.
std::vector<double> sorted_or_empty(std::vector<double> values) {
  if (std::any_of(values.begin(), values.end(), [](double x) { return std::isnan(x); })) return {};
  std::sort(values.begin(), values.end());
  return values;
}

double quantile(const std::vector<double>& sorted, double p) {
  return quantile_of_sorted(sorted.data(), std::ssize(sorted), p);
}

bool is_fixed(const RunSummary& run, const ParameterSummary& p) {
  if (!std::isnan(p.rhat)) return false;  // it moves, whatever was thought of it
  const bool constant = std::isfinite(p.mean) && !(p.sd > 1e-12 * std::abs(p.mean));
  return (run.derived && constant) || std::find(run.fixed.begin(), run.fixed.end(), p.name) != run.fixed.end();
}

/// Draws of each chain with which R-hat of a parameter could be below its bar, where nothing but their number holds it
/// above; 0 where chains disagree.
std::int64_t draws_wanted(const RunSummary& run, const ParameterSummary& p) {
  const double chains = static_cast<double>(run.superchains > 1 ? run.superchains : run.num_chains - run.quarantined),
               draws = static_cast<double>(run.num_samples / run.thin);
  // Chains that disagree have few effective draws as well, but then far fewer of each chain.
  const double effective = chains > 0 ? worst_ess(p) / chains : 0;
  if (!(effective >= 10) || !(p.rhat - 1 <= 1.5 * (std::sqrt(1 + 2 / effective) - 1))) return 0;
  const double wanted = draws * (p.rhat * p.rhat - 1) * ess_for_rhat / 2;
  return static_cast<std::int64_t>(std::ceil(wanted / 10 - 1e-9) * 10);
}

}  // namespace

nlohmann::json number_or_null(double x) { return std::isfinite(x) ? nlohmann::json(x) : nlohmann::json(nullptr); }

double per_second(double count, double seconds) { return seconds > 0 ? count / seconds : NAN; }

Extremes extremes_of(const RunSummary& run) {
  std::vector<double> bulk, worst, rhat;
  for (const ParameterSummary& parameter : run.parameters) {
    if (is_fixed(run, parameter)) continue;
    bulk.push_back(parameter.ess_bulk);
    worst.push_back(worst_ess(parameter));
    rhat.push_back(parameter.rhat);
  }
  bulk = sorted_or_empty(bulk), worst = sorted_or_empty(worst), rhat = sorted_or_empty(rhat);
  return {quantile(bulk, 0), quantile(bulk, 0.5), quantile(bulk, 1), quantile(worst, 0), quantile(rhat, 1)};
}

void set_acceptance(RunSummary& run, std::vector<double> per_chain, const std::vector<std::int64_t>& numbers) {
  run.stuck_chains.clear();
  for (std::size_t k = 0; k < per_chain.size(); ++k)
    if (!std::isnan(per_chain[k]) && accepts_nothing(per_chain[k]))
      run.stuck_chains.push_back(numbers.empty() ? static_cast<std::int64_t>(k) : numbers[k]);
  run.stuck = std::ssize(run.stuck_chains);
  double sum = 0;
  for (const double rate : per_chain) sum += rate;
  const std::vector<double> sorted = sorted_or_empty(std::move(per_chain));
  run.acceptance_mean = sorted.empty() ? NAN : sum / sorted.size();
  run.acceptance_q05 = quantile(sorted, 0.05);
  run.acceptance_q50 = quantile(sorted, 0.50);
  run.acceptance_q95 = quantile(sorted, 0.95);
}

std::string rhat_text(double rhat) { return rhat < 1e4 ? fmt::format("{:.4f}", rhat) : fmt::format("{:.4g}", rhat); }

Verdict verdict_of(const RunSummary& run) {
  Verdict v{};
  const auto add = [&](const std::string& why) { v.reason += (v.reason.empty() ? "" : "; ") + why; };
  if (run.warmup_converged == false)
    add("the warm-up has " + (run.warmup_note.empty() ? "not converged" : run.warmup_note));
  if (run.last_of_warmup) add("nothing was drawn");
  if (run.stuck > 0) add(fmt::format("{} of {} chains accepted nothing", run.stuck, run.num_chains - run.quarantined));
  const ParameterSummary* worst = nullptr;
  for (const ParameterSummary& p : run.parameters)
    if (!is_fixed(run, p) && !(p.rhat <= rhat_bar) &&
        (!worst || (!std::isnan(worst->rhat) && !(p.rhat <= worst->rhat))))
      worst = &p;
  if (!run.flat.empty())
    add("the density does not fall off along " + run.flat + ": without a prior there is no posterior");
  else if (worst && std::isnan(worst->rhat))
    add(worst->name + " has no R-hat: fewer than 4 draws of each chain, or draws that are all equal");
  else if (worst) {
    v.draws_wanted = run.last_of_warmup ? 0 : draws_wanted(run, *worst);
    add(fmt::format("R-hat of {} is {}, above {}", worst->name, rhat_text(worst->rhat), rhat_bar) +
        (v.draws_wanted > 0
             ? fmt::format(", as that of so short chains must be: about {} draws of each are needed", v.draws_wanted)
             : ""));
  } else if (run.parameters.empty() && run.draws != KeptDraws::none && !run.last_of_warmup)
    add("nothing was drawn");
  v.converged = v.reason.empty();
  v.judged = !(run.draws == KeptDraws::none && !run.warmup_converged);
  return v;
}

int status_of(const RunSummary& run) {
  if (run.quarantined > 0) return exit_code(ExitStatus::quarantined);
  return exit_code(verdict_of(run).converged ? ExitStatus::done : ExitStatus::not_converged);
}

nlohmann::json to_json(const RunSummary& run) {
  const Extremes of_parameters = extremes_of(run),
                 extremes = run.last_of_warmup ? Extremes{NAN, NAN, NAN, NAN, NAN} : of_parameters;
  const Verdict verdict = verdict_of(run);
  auto parameters = nlohmann::json::array();
  for (const ParameterSummary& parameter : run.parameters) {
    nlohmann::json row = {{"name", parameter.name}};
    for (const SummaryColumn& column : summary_columns) row[column.name] = number_or_null(parameter.*column.figure);
    parameters.push_back(std::move(row));
  }
  nlohmann::json out = {{"target", run.target},
                        {"sampler", run.sampler},
                        {"device", run.device},
                        {"real", name_of(run.real)},
                        {"num_chains", run.num_chains},
                        {"num_warmup", run.num_warmup},
                        {"num_samples", run.num_samples},
                        {"seconds",
                         {{"warmup", number_or_null(run.seconds_warmup)},
                          {"sampling", number_or_null(run.seconds_sampling)},
                          {"total", number_or_null(run.seconds_total)}}},
                        {"acceptance_rate",
                         {{"mean", number_or_null(run.acceptance_mean)},
                          {"q05", number_or_null(run.acceptance_q05)},
                          {"q95", number_or_null(run.acceptance_q95)}}},
                        {"gradient_evaluations", run.gradient_evaluations},
                        {"ess",
                         {{"min", number_or_null(extremes.ess_min)},
                          {"median", number_or_null(extremes.ess_median)},
                          {"max", number_or_null(extremes.ess_max)}}},
                        {"min_ess_per_second", number_or_null(per_second(extremes.worst_ess, run.seconds_total))},
                        {"rhat_max", number_or_null(extremes.rhat_max)},
                        {"superchains", run.superchains},
                        {"quarantined", run.quarantined},
                        {"divergences", run.divergences},
                        {"finished", run.finished},
                        {"converged", verdict.judged ? nlohmann::json(verdict.converged) : nlohmann::json(nullptr)},
                        {"parameters", std::move(parameters)}};
  if (!verdict.converged) out["reason"] = verdict.reason;
  if (!run.equal_modes.empty()) out["equal_modes"] = run.equal_modes;
  if (!run.unequal_modes.empty()) out["unequal_modes"] = run.unequal_modes;
  if (!run.stuck_chains.empty()) out["stuck_chains"] = run.stuck_chains;
  if (run.last_of_warmup) {
    const LastOfWarmup& last = *run.last_of_warmup;
    out["last_of_warmup"] = {{"iterations", {last.from, last.to}},
                             {"draws", last.draws},
                             {"of", last.of_scouts ? "scouts" : "chains"},
                             {"rhat_max", number_or_null(of_parameters.rhat_max)},
                             {"stuck_chains", run.stuck_chains},
                             {"parameters", std::exchange(out["parameters"], nlohmann::json::array())}};
  }
  if (!run.without.empty()) out["without_chains"] = run.without;
  if (run.resumes_from >= 0) out["resumes_from"] = run.resumes_from;
  return out;
}

}  // namespace kilochain
