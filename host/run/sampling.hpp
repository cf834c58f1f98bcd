// The sampling phase: windows of draws are filled, kept as the options say, and looked at for the progress line.
#pragma once
#include <memory>
#include <optional>

#include "host/run/draws_in_memory.hpp"
#include "host/run/phases.hpp"
#include "host/run/run_state.hpp"
#include "host/run/summary_on_device.hpp"
#include "host/statistics/progress_statistic.hpp"
#include "host/statistics/streaming/streaming.hpp"

namespace kilochain {

/// What sampling leaves behind, beside the file.
template <class Real>
struct Sampled {
  std::int64_t iterations = 0, draws = 0;  ///< of each chain: made; kept
  std::int64_t gradients = 0;              ///< of all chains
  double seconds = 0;
  bool interrupted = false;
  bool resumable = false;  ///< the file knows where the chains stand
  SummaryFrom summary_from = SummaryFrom::nothing;
  std::unique_ptr<DrawsInMemory<Real>> memory;  ///< where the draws are kept so
  std::unique_ptr<StreamingSummary> streaming;  ///< where the summary is made so
  std::vector<double> acceptance;               ///< mean of each chain; NaN of a quarantined one
  std::vector<Divergence> divergences;          ///< most_kept_divergences at most
  std::int64_t num_divergences = 0;             ///< draws of chains that are not quarantined
  std::string statistics;                       ///< where the streaming summary was made, and why, of a run on a device
};

/// `before`: where the run stood that is gone on with, or null.
template <class Real>
Sampled<Real> sample(const Phases<Real>& run, const WarmedUp& warm, const RunState* before);

/// Sampling under way.
template <class Real>
class Sampling {
 public:
  Sampling(const Phases<Real>& run, const WarmedUp& warm, const RunState* before);
  Sampled<Real> operator()();

 private:
  void prepare(std::int64_t num_draws);
  void fill_windows();
  bool leaves_host_next() const;
  std::int64_t next_draws(std::int64_t room);
  void deliver(DrawsBuffer<Real>& buffer, const DrawsMade& made);
  void deliver_digest(const DrawsBuffer<Real>& buffer, std::int64_t count);
  void exclude_quarantined();
  double seconds_so_far() const;
  bool save_is_due() const;
  void save_state();
  std::vector<Divergence> note_divergences(const DrawsBuffer<Real>& buffer, std::int64_t count);

  const Phases<Real>& run_;
  const WarmedUp& warm_;
  const RunState* const before_;
  const std::int64_t num_warmup_, num_samples_;
  std::chrono::steady_clock::time_point begin_, saved_at_;
  std::int64_t saved_ = -1;  ///< iterations at the last save
  bool leaves_state_ = false;
  Sampled<Real> out_;
  ProgressStatistic look_;
  /// Draws of each chain after which windows may stay on the device; empty: never.
  std::optional<std::int64_t> leaves_host_after_;
  std::unique_ptr<SummaryOnDevice<Real>> on_device_;  ///< since then
};

}  // namespace kilochain
