// When a warm-up is over: blocks of iterations are compared until nothing that matters changes any more.
//   converged: the chains agree (split R-hat of the block), the mean log density does not change between blocks
//   (z < 3 over chains), the acceptance is near the target, and the sampler's efficiency (ESS of the slowest coordinate
//   an iteration) does not change either (within +30 and -40 %, its own noise). Learning rates then decay, so that the
//   factor comes to rest.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "host/chains/window.hpp"

namespace kilochain {

/// What one block of warm-up iterations looked like.
struct BlockSigns {
  std::vector<double> lp;        ///< mean log density of each running chain over the block
  double acceptance = 0;         ///< mean over chains and iterations
  double rhat = 0;               ///< largest split R-hat over coordinates
  double ess_per_iteration = 0;  ///< of the slowest coordinate, over all chains
  double ess_of_squares = 0;  ///< the same of squared deviations: trajectories may tell means apart better than widths
};

/// A block as its windows come: the draws of at most about 64 coordinates, (coordinate, chain, draw), because the
/// slowest of a spread sample stands for all; sums of the rest.
template <class Real>
class BlockOfDraws {
 public:
  BlockOfDraws(std::int64_t num_chains, std::int64_t dim);
  /// A new block of `count` draws, of every thin-th iteration.
  void begin(std::int64_t count, std::int64_t thin);
  void take(const Window<Real>& window);
  /// running: the chains that are not quarantined.
  BlockSigns signs(const std::vector<std::int64_t>& running, int threads) const;
  std::vector<double> acceptance() const;  ///< mean of each chain
  /// What it takes to go on within a block.
  template <class Visitor, class Self>
  static void visit(const Visitor& visit, Self& self) {
    visit("block_count", self.count_), visit("block_thin", self.thin_), visit("block_values", self.values_);
    visit("block_lp", self.lp_), visit("block_accepted", self.accepted_);
  }

 private:
  std::int64_t num_chains_, step_, coordinates_, count_ = 0, thin_ = 1;
  std::vector<Real> values_;
  std::vector<double> lp_, accepted_;  ///< (chain), sums
};

class WarmupMonitor {
 public:
  explicit WarmupMonitor(double target_accept) : target_accept_(target_accept) {}
  /// Takes the next block; true when the warm-up has converged.
  bool add(const BlockSigns& block);
  /// What a block of frozen chains says against the last one, for people: less than half of its acceptance, chains that
  /// accept nothing, another log density. Empty: nothing. rates: mean acceptance of each chain, NaN: quarantined.
  std::string frozen(const BlockSigns& block, const std::vector<double>& rates) const;
  /// Forgets all blocks.
  void restart() { *this = WarmupMonitor(target_accept_); }
  /// Of means and of squared deviations, whichever is less.
  double ess_per_iteration() const { return std::min(last_.ess_per_iteration, last_.ess_of_squares); }
  /// What still moved in the last block, for people.
  std::string note() const { return note_; }
  template <class Visitor, class Self>
  static void visit(const Visitor& visit, Self& self) {
    visit("monitor_blocks", self.blocks_), visit("monitor_note", self.note_), visit("monitor_lp", self.last_.lp);
    visit("monitor_ess", self.last_.ess_per_iteration), visit("monitor_ess_of_squares", self.last_.ess_of_squares);
  }

 private:
  double target_accept_;  ///< NaN: the sampler has none
  BlockSigns last_;
  int blocks_ = 0;
  std::string note_;
};

}  // namespace kilochain
