#include "host/run/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "host/run/coordinate_name.hpp"
#include "host/run/flat.hpp"
#include "host/run/run_attributes.hpp"

namespace kilochain {
namespace {

/// What a run says of modes that are laid over each other.
std::string modes_in_words(std::size_t modes, const std::vector<double>& draws) {
  const double all = std::reduce(draws.begin(), draws.end());
  std::vector<std::string> shares;
  for (const double in_one : draws) shares.push_back(fmt::format("{:.3g}", in_one / all));
  return fmt::format("{}, laid over each other{}", modes,
                     all > 0 ? fmt::format("; they have {} of the draws", fmt::join(shares, ", ")) : "");
}

template <class Real>
RunSummary summary_of(const Phases<Real>& run, const WarmedUp& warm, const Sampled<Real>& sampled) {
  RunSummary s;
  s.target = run.options.target;
  s.sampler = run.options.sampler;
  s.device = run.context.name;
  s.real = precision_of<Real>;
  s.num_chains = run.options.num_chains;
  s.num_warmup = warm.iterations;
  s.num_samples = sampled.iterations;
  s.thin = run.options.thin;
  s.draws = run.options.draws;
  s.seconds_warmup = warm.seconds;
  s.seconds_sampling = sampled.seconds;
  s.seconds_total = warm.seconds + sampled.seconds;
  s.gradient_evaluations = warm.gradients + sampled.gradients;
  s.quarantined = run.chains.quarantine().size();
  s.divergences = sampled.divergences->count();
  s.finished = !sampled.interrupted;
  s.superchains = warm.superchains;
  s.warmup_converged = warm.converged;
  s.warmup_note = warm.note;
  s.fixed = run.target.info().fixed;
  if (run.coordinates && run.coordinates->symmetries().any())
    s.equal_modes = run.coordinates->symmetries().told() +
                    (run.options.equal_modes == EqualModes::all
                         ? "; each draw is in one of them at random (--equal-modes one: all in the same)"
                         : "; all draws are in one of them");
  if (run.coordinates && run.coordinates->overlay().any()) {
    s.unequal_modes = modes_in_words(run.coordinates->overlay().size(), sampled.in_modes);
    s.gradient_evaluations += run.coordinates->gradients_beside();
  }
  s.derived = bool(run.target.info().constrain);
  std::vector<double> acceptance;
  std::vector<std::int64_t> numbers;
  s.last_of_warmup = warm.last;
  for (std::int64_t chain = 0; const double rate : warm.last ? warm.last_acceptance : sampled.acceptance) {
    if (!std::isnan(rate)) acceptance.push_back(rate), numbers.push_back(chain);
    ++chain;
  }
  set_acceptance(s, std::move(acceptance), numbers);
  if (find_sampler(run.options.sampler).asks_nothing()) s.stuck = 0, s.stuck_chains.clear();  // cold spins may be right
  return s;
}

/// What `kilochain summary` cannot know from the draws alone.
nlohmann::json closing_attributes(const RunSummary& s, const Quarantine& quarantine, bool interrupted) {
  nlohmann::json a = {{"quarantined", quarantine.chains()}, {"interrupted", interrupted}};
  visit_attributes(WriteFields{a}, s);
  if (!s.fixed.empty()) a["fixed"] = nlohmann::json(s.fixed).dump();
  return a;
}

/// From where the draws are. The file is complete by then.
template <class Real>
std::vector<ParameterSummary> parameters_of(const Phases<Real>& run, const WarmedUp& warm, Sampled<Real>& sampled) {
  const ThreadsOf threads(run.context);
  std::vector<ParameterSummary> parameters;
  switch (sampled.draws > 0 ? sampled.summary_from : SummaryFrom::nothing) {
    case SummaryFrom::nothing:
      return {};
    case SummaryFrom::stream:
      parameters = sampled.streaming->summary().results(run.target.info().names, run.context.threads);
      parameters.resize(run.num_judged());
      return parameters;
    case SummaryFrom::memory:
      return sampled.parameters.empty() ? summary_in_memory(run, warm.superchains, run.num_judged(), *sampled.memory)
                                        : std::move(sampled.parameters);
    case SummaryFrom::file:
      return summarise_file(run.options.output).parameters;
  }
  return {};
}

/// Coordinates whose draws are those of their prior: 2 % in mean and width, where the errors are below a half of that.
std::vector<std::string> as_their_prior(const std::vector<ParameterSummary>& parameters, double sd) {
  std::vector<std::string> out;
  for (const ParameterSummary& p : parameters)
    if (sd > 0 && p.mcse_mean < 0.01 * sd && std::abs(p.mean) < 0.02 * sd && std::abs(p.sd / sd - 1) < 0.02)
      out.push_back(p.name);
  return out;
}

/// Of coordinates that no linear metric fits, or empty.
std::string unlike_a_gaussian(const WarmedUp& warm, const TargetInfo& info) {
  constexpr double low = 0.3;  // 1 of a Gaussian, 0.5 of Student's t with 3 degrees of freedom
  std::string names;
  std::int64_t count = 0;
  double least = 1;
  for (std::size_t i = 0; i < warm.agreement.size(); ++i)
    if (warm.agreement[i] < low) {
      least = std::min(least, warm.agreement[i]);
      if (count++ < 3) names += (names.empty() ? "" : ", ") + name_of_coordinate(info, static_cast<std::int64_t>(i));
    }
  if (names.empty()) return "";
  return fmt::format(
      "no linear metric fits {} of {} coordinates ({}{}): there position and gradient agree at {:.2f}, a Gaussian's at "
      "1. In a funnel a non-centred form mixes better; modes far apart keep the weights that the starts gave them; of "
      "tails as heavy as a Cauchy law's no mean exists",
      count, warm.agreement.size(), names, count > 3 ? ", ..." : "", std::max(0.0, least));
}

template <class Real>
void copy_draws(Result& r, const Phases<Real>& run, const Sampled<Real>& sampled) {
  const TargetInfo& info = run.target.info();
  r.names = info.names;
  r.variables = info.variables;
  if (r.variables.empty()) r.variables = {{info.variable, {info.names.size()}}};
  if (sampled.memory) r.draws = sampled.memory->template values<double>();
  if (!sampled.statistics) return;
  const StatisticsInMemory<Real>& kept = *sampled.statistics;
  r.lp = kept.lp.values();
  r.statistics["diverging"] = kept.diverging.template values<float>();
  r.statistics["acceptance_rate"] = kept.acceptance_rate.values();
  for (std::size_t k = 0; const std::string& name : find_sampler(run.options.sampler).stats)
    r.statistics[name] = kept.stats[k++].values();
}

}  // namespace

template <class Real>
Result results_so_far(const Phases<Real>& run, const WarmedUp& warm, const Sampled<Real>& sampled) {
  Result r;
  r.summary = summary_of(run, warm, sampled);
  r.summary.num_samples = sampled.draws * run.options.thin;
  r.summary.finished = false;
  r.quarantined = run.chains.quarantine().list();
  r.draws_written = sampled.draws;
  copy_draws(r, run, sampled);
  if (r.draws.empty()) return r;
  const ThreadsOf threads(run.context);
  std::vector<std::string> names = r.names;
  names.resize(run.num_judged());
  r.summary.parameters = summarise_draws<double>(
      names, {r.draws.data(), run.options.num_chains, sampled.draws, run.recorded(), sampled.draws},
      run.chains.quarantine().chains(), warm.superchains);
  return r;
}

template <class Real>
Result results(const Phases<Real>& run, const WarmedUp& warm, Sampled<Real>& sampled) {
  Result r;
  r.summary = summary_of(run, warm, sampled);
  r.quarantined = run.chains.quarantine().list();
  r.interrupted = sampled.interrupted;
  r.resumable = warm.interrupted ? warm.resumable : sampled.resumable;
  r.draws_written = sampled.draws;
  r.divergences = sampled.divergences->first();
  if (!warm.advice.empty()) r.notes.push_back(warm.advice);
  if (r.summary.stuck > 0 && !warm.last)
    r.notes.push_back(fmt::format(
        "{} of {} chains accepted nothing while sampling, and stand where they were; try {}{}?", r.summary.stuck,
        r.summary.num_chains - r.summary.quarantined,
        run.options.sampler == ensemble_sampler ? "" : "the default in place of --sampler, or ",
        run.options.num_warmup ? "no --num-warmup: it is then as long as it takes" : "a longer --num-warmup"));
  if (std::string note = unlike_a_gaussian(warm, run.target.info()); !note.empty()) r.notes.push_back(std::move(note));
  if (const auto& told = run.target.info().notes)
    for (std::string& note : told()) r.notes.push_back(std::move(note));
  r.evaluation = run.target.evaluation();
  if (const std::string products = run.chains.products(); !products.empty()) r.evaluation += "; factor: " + products;
  r.summary.flat = run.flat();
  run.file.add_attributes(closing_attributes(r.summary, run.chains.quarantine(), r.interrupted));
  if (stores_draws(run.options)) run.file.close();
  r.summary.parameters = warm.last ? warm.last_figures : parameters_of(run, warm, sampled);
  if (const auto names = as_their_prior(r.summary.parameters, run.target.info().prior_sd); !names.empty() && !warm.last)
    r.notes.push_back(
        fmt::format("the data say nothing of {} of {} coordinates, which are as their prior: {}{}. Is the column "
                    "constant, or its scale "
                    "far below 1 with --standardise no?",
                    names.size(), r.summary.parameters.size(), names[0], names.size() > 1 ? ", ..." : ""));
  if (!r.summary.parameters.empty() && !warm.last) run.file.write_summary(r.summary.parameters, sampled.acceptance);
  run.file.close();
  if (run.options.keep_draws) copy_draws(r, run, sampled), r.warmup = warm.draws;
  return r;
}

template Result results(const Phases<float>&, const WarmedUp&, Sampled<float>&);
template Result results(const Phases<double>&, const WarmedUp&, Sampled<double>&);

template Result results_so_far(const Phases<float>&, const WarmedUp&, const Sampled<float>&);
template Result results_so_far(const Phases<double>&, const WarmedUp&, const Sampled<double>&);

}  // namespace kilochain
