// All chains of a run. With chain_batch_size the device holds one batch of chains at a time; the others wait on the host,
// saved, and each window of draws is filled batch by batch. A batch pools its own chains.
#pragma once
#include <atomic>
#include <memory>

#include "host/chains/draws_buffer.hpp"
#include "host/chains/rounds.hpp"
#include "host/run/quarantine.hpp"
#include "host/run/reporter.hpp"
#include "host/run/start.hpp"

namespace kilochain {

/// Where iterations leave their draws, if anywhere.
template <class Real>
struct Into {
  DrawsBuffer<Real>* buffer = nullptr;
  std::int64_t thin = 1;
  WindowUser<Real>* user = nullptr;  ///< if any: the window stays on the device, and goes to it
  std::int64_t late = 0;             ///< iterations since the last draw that was kept, below thin
};

template <class Real>
class Batches {
 public:
  Batches(const Options& options, const Context& context, Target<Real>& target, Reporter& reporter,
          const std::atomic<bool>& stop);

  /// Starts every chain. Throws Error (data) when none can.
  void start(const StartingPoints<Real>& points);
  /// Begins all chains again, their adaptation too, at x[batch]: (chain, dim).
  void restart(const std::vector<std::vector<Real>>& x);
  /// Runs every chain from iteration `from` to `until`, and returns the iteration that all have reached: an earlier one when
  /// stopped. What is drawn does not depend on the pieces in which that is done. Throws Error (data) when no chain is left.
  std::int64_t run(Segment<Real> segment, std::int64_t from, std::int64_t until, Into<Real> into = {});
  /// Whether windows are begun ahead, because a device has all chains at once: it draws one while the host looks at another.
  bool ahead() const { return context_.backend == Backend::cuda && batches_.size() == 1; }
  /// How many windows may be under way at a time.
  int windows_under_way() const { return ahead() ? 2 : 1; }
  /// How products with a shared factor are made and why; empty where there is no choice.
  std::string products() const { return chains_->products(); }
  /// The same as run for a window, which a device may still be drawing on return: take() waits for it. Windows are taken in
  /// the order in which they were begun.
  std::int64_t begin(Segment<Real> segment, std::int64_t from, std::int64_t until, Into<Real> into);
  /// Waits for the window that was begun first, of iterations up to `reached`; the chains' records after it (of one that
  /// stays on the device only if there is news). Throws as run.
  std::vector<ChainControl> take(DrawsBuffer<Real>& buffer, std::int64_t iterations, std::int64_t reached);

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
  /// Checkpoints of all batches, and back: in place of start. No window may be under way.
  std::vector<std::vector<char>> save();
  void load(const std::vector<std::vector<char>>& saved);
  /// Gradients since they were last taken.
  std::int64_t take_gradients();

  Index num_chains() const { return num_chains_; }
  Index batch_size() const { return batch_size_; }
  const Quarantine& quarantine() const { return quarantine_; }

 private:
  struct Batch {
    Index first;
    std::vector<char> saved;  ///< while another batch is on the device
  };

  std::unique_ptr<Chains<Real>> fresh() const;
  void bring(std::size_t batch);
  std::int64_t fill(Segment<Real> segment, std::int64_t from, std::int64_t until, Into<Real> into, bool waits);
  std::int64_t run_batch(Segment<Real>& segment, std::int64_t from, std::int64_t until, bool waits,
                         const std::atomic<bool>& stop);
  std::int64_t run_ahead(Segment<Real>& segment, std::int64_t from, std::int64_t until);
  void settle(DrawsBuffer<Real>& buffer);
  void report(double acceptance_sum, double counted, std::int64_t iteration);
  void look_at_chains(const std::vector<ChainControl>& controls, std::int64_t first, std::int64_t iteration);

  const Options& options_;
  const Context& context_;
  Target<Real>& target_;
  Reporter& reporter_;
  const std::atomic<bool>& stop_;
  Index num_chains_, batch_size_;
  std::vector<Batch> batches_;
  std::size_t on_device_ = 0;
  std::unique_ptr<Chains<Real>> chains_;  ///< of the batch on the device
  Rounds<Real> rounds_;
  Quarantine quarantine_;
  int under_way_ = 0;                            ///< windows
  std::vector<DrawsBuffer<Real>> pieces_;        ///< two, for the chains' records after pieces of a run
  DrawsBuffer<Real>* staying_ = nullptr;         ///< the window that stays on the device and was not taken yet
  std::chrono::steady_clock::time_point since_;  ///< when the window that is taken next began to be the first under way
};

}  // namespace kilochain
