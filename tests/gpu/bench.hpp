// One sampler's chains on one of the Gaussians, on either device, as the GPU's tests step them.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <memory>
#include <random>

#include "host/chains/rounds.hpp"
#include "host/registry/registry.hpp"

namespace kilochain {

struct Case {
  const char* preset;
  Index dim;
};
constexpr Case cases[] = {{"gauss2d_corr", 2}, {"gp51_gaussian", 51}, {"neal_gaussian", 100}};

// What takes a device milliseconds takes an emulated one seconds: there fewer chains, still more than a chunk of a
// pooled sum and no multiple of anything, and shallow trees.
inline Index many_chains() { return cuda_emulated() ? 37 : 70; }
inline SettingTexts brief(const std::string& sampler, SettingTexts settings) {
  if (cuda_emulated() && sampler == "nuts") settings.emplace("max_tree_depth", "3");
  // By itself 1001 moves an iteration in 100 dimensions, and rounding grows with each.
  if (sampler == "tempered_mala") settings.emplace("num_levels", "2");
  if (cuda_emulated() && sampler == "gad_mala_low_rank") settings.emplace("rank", "2");
  if (cuda_emulated() && sampler == "entropy_hmc") settings.emplace("num_steps", "2");
  return settings;
}

/// Of densities.
inline std::vector<std::string> sampler_names() {
  std::vector<std::string> names;
  for (const auto& entry : samplers_of(Family::density)) names.push_back(entry.name);
  return names;
}

struct Outcome {
  std::vector<double> x, draws;
  std::vector<ChainControl> controls;
  std::vector<char> saved;
};

/// One sampler's chains on one backend.
template <class Real>
struct Bench {
  const Context& context;
  Index num_chains, dim;
  Scope scope;
  std::unique_ptr<Target<Real>> target;
  std::unique_ptr<Chains<Real>> sampler;
  Rounds<Real> rounds;
  std::atomic<bool> stop{false};
  std::int64_t reached = 0, num_warmup = 50;

  Bench(const Context& c, const std::string& name, const Case& which, Index chains, Scope s,
        const SettingTexts& settings = {})
      : Bench(c, name, make_target<Real>(c, "gaussian", {{"preset", which.preset}}), chains, s, settings) {}
  Bench(const Context& c, const std::string& name, std::unique_ptr<Target<Real>> t, Index chains, Scope s,
        const SettingTexts& settings = {})
      : context(c),
        num_chains(chains),
        dim(t->info().dim),
        scope(s),
        target(std::move(t)),
        sampler(make_chains<Real>(c, name, brief(name, settings), chains, target->info(), s)),
        rounds(c, *target, *sampler, chains) {}
  void start(double nan_at = -1) {
    std::mt19937_64 bits(5);
    std::normal_distribution<double> normal;
    std::vector<Real> x(static_cast<std::size_t>(num_chains) * static_cast<std::size_t>(dim));
    for (auto& v : x) v = static_cast<Real>(0.3 * normal(bits));
    if (nan_at >= 0)
      x[static_cast<std::size_t>(nan_at) * static_cast<std::size_t>(dim)] = std::numeric_limits<Real>::quiet_NaN();
    rounds.start(x);
  }
  void run(std::int64_t iterations, bool adapting, Recording<Real> recording = {}) {
    Segment<Real> segment;
    segment.seed = 17;
    segment.phase_start = 0;
    segment.until = reached + iterations;
    segment.schedule.adapting = adapting;
    segment.schedule.num_warmup = num_warmup;
    segment.scope = scope;
    segment.recording = recording;
    EXPECT_TRUE(rounds.run(segment, stop));
    reached = segment.until;
  }
  Outcome outcome() const {
    const auto x = sampler->positions();
    return {{x.begin(), x.end()}, {}, sampler->controls(), sampler->save()};
  }
};

}  // namespace kilochain
