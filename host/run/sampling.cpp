#include "host/run/sampling.hpp"

#include <algorithm>
#include <cmath>

#include "host/run/recorded_values.hpp"
#include "host/run/results.hpp"

namespace kilochain {
namespace {

/// Enough iterations for the effective sample size that is wanted, and for R-hat to tell, from an automatic warm-up's
/// efficiency.
std::int64_t automatic_samples(const Options& o, const WarmedUp& warm) {
  const bool together = warm.superchains > 1;
  const auto groups = static_cast<double>(together ? warm.superchains : o.num_chains);
  const double wanted =
      warm.ess_per_iteration > 0 ? std::max(wanted_ess(o), ess_for_rhat * groups) / warm.ess_per_iteration : 1000;
  const double most = most_automatic_samples, least = together ? 50 : 200;
  const auto samples = static_cast<std::int64_t>(std::clamp(std::isfinite(wanted) ? wanted : most, least, most));
  return (samples + o.thin - 1) / o.thin * o.thin;
}

std::int64_t samples_wanted(const Options& o, const WarmedUp& warm, const RunState* before) {
  if (before) return o.num_samples.value_or(before->wanted);
  return warm.interrupted ? 0 : o.num_samples.value_or(automatic_samples(o, warm));
}

/// A warm-up may think far too little of its chains: the first look at the draws is a quarter of the way, or as soon as
/// a look is no longer cheap.
constexpr std::int64_t cheap_to_look_at = 4'000'000, least_to_look_at = 200;

}  // namespace

template <class Real>
Sampling<Real>::Sampling(const Phases<Real>& run, const WarmedUp& warm, const RunState* before)
    : run_(run),
      warm_(warm),
      before_(before),
      num_warmup_(warm.iterations),
      num_samples_(samples_wanted(run.options, warm, before)) {
  out_.interrupted = warm.interrupted;
  out_.divergences = std::make_shared<DivergenceSink<Real>>(before ? before->num_divergences : 0);
  if (before) out_.iterations = before->iterations, out_.draws = before->draws, out_.in_modes = before->in_modes;
}

template <class Real>
Sampled<Real> Sampling<Real>::operator()() {
  begin_ = std::chrono::steady_clock::now();
  run_.reporter.begin("sampling", num_warmup_, num_samples_);
  if (num_samples_ >= run_.options.thin) draw();
  run_.reporter.draws_so_far({});
  out_.seconds = seconds_so_far();
  for (const auto& c : run_.chains.controls())
    out_.acceptance.push_back(c.status == ChainStatus::running ? c.acceptance_sum / c.counted : NAN);
  out_.gradients = run_.chains.take_gradients();
  return std::move(out_);
}

/// Runs the chains, from one save of their state to the next, and hands their draws to the sinks.
template <class Real>
void Sampling<Real>::draw() {
  const Options& o = run_.options;
  const std::int64_t num_draws = guess_ = num_samples_ / o.thin;
  if (!o.num_samples && !before_) run_.file.set_length(num_warmup_, num_samples_);
  if (!before_) run_.file.put_superchains(warm_.superchains);
  saves_ = bytes_of_run_state(o, run_.context, run_.target.info(), precision_of<Real>, num_draws) > 0;
  WindowShape shape = run_.chains.shape(run_.window(num_draws), recorded_of(o));
  shape.spins = kept_spins(o, run_.target.info());
  Windows<Real> windows = run_.chains.windows(shape, stores_draws(o) ? 1 : 0);
  windows.thin = o.thin, windows.origin = num_warmup_;
  RecordedValues<Real> values(run_, out_.in_modes);
  const auto sinks = make_sinks(num_draws);  // they may read windows and values until they are gone
  if (out_.summary_from == SummaryFrom::memory) windows.seconds = 1;
  const auto take = [&](Window<Real>& window) {
    values.put_into(window);
    out_.in_modes = values.in_modes();
    for (const auto& sink : sinks) sink->take(window);
    out_.draws += window.count;
    if (run_.limit && out_.summary_from == SummaryFrom::memory)
      run_.limit->reserve(summary_of_value_ / run_.context.threads * values_in_memory());
  };
  if (o.keep_draws)
    run_.reporter.draws_so_far([this] {
      out_.seconds = seconds_so_far();
      return results_so_far(run_, warm_, out_);
    });
  const auto looked_at = static_cast<std::int64_t>(std::min(run_.num_judged(), run_.target.info().num_deciding));
  const std::int64_t first = std::min(std::max(least_to_look_at, num_draws / 4),
                                      cheap_to_look_at / std::max<std::int64_t>(1, o.num_chains * looked_at));
  if (room_ > 0 && first >= least_to_look_at) num_samples_ = std::min(num_samples_, first * o.thin);
  const Segment<Real> segment = run_.chains.sampling(num_warmup_);
  for (std::int64_t wanted = num_samples_; !out_.interrupted && out_.iterations < wanted; wanted = enough()) {
    if (wanted > num_samples_) run_.reporter.begin("sampling", num_warmup_, num_samples_ = wanted);
    while (out_.iterations < num_samples_ && !out_.interrupted) {
      const std::int64_t from = num_warmup_ + out_.iterations, until = num_warmup_ + save_if_due(),
                         reached = shape.recorded == Recorded::nothing
                                       ? run_.chains.run(segment, from, until)
                                       : run_.chains.run(segment, from, until, windows, take);
      run_.require_chains(reached);
      out_.iterations = reached - num_warmup_;
      out_.interrupted = reached < until;
    }
  }
  run_.file.wait();
  if (saves_ && saved_ != out_.iterations) save_state();
}

/// Iterations of each chain that an automatic length wants, now that the draws are there: as many as were made where
/// they are enough, where more would not help (chains that disagree outright after as many as the warm-up thought), or
/// where their memory has no room for more. Generated quantities are looked at when the parameters are good: R-hat of
/// those counts, their size does not.
template <class Real>
std::int64_t Sampling<Real>::enough() {
  const Options& o = run_.options;
  if (room_ * o.thin <= out_.iterations || out_.interrupted) return out_.iterations;
  const auto figures = [&](std::size_t count) {
    RunSummary s;
    s.parameters = out_.parameters = summary_in_memory(run_, warm_.superchains, count, *out_.memory);
    s.fixed = run_.target.info().fixed;
    s.derived = bool(run_.target.info().constrain);
    return extremes_of(s);
  };
  const std::size_t all = run_.num_judged(), deciding = std::min(all, run_.target.info().num_deciding);
  const auto begin = std::chrono::steady_clock::now();
  const Extremes extremes = figures(deciding);
  const double share = static_cast<double>(deciding) / static_cast<double>(run_.recorded());
  summary_of_value_ = seconds_since(begin) * run_.context.threads / (share * values_in_memory());
  double rhat = extremes.rhat_max;
  double ess = extremes.worst_ess;
  const double below = 1 + 0.8 * (rhat_bar - 1), asked = wanted_ess(o);
  if (o.target_mcse > 0)  // of means, whose error it is
    for (std::size_t k = 0; k < deciding; ++k)
      if (const ParameterSummary& p = out_.parameters[k]; p.mcse_mean > 0)
        ess = std::min(ess, std::pow(p.sd / p.mcse_mean, 2));
  const bool large = ess >= asked;
  if (deciding < all && (rhat <= rhat_bar && large)) rhat = figures(all).rhat_max;
  double times = 1.1 * asked / ess;  // R-hat^2 - 1 falls as the draws grow
  if (rhat > rhat_bar) times = std::max(times, (rhat * rhat - 1) / (below * below - 1));
  const bool good = rhat <= rhat_bar && large, hopeless = !(rhat < 1.1) && out_.draws >= guess_;
  const bool ends = good || hopeless || !(times > 1);
  if (!ends || out_.parameters.size() < all) out_.parameters.clear();
  if (ends) return out_.iterations;
  const auto wanted = static_cast<double>(out_.draws) * std::clamp(times, 1.25, 2.0);
  return std::min(room_, static_cast<std::int64_t>(wanted)) * o.thin;
}

template <class Real>
std::vector<std::shared_ptr<Sink<Real>>> Sampling<Real>::make_sinks(std::int64_t num_draws) {
  const Options& o = run_.options;
  const int threads = run_.context.threads;
  std::vector<std::shared_ptr<Sink<Real>>> sinks;
  if (o.draws == KeptDraws::none) return sinks;
  out_.summary_from = before_ ? SummaryFrom::file : summary_from(o, run_.recorded(), num_draws);
  const bool automatic = !o.num_samples && !before_ && out_.summary_from == SummaryFrom::memory;
  const std::int64_t most = std::min(most_automatic_samples / o.thin, draws_in_memory(o, run_.recorded())),
                     room = automatic ? std::max(num_draws, most) : num_draws;
  room_ = automatic ? room : 0;
  if (out_.summary_from == SummaryFrom::memory || o.keep_draws)
    sinks.push_back(out_.memory = std::make_shared<DrawsInMemory<Real>>(o.num_chains, room, run_.recorded()));
  if (o.keep_draws)
    sinks.push_back(out_.statistics = std::make_shared<StatisticsInMemory<Real>>(o.num_chains, room,
                                                                                 find_sampler(o.sampler).stats.size()));
  if (out_.summary_from == SummaryFrom::stream) {
    StreamingSummary streaming(o.num_chains, run_.recorded(), num_draws);
    streaming.set_superchains(warm_.superchains);
    sinks.push_back(out_.streaming = std::make_shared<SummarySink<Real>>(std::move(streaming), threads));
  }
  if (stores_draws(o)) sinks.push_back(std::make_shared<FileSink<Real>>(run_.file));
  sinks.push_back(std::make_shared<ProgressSink<Real>>(
      ProgressStatistic(o.num_chains, run_.recorded(), warm_.superchains), run_.reporter, threads));
  sinks.push_back(out_.divergences);
  return sinks;
}

template <class Real>
double Sampling<Real>::seconds_so_far() const {
  return seconds_since(begin_) + (before_ ? before_->seconds : 0);
}

template <class Real>
double Sampling<Real>::values_in_memory() const {
  return static_cast<double>(out_.draws) * static_cast<double>(run_.options.num_chains * run_.recorded());
}

/// Saves the state at once, so that a killed run need not warm up again, and then every now and then. Returns how many
/// iterations to make before the next save is due: as far as to a draw.
template <class Real>
std::int64_t Sampling<Real>::save_if_due() {
  const std::int64_t every = run_.options.checkpoint_seconds, thin = run_.options.thin;
  if (!saves_ || every == 0) return num_samples_;
  if (saved_ < 0 || seconds_since(saved_at_) >= static_cast<double>(every)) save_state();
  const double left = static_cast<double>(every) - seconds_since(saved_at_);
  const std::int64_t draws = run_.reporter.within(left) / thin;
  return std::min(num_samples_, (out_.iterations / thin + std::max<std::int64_t>(1, draws)) * thin);
}

/// No window is under way. Chains that have not come equally far are not saved: the file keeps what it has.
template <class Real>
void Sampling<Real>::save_state() {
  saved_ = out_.iterations, saved_at_ = std::chrono::steady_clock::now();
  if (out_.interrupted && (run_.chains.in_batches() || run_.chains.broken_off())) return;
  RunState state{warm_,
                 out_.iterations,
                 out_.draws,
                 num_samples_,
                 out_.divergences->count(),
                 seconds_so_far(),
                 value_of_first(run_),
                 run_.chains.save(),
                 out_.in_modes};
  out_.resumable |= run_.file.save_state(to_bytes(state));
}

template <class Real>
std::vector<ParameterSummary> summary_in_memory(const Phases<Real>& run, std::int64_t superchains, std::size_t count,
                                                const DrawsInMemory<Real>& memory) {
  const ThreadsOf threads(run.context);
  std::vector<std::string> names = run.target.info().names;
  names.resize(count);
  return summarise_draws(names, memory.drawn(), run.chains.quarantine().chains(), superchains);
}

template <class Real>
Sampled<Real> sample(const Phases<Real>& run, const WarmedUp& warm, const RunState* before) {
  return Sampling<Real>(run, warm, before)();
}

template class Sampling<float>;
template class Sampling<double>;
template std::vector<ParameterSummary> summary_in_memory(const Phases<float>&, std::int64_t, std::size_t,
                                                         const DrawsInMemory<float>&);
template std::vector<ParameterSummary> summary_in_memory(const Phases<double>&, std::int64_t, std::size_t,
                                                         const DrawsInMemory<double>&);
template Sampled<float> sample(const Phases<float>&, const WarmedUp&, const RunState*);
template Sampled<double> sample(const Phases<double>&, const WarmedUp&, const RunState*);

}  // namespace kilochain
