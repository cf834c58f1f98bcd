// The order of a run: check, load, account for memory, evaluate once with checks, open the output, start, warm up,
// sample, summarise. One that is resumed: check, load, account for memory, take the chains' state, open the file,
// sample.
#include "host/run/run.hpp"

#include <fmt/format.h>

#include "host/learn/learnt_metric.hpp"
#include "host/run/choose_chains.hpp"
#include "host/run/device.hpp"
#include "host/run/results.hpp"
#include "host/run/sampling.hpp"
#include "host/run/scouts.hpp"
#include "host/run/time_limit.hpp"

namespace kilochain {
namespace {

/// Nothing in the output is changed before it is known that the run can be resumed.
template <class Real>
Result resume(const Phases<Real>& phases, const RunState& before) {
  const Options& o = phases.options;
  const std::int64_t wanted = o.num_samples.value_or(before.wanted);
  require(wanted > before.iterations, ExitStatus::usage, o.output + ": nothing is left to draw",
          fmt::format("{} iterations of each chain are wanted in all, {} are there", wanted, before.iterations),
          fmt::format("Ask for more in all, such as --num-samples {}?", 2 * before.iterations));
  phases.chains.load(before.chains);
  require_same_target(phases, before);
  phases.file.resume(before.draws);
  Sampled<Real> sampled = sample(phases, before.warm, &before);
  return results(phases, before.warm, sampled);
}

/// From the beginning, or from within the warm-up.
template <class Real>
std::optional<Result> begin(const Phases<Real>& phases, const RunState* before) {
  const WarmedUp warm = warm_up(phases, before);
  if (warm.fewer_chains) return {};
  Sampled<Real> sampled = sample(phases, warm, nullptr);
  return results(phases, warm, sampled);
}

/// None: fewer chains are wanted, for which the scouts have been sent.
template <class Real>
std::optional<Result> run_once(const Options& o, const Context& context, Target<Real>& plain,
                               const ProgressCallback& progress, TimeLimit& limit,
                               std::shared_ptr<Scouted<Real>>& scouted) {
  const std::atomic<bool>& stop = limit.flag();
  TargetInCoordinates<Real> moved(plain);
  const bool may_move = o.sampler == ensemble_sampler && context.backend == Backend::cpu && !plain.info().spin_model &&
                        plain.info().offers >= Needs::gradient &&
                        !plain.info().logistic;  // that has no scales to learn
  if (o.resume && may_move) {
    moved.set(o.resume->warm.coordinates);
    moved.set(Symmetries::of_numbers(plain.info(), o.resume->warm.symmetries));
    moved.set(Overlay::of_numbers(o.resume->warm.modes));
  }
  Target<Real>& target = may_move ? moved : plain;
  refuse_if_too_large(o, estimate_for(o, context, target.info(), precision_of<Real>));
  std::optional<StartingPoints<Real>> points;
  if (!o.resume) {
    points.emplace(o, target.info().dim);
    const auto first = points->of(0, 1);
    target.check_evaluation(first.data());
  }
  OutputFile file(o, target.info(), precision_of<Real>);
  Reporter reporter(progress, &limit);
  Ensemble<Real> chains(context, target, setup_of(o), reporter, stop);
  auto* const coordinates = may_move ? &moved : nullptr;
  const Phases<Real> phases{o, context, target, chains, file, reporter, stop, &limit, &scouted, coordinates};
  if (!o.resume) {
    {
      const MayGiveUp may(target.info());
      phases.start(*points);
    }
    return begin(phases, nullptr);
  }
  if (!resumes_warmup(o)) return resume(phases, *o.resume);
  chains.load(o.resume->chains);
  require_same_target(phases, *o.resume);
  file.begin_again(to_bytes(*o.resume));
  Options rest = o;  // what follows is a run like any other
  rest.resume = nullptr;
  return begin(Phases<Real>{rest, context, target, chains, file, reporter, stop, &limit, nullptr, coordinates},
               o.resume.get());
}

template <class Real>
Result run_on(const Options& o, const Context& context, Target<Real>& target, const ProgressCallback& progress,
              TimeLimit& limit) {
  std::shared_ptr<Scouted<Real>> scouted;
  std::optional<Result> result = run_once(o, context, target, progress, limit, scouted);
  if (result) return *std::move(result);
  Options fewer = o;
  const ChainsChosen chosen = fewer_chains(o.num_chains, scouted->seconds_of_iteration);
  fewer.num_chains = chosen.num_chains;
  result = run_once(fewer, context, target, progress, limit, scouted);
  result->notes.insert(result->notes.begin(), chosen.why);
  return *std::move(result);
}

}  // namespace

PreparedRun::PreparedRun(Options options) : options_(std::move(options)) {
  const NoteInputs inputs;
  check(options_);
  context_ = choose_device(options_, notes_);
  in_precision(choose_precision(options_, context_), [&](auto zero) {
    auto target = make_target<decltype(zero)>(context_, options_.target, options_.target_settings);
    options_.inputs = inputs.noted();
    if (options_.resume && options_.resume->inputs)
      require_same_inputs(options_.output, options_.inputs, *options_.resume->inputs);
    check_offer(options_.sampler, options_.target, target->info().offers);
    if (options_.sampler == ensemble_sampler && target->info().dim > most_dense && !options_.resume)
      options_.sampler_settings.try_emplace("mass", "diagonal");  // it learns no other, and n^2 numbers are gigabytes
    if (options_.num_chains == 0) {
      const ChainsChosen chosen = choose_chains(options_, context_, *target);
      options_.num_chains = chosen.num_chains, options_.chains_chosen = true;
      check(options_);
      why_so_many_ = chosen.why;
    }
    target_ = std::move(target);
  });
}

Estimate PreparedRun::estimate() const {
  Estimate e =
      std::visit([&](const auto& target) { return kilochain::estimate(options_, context_, *target); }, target_);
  e.notes = notes_;
  if (!why_so_many_.empty()) e.notes.push_back(why_so_many_);
  return e;
}

Result PreparedRun::run(const ProgressCallback& progress, const std::atomic<bool>& stop) const {
  TimeLimit limit(options_.max_seconds, stop);
  Result result =
      std::visit([&](const auto& target) { return run_on(options_, context_, *target, progress, limit); }, target_);
  result.out_of_time = result.interrupted && limit.is_over();
  result.enough = result.out_of_time && !options_.num_samples && (!options_.resume || resumes_warmup(options_)) &&
                  !nothing_drawn(result) && verdict_of(result.summary).converged;
  if (!why_so_many_.empty() && result.summary.num_chains == options_.num_chains)
    result.notes.insert(result.notes.begin(), why_so_many_);
  result.notes.insert(result.notes.begin(), notes_.begin(), notes_.end());
  return result;
}

bool nothing_drawn(const Result& result) {
  const RunSummary& s = result.summary;
  return s.num_samples == 0 || (s.parameters.empty() && s.draws != KeptDraws::none);
}

int status_of(const Result& result) {
  if (result.interrupted && !result.out_of_time) return exit_code(ExitStatus::interrupted);
  if (result.out_of_time && result.resumable && !result.enough) return exit_code(ExitStatus::out_of_time);
  return nothing_drawn(result) ? exit_code(ExitStatus::not_converged) : status_of(result.summary);
}

Result run(const Options& options, const ProgressCallback& progress, const std::atomic<bool>& stop) {
  return PreparedRun(options).run(progress, stop);
}

Estimate estimate(const Options& options) { return PreparedRun(options).estimate(); }

}  // namespace kilochain
