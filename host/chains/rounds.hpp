// Rounds of evaluate and advance: the loop that brings samplers and targets together, on either backend.
//   CPU: each thread takes tiles of chains through a whole stretch of iterations, so a tile's state stays in its cache.
//   CUDA: all chains are one tile; evaluate and advance are launches on the context's stream.
// Pooled adaptation makes every iteration a barrier: propose, evaluate, update for all chains, then one step of the
// factor.
#pragma once
#include <algorithm>
#include <atomic>

#include "host/chains/chains.hpp"

namespace kilochain {

template <class Real>
class Rounds {
 public:
  Rounds(const Context& context, Target<Real>& target, Chains<Real>& sampler, Index num_chains,
         double least_shared_seconds = 40e-6)
      : context_(context),
        target_(target),
        sampler_(sampler),
        num_chains_(num_chains),
        tile_(context.backend == Backend::cuda
                  ? num_chains
                  : std::max<Index>(1, std::min(num_chains, target.tile(num_chains, context.threads)))),
        least_shared_seconds_(least_shared_seconds) {}

  /// Evaluates the starting points, x: (chain, dim), and starts every chain there.
  void start(const std::vector<Real>& x);
  /// Runs every chain to segment.until; a segment that pools takes one step of the shared adaptation after each
  /// iteration.
  /// Returns false when it ended early because of `stop`. One that pools, or that is replayed on a device, ends after
  /// an iteration; callers keep others short. An iteration that still goes on half a second after `stop`, such as a
  /// tree of a model with dear gradients, is left where it is.
  bool run(const Segment<Real>& segment, const std::atomic<bool>& stop);
  /// Where the last run ended: what a device has queued, what all chains have done.
  std::int64_t reached() const { return reached_; }
  /// Whether iterations were left where they were: chains cannot go on, nor be saved.
  bool broken_off() const { return broken_off_; }

 private:
  template <class F>
  void each_tile(F&& f);
  void stretch(Index first, Index last, const Segment<Real>& segment);
  bool out_of_patience();
  std::int64_t run_together(const Segment<Real>& segment, const std::atomic<bool>& stop);
  int threads_for_pooled();
  std::int64_t time_alone(std::int64_t now, const Segment<Real>& segment);
  std::int64_t slowest_iteration(std::int64_t until) const;
  Index tiles() const { return (num_chains_ + tile_ - 1) / tile_; }
  Index first_tile_of(Index part, Index parts) const {
    return static_cast<Index>(std::int64_t{tiles()} * part / parts);
  }
  Index end_of(Index tile) const { return std::min(num_chains_, (tile + 1) * tile_); }

  const Context& context_;
  Target<Real>& target_;
  Chains<Real>& sampler_;
  Index num_chains_, tile_;
  /// Below this an iteration is not worth meeting for: two meetings cost microseconds when the cores are free, and wait
  /// for the scheduler when they are not.
  double least_shared_seconds_;
  std::int64_t reached_ = 0;
  const std::atomic<bool>* stop_ = nullptr;  ///< of the run under way
  std::atomic<std::int64_t> stop_seen_{0};   ///< when, in ticks of the steady clock; 0: not yet
  std::atomic<bool> broken_off_{false};
  /// Of one pooled iteration, by one thread and by the team, once measured; they decide threads, never draws.
  double alone_seconds_ = 0, team_seconds_ = 0;
  int pooled_runs_ = 0;
};

}  // namespace kilochain
