// Windows of draws that stay on the device, where they are added up to a summary.
#pragma once
#include "host/run/phases.hpp"
#include "host/run/summary_on_device.hpp"
#include "tests/emulated_device/window_bench.hpp"

namespace kilochain {

/// Windows that stay, after one that the host has seen.
struct Staying {
  WindowBench run;
  StreamingSummary summary;
  ProgressStatistic look;
  DrawsBuffer<float> windows[3] = {run.buffer(), run.buffer(), run.buffer()};
  std::unique_ptr<SummaryOnDevice<float>> user;
  std::int64_t begun = 0;
  std::vector<std::int64_t> draws;

  std::int64_t thin, divergences = 0;

  Staying(const Context& context, const std::string& sampler, std::int64_t batch = 0, bool stays = true,
          std::int64_t thin_ = 1, const SettingTexts& settings = {}, const WindowSize& size = {})
      : run(context, sampler, batch, settings, size),
        summary(size.chains, run.target->info().dim, 40, options(size.chains)),
        look(size.chains, run.target->info().dim),
        thin(thin_) {
    see(WindowBench::room);
    if (!stays) return;
    for (auto& window : windows) window.prepare_to_stay(), window.leave_host();
    user = std::make_unique<SummaryOnDevice<float>>(context, summary, look, size.chains);
  }
  static StreamingOptions options(std::int64_t chains) {  // of so few draws no map is learnt anew
    StreamingOptions o;
    o.first_values = chains * 4;
    return o;
  }
  /// A window that the host sees, and `most` of its draws.
  void see(std::int64_t most) {
    const std::int64_t first = run.reached;
    run.begin(windows[0], thin);
    const auto controls = run.batches.take(windows[0], thin * WindowBench::room, run.reached);
    const auto made = DrawsMade::until_quarantine(controls, first, thin, WindowBench::room);
    const Window<float> w = windows[0].window(WindowBench::room, made.by_chain);
    for (Count c = 0; c < run.options.num_chains; ++c)
      for (Count t = 0; t < std::min(most, WindowBench::room); ++t) divergences += w.diverging(c, t);
    exclude();
    summary.add(w.draws, std::min(most, WindowBench::room), 1), look.add(w.draws, std::min(most, WindowBench::room), 1);
  }
  void begin() {
    draws.push_back(user->begin(WindowBench::room));
    const std::int64_t until = run.reached + thin * draws.back();
    EXPECT_EQ(run.batches.begin(run.segment, run.reached, until, {&windows[++begun % 3], thin, user.get()}), until);
    run.reached = until;
  }
  std::vector<ChainControl> take(std::int64_t which) {
    auto controls =
        run.batches.take(windows[which % 3], thin * draws[static_cast<std::size_t>(which - 1)], run.reached);
    divergences += windows[which % 3].digest().divergences;
    exclude();
    return controls;
  }
  void exclude() {
    for (const auto chain : run.batches.quarantine().chains()) summary.exclude(chain), look.exclude(chain);
  }
  std::vector<ParameterSummary> results() {
    summary.bring_back();
    return summary.results({"x", "y"}, 1);
  }
};

}  // namespace kilochain
