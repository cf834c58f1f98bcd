// The chains of a run, as run.cpp makes them: a few, of a small Gaussian, warmed up.
#pragma once
#include <gtest/gtest.h>

#include "host/registry/registry.hpp"
#include "host/run/ensemble.hpp"
#include "host/run/start.hpp"

namespace kilochain {

struct WindowBench {
  static constexpr std::int64_t room = 12;  // a graph of 8 rounds and 4 more
  Options options;
  const Context& context;
  Reporter reporter;
  std::atomic<bool> stop{false};
  std::unique_ptr<Target<float>> target;
  Ensemble<float> chains;
  Segment<float> segment;
  Windows<float> windows;
  std::int64_t reached = 0;

  WindowBench(const Context& c, const std::string& sampler, std::int64_t batch_size = 0,
              Recorded recorded = Recorded::draws)
      : options(of(sampler, batch_size)),
        context(c),
        target(make_target<float>(c, options.target, options.target_settings)),
        chains(c, *target, setup_of(options), reporter, stop) {
    chains.start(
        [&](Index first, Index count) { return StartingPoints<float>(options, target->info().dim).of(first, count); });
    reached = chains.run(chains.adapting(30), 0, 30);
    segment = chains.sampling(30);
    windows = chains.windows(chains.shape(room, recorded));
    windows.origin = 30;
  }
  static Options of(const std::string& sampler, std::int64_t batch_size) {
    Options o;
    o.target = "gaussian";
    o.target_settings = {{"preset", "gauss2d_corr"}};
    o.sampler = sampler;
    o.num_chains = 6;
    o.chain_batch_size = batch_size;
    return o;
  }
  /// The values of so many windows more, in one run of the chains.
  std::vector<std::vector<float>> draw(int count) {
    std::vector<std::vector<float>> out;
    const std::int64_t until = reached + count * room;
    EXPECT_EQ(chains.run(segment, reached, until, windows,
                         [&](const Window<float>& w) {
                           EXPECT_EQ(w.count, room);
                           out.emplace_back(w.draws.data,
                                            w.draws.data + w.draws.planes * w.draws.rows * w.draws.columns);
                         }),
              until);
    reached = until;
    return out;
  }
};

}  // namespace kilochain
