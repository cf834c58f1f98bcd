// The order of a run: check, load, account for memory, evaluate once with checks, open the output, start, warm up, sample,
// summarise. One that is gone on with: check, load, account for memory, take the chains from the file, open it, sample.
#include "host/run/run.hpp"

#include <fmt/format.h>

#include "host/run/device.hpp"
#include "host/run/results.hpp"
#include "host/run/sampling.hpp"
#include "host/run/time_limit.hpp"

namespace kilochain {
namespace {

/// The run that has left the output goes on: nothing there is changed before it is known that it can.
template <class Real>
Result go_on(const Options& o, const Context& context, Target<Real>& target, const ProgressCallback& progress,
             const std::atomic<bool>& stop) {
  const auto state = read_run_state(o.output);
  require(state.has_value(), ExitStatus::usage, o.output + ": the run cannot be gone on with",
          "it ended in its warm-up", "Begin it again?");
  const RunState& before = *state;
  const std::int64_t wanted = o.num_samples.value_or(before.wanted);
  require(wanted > before.iterations, ExitStatus::usage, o.output + ": nothing is left to draw",
          fmt::format("{} iterations of each chain are wanted in all, {} are there", wanted, before.iterations),
          fmt::format("Ask for more in all, such as --num-samples {}?", 2 * before.iterations));
  OutputFile file(o, target.info(), precision_of<Real>);
  Reporter reporter(progress);
  Batches<Real> batches(o, context, target, reporter, stop);
  batches.load(before.chains);
  const Phases<Real> phases{o, context, target, batches, file, reporter, stop};
  require_same_target(phases, before);
  file.go_on(before.draws);
  Sampled<Real> sampled = sample(phases, before.warm, &before);
  return results(phases, before.warm, sampled);
}

template <class Real>
Result run_on(const Options& o, const Context& context, Target<Real>& target, const ProgressCallback& progress,
              const std::atomic<bool>& stop) {
  refuse_if_too_large(o, estimate_for(o, context, target.info(), precision_of<Real>));
  if (o.resume) return go_on(o, context, target, progress, stop);
  const StartingPoints<Real> points(o, target.info().dim);
  const auto first = points.of(0, 1);
  target.check_evaluation(std::vector<double>(first.begin(), first.end()).data());
  OutputFile file(o, target.info(), precision_of<Real>);
  Reporter reporter(progress);
  Batches<Real> batches(o, context, target, reporter, stop);
  batches.start(points);
  const Phases<Real> phases{o, context, target, batches, file, reporter, stop};
  const WarmedUp warm = warm_up(phases);
  Sampled<Real> sampled = sample(phases, warm, nullptr);
  return results(phases, warm, sampled);
}

}  // namespace

PreparedRun::PreparedRun(Options options) : options_(std::move(options)) {
  check(options_);
  context_ = choose_device(options_, notes_);
  in_precision(choose_precision(options_, context_), [&](auto zero) {
    auto target = make_target<decltype(zero)>(context_, options_.target, options_.target_settings);
    check_offer(options_.sampler, options_.target, target->info().offers);
    target_ = std::move(target);
  });
}

Estimate PreparedRun::estimate() const {
  return std::visit([&](const auto& target) { return kilochain::estimate(options_, context_, *target); }, target_);
}

Result PreparedRun::run(const ProgressCallback& progress, const std::atomic<bool>& stop) const {
  const TimeLimit limit(options_.max_seconds, stop);
  Result result = std::visit(
      [&](const auto& target) { return run_on(options_, context_, *target, progress, limit.flag()); }, target_);
  result.out_of_time = result.interrupted && limit.is_over();
  result.notes.insert(result.notes.begin(), notes_.begin(), notes_.end());
  return result;
}

Result run(const Options& options, const ProgressCallback& progress, const std::atomic<bool>& stop) {
  return PreparedRun(options).run(progress, stop);
}

Estimate estimate(const Options& options) { return PreparedRun(options).estimate(); }

}  // namespace kilochain
