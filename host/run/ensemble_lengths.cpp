// Which trajectories pay: lengths of leapfrog, then of steps that turn about the mean, are tried on all chains: stage 3
// of ensemble_warmup.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/run/ensemble_warmup.hpp"
#include "host/run/learnt_metric.hpp"
#include "host/run/mixing.hpp"

namespace kilochain {
namespace {

constexpr std::int64_t trial_draws = 1024, trial_gradients = 100000;  // of all chains
constexpr std::int64_t least_frozen = 8;
constexpr double longest = 512;  // steps of a trajectory, at most
constexpr double longer = 1.3;   // times of turns: from one trial to the next
constexpr double more = 1.4;     // and their numbers
constexpr double quarter = 1.5;  // of a whitened Gaussian's period, less a little

}  // namespace

/// Draws that a gradient is worth, of trajectories as the metric has them.
template <class Real>
double EnsembleWarmUp<Real>::worth(bool adapting) {
  tell(fmt::format("trajectories of {:.3g} steps", metric_.num_steps));
  if (!stand_.drawing) run_.chains.set_metric(adapting ? while_adapting() : metric_);
  const std::int64_t fewest = adapting ? least_trial : least_frozen;  // a step needs some to follow a new length
  const std::int64_t wanted = std::min(trial_draws / run_.options.num_chains, affordable(trial_gradients));
  const FrozenDraws<Real> block = draw(std::clamp(wanted, fewest, piece), adapting);
  if (block.count < fewest || out_.interrupted) return 0;
  if (metric_.finer_every == 1 && finer_for_all(block)) metric_.finer_every = seldom;
  const ThreadsOf threads(run_.context, run_.dim());
  return mixing_of(block, metric_.factor) / (block.mean_steps() + beside_gradients());
}

/// What a draw costs beside its trajectory, in steps of that: its normals and the keeping of its values, some 40
/// operations a coordinate. 0 where a target does not say what a gradient takes.
template <class Real>
double EnsembleWarmUp<Real>::beside_gradients() const {
  const double n = run_.dim(), flops = run_.target.info().flops;
  return flops > 0 ? 40 * n / (flops + (is_diagonal(metric_, run_.dim()) ? 12 * n : 4 * n * n)) : 0;
}

/// Leapfrog of the lengths that stand to be tried; doubled while that pays.
template <class Real>
void EnsembleWarmUp<Real>::try_lengths() {
  Stand& s = stand_;
  while (!s.lengths.empty()) {
    const double num_steps = s.lengths.front();
    if (!s.drawing) leapfrog(num_steps, s.leap > 0 ? s.leap : run_.chains.averaged_step());
    const double now = worth(true);
    if (out_.interrupted) return;
    if (now > s.best) s.length = num_steps;
    const bool pays = now > 0.8 * s.best;
    s.best = std::max(s.best, now);
    s.lengths.erase(s.lengths.begin());
    if (!s.neighbours && pays && 2 * num_steps <= longest) s.lengths = {2 * num_steps};
  }
}

/// Leapfrog of every length up to twice a mean that doubles while that pays; then turns; where those do not pay, half a
/// doubling to both sides. Of what is all but a Gaussian turns alone: there they always pay.
template <class Real>
void EnsembleWarmUp<Real>::learn_length() {
  Stand& s = stand_;
  if (nearly_gaussian()) s.lengths.clear();
  try_lengths();
  if (!out_.interrupted && !metric_.mean.empty()) learn_turns();
  if (out_.interrupted) return;
  constexpr double noise = 1.1;  // must not choose between neighbours
  if (s.times.worth > noise * s.best) {
    turns(s.times.best, turns_in(s.times.best));
  } else {
    if (!std::exchange(s.neighbours, true))
      s.best *= noise, s.lengths = {std::round(0.7 * s.length), std::round(1.4 * s.length)};
    try_lengths();
    if (out_.interrupted) return;
    leapfrog(s.length, run_.chains.averaged_step());
  }
  run_.chains.set_metric(metric_);
}

/// Steps that turn, of trajectories of nearly one length: how many pay, then how long those are at most so large steps.
template <class Real>
void EnsembleWarmUp<Real>::learn_turns() {
  Stand& s = stand_;
  if (s.first_time == 0) {
    const double step = run_.chains.averaged_step();
    s.first_time = s.best > 0 ? step * s.length : quarter;
    s.leap = step, s.numbers.first = s.numbers.next = std::max(1.0, std::round(s.first_time / (2 * step)));
  }
  while (s.numbers.next > 0) {
    if (!s.drawing) turns(s.first_time, s.numbers.next);
    const double now = worth(false);
    if (out_.interrupted) return;
    s.numbers.saw(
        now, [](double k) { return std::max(k + 1, std::round(more * k)); },
        [](double k) { return std::min(k - 1, std::round(k / more)); });
    if (s.numbers.next > 0) continue;
    s.times = {s.first_time, s.first_time, s.numbers.worth, nearly_gaussian()};
    s.times.next = s.times.down ? s.first_time / longer : s.first_time * longer;
  }
  while (s.times.next > 0) {
    if (!s.drawing) turns(s.times.next, turns_in(s.times.next));
    const double now = worth(false);
    if (out_.interrupted) return;
    s.times.saw(
        now, [](double t) { return t * longer; }, [](double t) { return t / longer; });
  }
}

template void EnsembleWarmUp<float>::learn_length();
template void EnsembleWarmUp<double>::learn_length();

}  // namespace kilochain
