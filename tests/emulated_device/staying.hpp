// Windows of draws that stay on the device, where they are added up to a summary.
#pragma once
#include "host/run/summary_on_device.hpp"
#include "tests/emulated_device/window_bench.hpp"

namespace kilochain {

/// Windows that stay, after one that the host has seen.
struct Staying {
  WindowBench run;
  StreamingSummary summary{6, 2, 40, [] {  // of so few draws no map is learnt anew
                             StreamingOptions o;
                             o.first_values = 6 * 4;
                             return o;
                           }()};
  ProgressStatistic look{6, 2};
  DrawsBuffer<float> windows[3] = {run.buffer(), run.buffer(), run.buffer()};
  std::unique_ptr<SummaryOnDevice<float>> user;
  std::int64_t begun = 0;
  std::vector<std::int64_t> draws;

  Staying(const Context& context, const std::string& sampler, std::int64_t batch = 0, bool stays = true)
      : run(context, sampler, batch) {
    run.begin(windows[0]);
    run.batches.take(windows[0], WindowBench::room, run.reached);
    const Window<float> w = windows[0].window(WindowBench::room, std::vector<std::int64_t>(6, WindowBench::room));
    summary.add(w.draws, WindowBench::room, 1), look.add(w.draws, WindowBench::room, 1);
    if (!stays) return;
    for (auto& window : windows) window.prepare_to_stay();
    user = std::make_unique<SummaryOnDevice<float>>(context, summary, look, 6);
  }
  void begin() {
    draws.push_back(user->begin(WindowBench::room));
    const std::int64_t until = run.reached + draws.back();
    EXPECT_EQ(run.batches.begin(run.segment, run.reached, until, {&windows[++begun % 3], 1, user.get()}), until);
    run.reached = until;
  }
  std::vector<ChainControl> take(std::int64_t which) {
    return run.batches.take(windows[which % 3], draws[static_cast<std::size_t>(which - 1)], run.reached);
  }
  std::vector<ParameterSummary> results() {
    summary.bring_back();
    return summary.results({"x", "y"}, 1);
  }
};

}  // namespace kilochain
