// Rounds of evaluate and advance: the loop that brings samplers and targets together, on either backend.
//   CPU: each thread takes tiles of chains through a whole stretch of iterations, so a tile's state stays in its cache.
//   CUDA: all chains are one tile; evaluate and advance are launches on the context's stream.
// Pooled adaptation makes every iteration a barrier: propose, evaluate, update for all chains, then one step of the factor.
#pragma once
#include <atomic>

#include "host/chains/chains.hpp"

namespace kilochain {

template <class Real>
class Rounds {
 public:
  Rounds(const Context& context, Target<Real>& target, Chains<Real>& sampler, Index num_chains)
      : context_(context),
        target_(target),
        sampler_(sampler),
        num_chains_(num_chains),
        tile_(context.backend == Backend::cuda
                  ? num_chains
                  : std::max<Index>(1, std::min(num_chains, target.tile(num_chains, context.threads)))) {}

  /// Evaluates the starting points, x: (chain, dim), and starts every chain there.
  void start(const std::vector<Real>& x);
  /// Runs every chain to segment.until; a segment that pools takes one step of the shared adaptation after each iteration.
  /// Stops early, at the end of an iteration or tile, when `stop` becomes true; returns false then.
  bool run(const Segment<Real>& segment, const std::atomic<bool>& stop);

 private:
  template <class F>
  void each_tile(F&& f);
  void stretch(Index first, Index last, const Segment<Real>& segment);

  const Context& context_;
  Target<Real>& target_;
  Chains<Real>& sampler_;
  Index num_chains_, tile_;
  double alone_seconds_ = 0;  ///< of one pooled iteration on one thread, once measured; decides threads, never draws
};

}  // namespace kilochain
