// The chains of a run, or of a part of one: a sampler on a target, run through iterations, their draws handed on window
// by window. Warm-up, sampling, trials, the estimate and the papers are all calls of `run`.
// In batches, the device holds one batch of chains at a time; the others wait on the host, saved, and a window is
// filled batch by batch. A batch pools its own chains.
// Where a device holds all chains it draws one window while the host takes the one before, which a thread hands on:
// this one may have to drive the device, for samplers that ask more than once an iteration.
#pragma once
#include <atomic>
#include <functional>
#include <future>
#include <memory>

#include "host/chains/draws_buffer.hpp"
#include "host/chains/rounds.hpp"
#include "host/run/options.hpp"
#include "host/run/quarantine.hpp"
#include "host/run/reporter.hpp"

namespace kilochain {

/// Which chains, by what.
struct EnsembleSetup {
  std::string sampler;
  SettingTexts settings;
  std::int64_t num_chains = 1, batch_size = 1;
  Scope scope = Scope::chain;
  std::uint64_t seed = 1;
  std::int64_t first_chain = 0;  ///< the first one's number: a chain's draws are a function of seed and number
};
EnsembleSetup setup_of(const Options& options);

/// Buffers that windows are drawn into in turn, and which iterations are kept: every thin-th after `origin`.
/// Where `seconds` is given, a window of slow chains is handed on after about so long, full or not.
template <class Real>
struct Windows {
  std::vector<DrawsBuffer<Real>> buffers;
  std::int64_t thin = 1, origin = 0;
  double seconds = 0;
  std::size_t next = 0;

  DrawsBuffer<Real>& turn() { return buffers[next++ % buffers.size()]; }
};

template <class Real>
class Ensemble {
 public:
  using Points = std::function<std::vector<Real>(Index first, Index count)>;
  using Take = std::function<void(Window<Real>&)>;

  Ensemble(const Context& context, Target<Real>& target, EnsembleSetup setup, Reporter& reporter,
           const std::atomic<bool>& stop);

  /// Starts every chain; `points`: (chain, dim) of `count` of them, counted from this ensemble's first. A second start
  /// forgets what was learnt.
  /// metric: what the adaptation begins with, or null. iteration: the first that is made.
  void start(const Points& points, const Metric* metric = nullptr, std::int64_t iteration = 0);
  /// Starts them where they stand, at points that change(x) has moved: (chain, dim) of all, in place.
  void start_again(const std::function<void(std::vector<Real>&)>& change, const Metric* metric, std::int64_t iteration);
  /// Between iterations. Where the factor changes, the next iteration must be one that adapts.
  void set_metric(const Metric& metric);
  /// Of the first batch: see Chains.
  double averaged_step();
  /// Relocates chains of `stuck` to where others of their batch and superchain stand; those of a superchain that is
  /// stuck as a whole to where one chain of another stands. Returns how many did.
  std::int64_t relocate(const std::vector<std::int64_t>& stuck, std::int64_t superchains);
  /// Iterations that adapt, up to num_warmup of them; and those after.
  Segment<Real> adapting(std::int64_t num_warmup) const;
  Segment<Real> sampling(std::int64_t num_warmup) const;
  /// Windows of this shape for `run`; `lent`: windows whose memory is read until the next one is taken.
  Windows<Real> windows(const WindowShape& shape, int lent = 0) const;
  /// A window of this run's chains.
  WindowShape shape(std::int64_t capacity, Recorded recorded = Recorded::draws) const;

  /// Runs every chain from iteration `from` to `until` and hands its draws to `take`, window by window, their numbers
  /// counted from windows.origin. Returns the iteration that all chains have reached: an earlier one when stopped, or
  /// when no chain is left. What is drawn depends on neither windows, batches nor pieces.
  std::int64_t run(const Segment<Real>& segment, std::int64_t from, std::int64_t until, Windows<Real>& windows,
                   const Take& take);
  /// The same, and keeps nothing.
  std::int64_t run(const Segment<Real>& segment, std::int64_t from, std::int64_t until);

  /// Calls f(first chain, chains) for each batch, while it is on the device.
  template <class F>
  void each(F&& f) {
    for (std::size_t k = 0; k < batches_.size(); ++k) {
      bring(k);
      f(batches_[k].first, *chains_);
    }
  }
  std::vector<ChainControl> controls();
  /// Of the first batch, (chain, dim).
  std::vector<Real> first_positions();
  /// Checkpoints of all batches, and back: in place of start.
  std::vector<std::vector<char>> save();
  void load(const std::vector<std::vector<char>>& saved);
  /// Where all chains are, (chain, dim).
  std::vector<Real> positions();
  /// Gradients since they were last taken; counts begin anew.
  std::int64_t take_gradients();

  std::int64_t num_chains() const { return setup_.num_chains; }
  bool in_batches() const { return batches_.size() > 1; }
  /// Whether a stop left chains within an iteration: they cannot be saved.
  bool broken_off() const { return rounds_->broken_off(); }
  bool asks_often() const { return chains_->exchange(Phase::sampling).asks == Asks::often; }
  /// How products with a shared factor are made and why; empty where there is no choice.
  std::string products() const { return chains_->products(); }
  const Quarantine& quarantine() const { return quarantine_; }
  bool any_left() const { return quarantine_.size() < num_chains(); }

 private:
  /// A window that is drawn, or under way: iterations from .. to - 1.
  struct Drawn {
    DrawsBuffer<Real>* buffer;
    std::int64_t from, to;
  };
  struct Batch {
    Index first;
    std::vector<char> saved;  ///< while another batch is on the device
  };

  void make();
  void bring(std::size_t batch);
  bool ahead() const { return context_.backend == Backend::cuda && batches_.size() == 1; }
  bool ends() const { return stop_ || !any_left(); }
  std::int64_t end_of_window(const Segment<Real>& segment, std::int64_t from, std::int64_t until,
                             const Windows<Real>& windows, const DrawsBuffer<Real>& buffer) const;
  std::int64_t fill(DrawsBuffer<Real>& buffer, Segment<Real> segment, std::int64_t from, std::int64_t until,
                    const Windows<Real>& windows);
  std::int64_t run_batch(const Batch& batch, Segment<Real>& segment, std::int64_t from, std::int64_t until);
  std::future<void> hand_on(const Drawn& drawn, const Windows<Real>& windows, const Take& take);
  void note(const std::vector<ChainControl>& controls, std::int64_t first, std::int64_t iteration);

  const Context& context_;
  Target<Real>& target_;
  const EnsembleSetup setup_;
  Reporter& reporter_;
  const std::atomic<bool>& stop_;
  std::vector<Batch> batches_;
  std::size_t on_device_ = 0;
  bool started_ = false;
  std::unique_ptr<Chains<Real>> chains_;  ///< of the batch on the device
  std::unique_ptr<Rounds<Real>> rounds_;
  Quarantine quarantine_;
  Windows<Real> nothing_;                        ///< for the chains' records alone
  std::chrono::steady_clock::time_point since_;  ///< when the oldest window under way became that
};

}  // namespace kilochain
