// When a warm-up is over: blocks of iterations are compared until nothing that matters changes any more.
//   converged: the chains agree (split R-hat of the block), the mean log density stands still between blocks (z < 3 over
//   chains), the acceptance is near the target and the sampler's efficiency (ESS of the slowest coordinate an iteration)
//   stands still too (within +30 and -40 %, its own noise). Learning rates then decay, so that the factor settles.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/device/view.hpp"

namespace kilochain {

/// What one block of warm-up iterations looked like.
struct BlockSigns {
  std::vector<double> lp;        ///< mean log density of each running chain over the block
  double acceptance = 0;         ///< mean over chains and iterations
  double rhat = 0;               ///< largest split R-hat over coordinates
  double ess_per_iteration = 0;  ///< of the slowest coordinate, over all chains
  double ess_of_squares = 0;  ///< the same of squared deviations: trajectories may tell means apart better than widths
};

/// The draws of a block: every thin-th iteration, of every chain.
template <class Real>
struct BlockOfDraws {
  View3<const Real> draws;      ///< (chain, capacity, dim), the first `count` of each chain
  View2<const double> lp;       ///< (chain, capacity)
  View2<const float> accepted;  ///< (chain, capacity): acceptance rates
  std::int64_t count = 0, thin = 1;
  std::vector<std::int64_t> running;  ///< chains that are not quarantined
};

template <class Real>
BlockSigns signs_of(const BlockOfDraws<Real>& block, int threads);

class WarmupMonitor {
 public:
  explicit WarmupMonitor(double target_accept) : target_accept_(target_accept) {}
  /// Takes the next block; true when the warm-up has converged.
  bool add(const BlockSigns& block);
  /// Forgets all blocks.
  void restart() { *this = WarmupMonitor(target_accept_); }
  /// Of means and of squared deviations, whichever is less.
  double ess_per_iteration() const { return std::min(last_.ess_per_iteration, last_.ess_of_squares); }
  /// What still moved in the last block, for people.
  std::string note() const { return note_; }

 private:
  double target_accept_;  ///< NaN: the sampler has none
  BlockSigns last_;
  int blocks_ = 0;
  std::string note_;
};

}  // namespace kilochain
