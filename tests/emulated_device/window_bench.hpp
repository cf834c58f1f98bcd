// The batches of a run, as run.cpp makes them, on a few chains of a small Gaussian.
#pragma once
#include <gtest/gtest.h>

#include "host/registry/registry.hpp"
#include "host/run/batches.hpp"

namespace kilochain {

/// How many chains, of which Gaussian.
struct WindowSize {
  std::int64_t chains = 6;
  const char* preset = "gauss2d_corr";
};

struct WindowBench {
  static constexpr std::int64_t room = 12;  // a graph of 8 rounds and 4 more
  Options options;
  const Context& context;
  ProgressCallback silent;
  Reporter reporter{silent};
  std::atomic<bool> stop{false};
  std::unique_ptr<Target<float>> target;
  Batches<float> batches;
  Segment<float> segment;
  std::int64_t reached = 0;

  WindowBench(const Context& c, const std::string& sampler, std::int64_t batch_size = 0,
              const SettingTexts& settings = {}, const WindowSize& size = {})
      : options(of(sampler, batch_size, settings, size)),
        context(c),
        target(make_target<float>(c, options.target, options.target_settings)),
        batches(options, context, *target, reporter, stop) {
    batches.start(StartingPoints<float>(options, target->info().dim));
    segment.schedule.adapting = true;
    segment.schedule.num_warmup = 30;
    segment.scope = options.adapt_scope;
    reached = batches.run(segment, 0, 30);
    segment.schedule.adapting = false;
    segment.phase_start = 30;
  }
  static Options of(const std::string& sampler, std::int64_t batch_size, const SettingTexts& settings = {},
                    const WindowSize& size = {}) {
    Options o;
    o.sampler_settings = settings;
    o.target = "gaussian";
    o.target_settings = {{"preset", size.preset}};
    o.sampler = sampler;
    o.num_chains = size.chains;
    o.chain_batch_size = batch_size;
    return o;
  }
  DrawsBuffer<float> buffer(Recorded what = Recorded::draws) const {
    const auto stats = static_cast<int>(find_sampler(options.sampler).stats.size());
    return {context, batches.num_chains(), batches.batch_size(), target->info().dim, room, stats, what};
  }
  void begin(DrawsBuffer<float>& into, std::int64_t thin = 1) {
    const std::int64_t until = batches.begin(segment, reached, reached + thin * room, {&into, thin});
    EXPECT_EQ(until, reached + thin * room);
    reached = until;
  }
};

}  // namespace kilochain
