#include "host/run/choose_chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/units.hpp"
#include "host/chains/rounds.hpp"
#include "host/learn/learnt_metric.hpp"
#include "host/run/start.hpp"

namespace kilochain {
namespace {

constexpr Index timed_chains = 16;
constexpr std::int64_t without_ensemble = 256, on_device = 2048, on_busy_device = 512;
constexpr double busy_flops = 2e9;  // of a round: beyond, more chains take a device as much longer

/// Not timed, so that the same model has the same number of chains whenever it is run. A step of a trajectory
/// multiplies by the metric's factor twice.
ChainsChosen chains_on_device(const TargetInfo& info) {
  const double n = info.dim, flops = info.flops + (info.dim <= most_dense ? 4 * n * n : 0);
  const std::int64_t chains = on_device * flops > busy_flops ? on_busy_device : on_device;
  return {chains, fmt::format("{} chains, on a device", chains)};
}

/// Seconds of one thread for a gradient of one chain, when `timed_chains` are evaluated together. The first of these
/// calls may compile the density (JAX does, for each number of points), so it counts only where it takes seconds.
template <class Real>
double seconds_of_gradient(const Options& o, const Context& context, Target<Real>& target) {
  Options few = o;
  few.num_chains = timed_chains;
  if (few.init.starts_with("file:")) few.init = "normal";
  const auto chains =
      make_chains<Real>(context, o.sampler, o.sampler_settings, timed_chains, target.info(), o.adapt_scope);
  Rounds<Real> rounds(context, target, *chains, timed_chains);
  const auto x = StartingPoints<Real>(few, target.info().dim).of(0, timed_chains);
  target.check_evaluation(x.data());  // that it ends
  const MayGiveUp may(target.info());
  double best = INFINITY;
  const auto begin = std::chrono::steady_clock::now();
  for (int k = 0; k < 9 && seconds_since(begin) < (k < 3 ? 5.0 : 0.25); ++k) {
    const auto before = std::chrono::steady_clock::now();
    rounds.start(x);
    synchronize(context);
    best = std::min(best, seconds_since(before));
  }
  return best * context.threads / timed_chains;
}

}  // namespace

template <class Real>
ChainsChosen choose_chains(const Options& o, const Context& context, Target<Real>& target) {
  if (o.sampler != ensemble_sampler || target.info().spin_model || target.info().offers < Needs::gradient)
    return {without_ensemble, ""};
  if (context.backend == Backend::cuda) return chains_on_device(target.info());
  const double seconds = seconds_of_gradient(o, context, target);
  const std::int64_t chains = seconds < 2e-4 ? 64 : seconds < 1e-3 ? 32 : 16;
  return {chains, fmt::format("{} chains, because a gradient takes {}", chains, seconds_text(seconds))};
}

ChainsChosen fewer_chains(std::int64_t num_chains, double seconds) {
  const std::int64_t chains = std::min<std::int64_t>(num_chains, seconds < 6e-5 ? 64 : seconds < 4e-4 ? 32 : 16);
  return {chains, fmt::format("{} chains, because an iteration of one takes {}", chains, seconds_text(seconds))};
}

template ChainsChosen choose_chains(const Options&, const Context&, Target<float>&);
template ChainsChosen choose_chains(const Options&, const Context&, Target<double>&);

}  // namespace kilochain
