// Runs a sampler on a target in memory, for tests: starting points, segments, draws of every iteration.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "host/chains/rounds.hpp"
#include "host/registry/registry.hpp"

namespace kilochain::testing_support {

/// Draws, log densities and statistics of every recorded iteration, (chain, iteration, ...).
template <class Real>
struct Recorded {
  Index chains = 0, dim = 0;
  std::int64_t iterations = 0;
  std::vector<Real> draws;
  std::vector<double> lp;
  std::vector<float> acceptance_rate, stats;
  std::vector<std::uint8_t> diverging;
  static constexpr std::size_t kept = 4;  ///< divergences of each chain
  std::vector<std::int64_t> diverged;     ///< 1 + iteration, or 0
  std::vector<Real> diverged_at;

  Recorded() = default;
  Recorded(Index chains_, Index dim_, std::int64_t iterations_)
      : chains(chains_),
        dim(dim_),
        iterations(iterations_),
        draws(count() * static_cast<std::size_t>(dim_)),
        lp(count()),
        acceptance_rate(count()),
        stats(count() * Info::max_stats),
        diverging(count()),
        diverged(kept * static_cast<std::size_t>(chains_)),
        diverged_at(diverged.size() * static_cast<std::size_t>(dim_)) {}
  std::size_t count() const { return static_cast<std::size_t>(chains) * static_cast<std::size_t>(iterations); }
  const Real* draw(Index chain, std::int64_t t) const { return draws.data() + (chain * iterations + t) * dim; }
  float stat(int s, Index chain, std::int64_t t) const {
    return stats[static_cast<std::size_t>(s * chains * iterations + chain * iterations + t)];
  }
  Recording<Real> recording(std::int64_t first_iteration) {
    return {draws.data(),
            lp.data(),
            acceptance_rate.data(),
            diverging.data(),
            stats.data(),
            static_cast<std::int64_t>(chains) * iterations,
            iterations,
            first_iteration,
            1,
            true,
            diverged.data(),
            diverged_at.data(),
            nullptr,
            static_cast<std::int32_t>(kept)};
  }
};

/// Chains on any density of so many coordinates.
template <class Real>
std::unique_ptr<Chains<Real>> make_chains(const Context& context, const std::string& name, const SettingTexts& texts,
                                          Index num_chains, Index dim, Scope scope) {
  TargetInfo density;
  density.dim = dim;
  return kilochain::make_chains<Real>(context, name, texts, num_chains, density, scope);
}

struct Phase {
  std::int64_t start = 0, length = 0, num_warmup = 0;
  bool adapting = false;
  std::uint64_t seed = 1;
  double rate = 1;
  std::uint32_t first_chain = 0;
};

/// Runs iterations phase.start .. until (all of the phase when until < 0) on chains that have been started.
template <class Real>
void run_phase(const Context& context, Target<Real>& target, Chains<Real>& sampler, Index chains, Scope scope,
               const Phase& phase, Recorded<Real>* out = nullptr, std::int64_t until = -1) {
  Segment<Real> segment;
  segment.seed = phase.seed;
  segment.first_chain = phase.first_chain;
  segment.phase_start = phase.start;
  segment.until = until < 0 ? phase.start + phase.length : until;
  segment.schedule.num_warmup = phase.num_warmup;
  segment.schedule.adapting = phase.adapting;
  segment.schedule.rate = phase.rate;
  segment.scope = scope;
  if (out) segment.recording = out->recording(phase.start);
  std::atomic<bool> stop{false};
  Rounds<Real>(context, target, sampler, chains).run(segment, stop);
}

template <class Real>
void start_at(const Context& context, Target<Real>& target, Chains<Real>& sampler, Index chains,
              const std::vector<Real>& x) {
  Rounds<Real>(context, target, sampler, chains).start(x);
}

/// (chain, dim) independent standard normals.
template <class Real>
std::vector<Real> normal_points(Index chains, Index dim, std::uint64_t seed, std::uint32_t first_chain = 0) {
  std::vector<Real> x, z(static_cast<std::size_t>(dim) + 64);
  for (Index c = 0; c < chains; ++c) {
    normals(HostTeam{}, Rng{seed, first_chain + static_cast<std::uint32_t>(c), 0}, Purpose::start,
            Row(z.data(), z.size()), dim);
    x.insert(x.end(), z.begin(), z.begin() + dim);
  }
  return x;
}

/// One exact draw of the target, the k-th of a stream.
inline std::vector<double> exact_draw(const TargetInfo& info, std::uint64_t seed, std::uint32_t k) {
  return info.exact.draw(normal_points<double>(1, info.dim, seed, k), uniform(Rng{seed, k, 1}, Purpose::start));
}
template <class Real>
std::vector<Real> exact_points(const TargetInfo& info, Index chains, std::uint64_t seed) {
  std::vector<Real> x;
  for (Index c = 0; c < chains; ++c)
    for (const double v : exact_draw(info, seed, static_cast<std::uint32_t>(c))) x.push_back(static_cast<Real>(v));
  return x;
}

}  // namespace kilochain::testing_support
