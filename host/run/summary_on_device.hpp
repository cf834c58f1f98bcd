// The streaming summary and the progress line's figures of windows that stay on the device: queued behind the drawing of each
// window, on the same stream, so that nothing is overwritten before it is added and no event is needed between the two.
#pragma once
#include "host/chains/window.hpp"
#include "host/statistics/progress_statistic.hpp"
#include "host/statistics/streaming/streaming.hpp"

namespace kilochain {

template <class Real>
class SummaryOnDevice final : public WindowUser<Real> {
 public:
  /// Moves both to the device; the summary must be streaming already.
  SummaryOnDevice(const Context& context, StreamingSummary& summary, ProgressStatistic& look, std::int64_t num_chains)
      : threads_(context.threads), num_chains_(num_chains), summary_(summary), look_(look) {
    summary_.move_to(context);
    look_.move_to(context);
  }
  /// How many draws, at most `most`, the next window may have.
  std::int64_t begin(std::int64_t most) { return summary_.begin_stretch(most, threads_); }
  void use(const WindowOnDevice<Real>& w) override {
    summary_.add_on_device(w.draws, w.first_chain, w.count, w.quarantined);
    look_.add_on_device(w.draws, w.first_chain, w.count, w.quarantined);
    if (w.first_chain + w.draws.planes < num_chains_) return;
    summary_.end_stretch(w.count);
    look_.end_stretch(w.count, reinterpret_cast<ProgressFigures*>(w.told));
  }
  /// For the progress line, from a digest; draws: of each chain so far.
  ProgressStatistic::Worst worst(const WindowDigest& digest, std::int64_t draws) const {
    ProgressFigures figures[kProgressParameters];
    for (int k = 0; k < kProgressParameters; ++k) figures[k] = {digest.told[2 * k], digest.told[2 * k + 1]};
    return look_.worst_of(figures, draws);
  }

 private:
  static_assert(sizeof(WindowDigest::told) == kProgressParameters * sizeof(ProgressFigures));
  int threads_;
  std::int64_t num_chains_;
  StreamingSummary& summary_;
  ProgressStatistic& look_;
};

}  // namespace kilochain
