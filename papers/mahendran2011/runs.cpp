#include "papers/mahendran2011/runs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "host/chains/spin_chains.hpp"
#include "host/chains/thread_seconds.hpp"
#include "host/registry/spin_samplers.hpp"
#include "host/run/trials.hpp"
#include "host/statistics/autocovariance.hpp"
#include "host/tune/tuner.hpp"

namespace kilochain::mahendran2011 {
namespace {

using discrete::WalkPreset;
using discrete::WalkSettings;
using Spins = std::vector<std::int8_t>;

/// A chain that keeps its state while its settings change.
class Chain {
 public:
  Chain(const discrete::SpinModel& model, std::uint32_t number, std::uint64_t seed)
      : model_(model), rng_{seed, number, 0}, spins_(discrete::starting_spins(model, rng_, false)) {}
  /// Takes `steps` steps with these settings; the first is step `from` of the chain.
  void run(const WalkSettings& settings, std::int64_t from, std::int64_t steps, std::vector<double>& energies,
           double& acceptance) {
    const Context context = cpu_context(1);
    const auto replica = discrete::bind<discrete::Intracluster>("intracluster", context, 1, model_, settings,
                                                                {1, model_.beta, model_.beta});
    replica->assign(0, spins_.data());
    for (std::int64_t t = from; t < from + steps; ++t) {
      Info info;
      energies.push_back(replica->step(0, Rng{rng_.seed, rng_.chain, t}, info) - model_.offset);
      acceptance += info.acceptance_rate;
    }
    for (std::size_t i = 0; i < spins_.size(); ++i) spins_[i] = replica->spin(0, static_cast<Index>(i));
  }

 private:
  const discrete::SpinModel& model_;
  Rng rng_;
  Spins spins_;
};

WalkSettings fixed(double gamma, double walk) {
  const auto k = static_cast<std::int32_t>(walk);
  return {WalkPreset::own, k, k, gamma, gamma, {}};
}

/// Chapter 3: 100 settings for 100 steps each, in one chain; then exp of the mean over a grid.
Tuner adapted(const Model& model, const discrete::SpinModel& spins, std::uint32_t number, std::uint64_t seed,
              const std::atomic<bool>& stop) {
  TunerOptions options;
  options.fit = Fit::paper;
  Tuner tuner(
      Box({{"gamma", 0, model.largest_gamma}, {"walk", 1, static_cast<double>(model.longest_walk), false, true}}),
      options);
  Chain chain(spins, number, seed + (std::uint64_t(1) << 40));
  double ignored = 0;
  for (int k = 0; k < adaptations && !stop; ++k) {
    const Point p = tuner.ask(1)[0];
    std::vector<double> energies;
    chain.run(fixed(p[0], p[1]), std::int64_t(k) * adaptation_steps, adaptation_steps, energies, ignored);
    tuner.tell(p, autocorrelation_score(energies));
  }
  return tuner;
}

}  // namespace

Run run_of(const Model& model, const discrete::SpinModel& spins, Method method, std::uint32_t number,
           std::int64_t steps, std::uint64_t seed, const std::atomic<bool>& stop,
           const std::function<void(double fraction)>& tick) {
  Run out;
  WalkSettings settings;
  settings.preset = method == kawasaki    ? WalkPreset::kawasaki
                    : method == im_expert ? WalkPreset::im_expert
                    : method == im_unif   ? WalkPreset::im_unif
                                          : WalkPreset::own;
  std::vector<Point> policy;
  if (method == im_bayesopt) {
    const Tuner tuner = adapted(model, spins, number, seed, stop);
    if (stop) return out;
    const GaussianProcess f = tuner.posterior();
    const std::size_t walks = model.longest_walk;
    std::vector<Point> grid;
    for (std::size_t g = 0; g < gammas; ++g)
      for (std::size_t k = 1; k <= walks; ++k)
        grid.push_back({model.largest_gamma * g / (gammas - 1), static_cast<double>(k)});
    for (const Point& p : grid) out.surface.push_back(f(tuner.box().unit(p)).mean);
    const auto drawn = resample(out.surface, grid.size(), seed + number);
    out.unique_points = std::set<std::size_t>(drawn.begin(), drawn.end()).size();
    for (const std::size_t i : drawn) policy.push_back(grid[i]);
  }
  Chain chain(spins, number, seed);
  std::vector<double> energies;
  // The policy's rows lie in the settings, a few at a time: the next few take their place, whatever the state.
  constexpr std::int64_t stretch = 500;
  const double begin = thread_seconds();
  for (std::int64_t t = 0; t < steps && !stop; t += stretch) {
    if (method == im_bayesopt) {
      settings.walk_max = model.longest_walk;
      settings.policy.has[0] = settings.policy.has[1] = true;
      settings.policy.rows = Policy<2>::most_rows;
      for (int k = 0; k < Policy<2>::most_rows; ++k) {
        const Rng rng{seed, number, t};
        const Point& p = policy[uniform_index(rng, Purpose::adaptation, static_cast<std::uint32_t>(k),
                                              static_cast<std::uint32_t>(policy.size()))];
        settings.policy.value[k][0] = p[0], settings.policy.value[k][1] = p[1];
      }
    }
    chain.run(settings, t, std::min(stretch, steps - t), energies, out.acceptance);
    tick(static_cast<double>(t) / steps);
  }
  const std::size_t made = energies.size();
  out.acceptance /= made;
  out.microseconds = 1e6 * (thread_seconds() - begin) / made;
  out.trace.assign(energies.begin(), energies.begin() + std::min(traced, made));
  energies.erase(energies.begin(), energies.begin() + made / 9);  // thousands of runs would not fit in memory
  out.mean_energy = std::accumulate(energies.begin(), energies.end(), 0.0) / energies.size();
  out.correlation = autocorrelation(energies);
  return out;
}

std::vector<double> autocorrelation(const std::vector<double>& judged) {
  const std::int64_t n = std::ssize(judged);
  RealAutocovariance c(1, n, [&](std::int64_t, double* out) { std::copy(judged.begin(), judged.end(), out); });
  std::vector<double> out;
  for (std::int64_t lag = 0; lag <= longest_lag && lag < n; ++lag)
    out.push_back(c(0) > 0 ? std::abs(c(lag)) * n / ((n - lag) * c(0)) : 1);
  return out;
}

}  // namespace kilochain::mahendran2011
