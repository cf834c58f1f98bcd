#include "host/run/choose_chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/units.hpp"
#include "host/chains/rounds.hpp"
#include "host/run/start.hpp"

namespace kilochain {
namespace {

constexpr Index timed = 16;
constexpr std::int64_t without_ensemble = 256, on_device = 2048;

/// Seconds of one thread for a gradient of one chain, when `timed` chains are evaluated together.
template <class Real>
double seconds_of_gradient(const Options& o, const Context& context, Target<Real>& target) {
  using Clock = std::chrono::steady_clock;
  Options few = o;
  few.num_chains = timed;
  if (few.init.starts_with("file:")) few.init = "normal";
  const auto chains = make_chains<Real>(context, o.sampler, o.sampler_settings, timed, target.info(), o.adapt_scope);
  Rounds<Real> rounds(context, target, *chains, timed);
  const auto x = StartingPoints<Real>(few, target.info().dim).of(0, timed);
  target.check_evaluation(std::vector<double>(x.begin(), x.begin() + target.info().dim).data());  // that it ends
  const MayGiveUp may(target.info());
  double best = INFINITY;
  const auto begin = Clock::now();
  for (int k = 0; k < 8 && std::chrono::duration<double>(Clock::now() - begin).count() < 0.25; ++k) {
    const auto before = Clock::now();
    rounds.start(x);
    synchronize(context);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - before).count());
  }
  return best * context.threads / timed;
}

}  // namespace

template <class Real>
ChainsChosen choose_chains(const Options& o, const Context& context, Target<Real>& target) {
  if (o.sampler != ensemble_sampler || target.info().spin_model || target.info().offers < Needs::gradient)
    return {without_ensemble, ""};
  if (context.backend == Backend::cuda) return {on_device, fmt::format("{} chains, on a device", on_device)};
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
