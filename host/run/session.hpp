// One run under way: chains, windows of draws, sinks, progress. Phases in order: open_output, start, warm_up, sample, finish.
// With chain_batch_size the device holds one batch of chains at a time; the others wait on the host, saved, and each window is
// filled batch by batch. A batch pools its own chains.
#pragma once
#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <optional>

#include "host/chains/draws_buffer.hpp"
#include "host/chains/rounds.hpp"
#include "host/draws/draws_file.hpp"
#include "host/run/device.hpp"
#include "host/run/warmup.hpp"
#include "host/statistics/streaming/streaming.hpp"

namespace kilochain {

template <class Real>
class Session {
 public:
  Session(const Options& options, const Context& context, Target<Real>& target, const ProgressCallback& progress,
          const std::atomic<bool>& stop);
  ~Session();
  /// Creates the file; Error (usage) when it cannot be written.
  void open_output();
  void start();
  void warm_up();
  void sample();
  Result finish();

 private:
  using Clock = std::chrono::steady_clock;
  struct PhaseTotals {
    std::int64_t gradients = 0;
    double seconds = 0;
  };

  /// Chains that are on the device together.
  struct Batch {
    Index first;
    std::vector<char> saved;  ///< while another batch is on the device
  };

  void bring(std::size_t batch);
  bool each_batch(std::int64_t from, Segment<Real>& segment, DrawsBuffer<Real>* buffer, const Recording<Real>& kept,
                  std::int64_t until);
  std::vector<ChainControl> all_controls();
  bool stretch(Segment<Real>& segment, std::int64_t until);
  void automatic_warmup();
  std::size_t lead_in(const Window<Real>& window, std::int64_t count);
  void fixed_warmup();
  BlockSigns signs_of(const Window<Real>& window, std::int64_t count, const std::vector<ChainControl>& controls) const;
  std::int64_t automatic_samples() const;
  void keep(const Window<Real>& window, std::int64_t count);
  void deliver(DrawsBuffer<Real>& buffer, std::int64_t count, const std::vector<ChainControl>& controls,
               std::int64_t first);
  std::vector<Divergence> note_divergences(const DrawsBuffer<Real>& buffer, const Window<Real>& window,
                                           std::int64_t count);
  void wait_for_disk();
  void note_quarantined(const std::vector<ChainControl>& controls, Index first);
  std::vector<std::int64_t> quarantined_chains() const;
  void report(const char* phase, std::int64_t done, std::int64_t total);
  DrawsHeader header(std::int64_t num_samples) const;
  void create_file(std::int64_t num_samples);
  double seconds_since(Clock::time_point t) const { return std::chrono::duration<double>(Clock::now() - t).count(); }

  const Options& options_;
  const Context& context_;
  Target<Real>& target_;
  const ProgressCallback& progress_;
  const std::atomic<bool>& stop_;
  Index num_chains_, batch_size_, dim_;
  Index recorded_;  ///< values recorded of each draw: the coordinates, or what the target makes of them
  std::vector<double> kept_;
  std::vector<Batch> batches_;
  std::size_t on_device_ = 0;
  int num_stats_;
  std::unique_ptr<Chains<Real>> sampler_;
  std::unique_ptr<Rounds<Real>> rounds_;
  std::unique_ptr<DrawsWriter> writer_;
  std::unique_ptr<StreamingSummary> streaming_;
  std::future<void> pending_;  ///< the window that is on its way to the disk
  std::int64_t iteration_ = 0, num_warmup_ = 0, num_samples_ = 0, sampled_ = 0, draws_ = 0;
  double per_iteration_ = 0;  ///< seconds, smoothed
  PhaseTotals warmup_, sampling_;
  double ess_per_iteration_ = 0, acceptance_now_ = 0;
  bool interrupted_ = false, converged_ = true;
  std::size_t led_in_ = 0;  ///< chains that accepted nothing and were led to where the density is
  std::string warmup_note_;
  std::vector<std::string> notes_;
  std::vector<QuarantinedChain> quarantined_;
  std::vector<Divergence> divergences_;
  std::int64_t num_divergences_ = 0;  ///< draws of chains that are not quarantined
  std::vector<ChainControl> final_controls_;
  Clock::time_point begin_, phase_begin_, last_report_;
};

}  // namespace kilochain
