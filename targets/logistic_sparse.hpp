// Logistic regression for many chains on one CPU core when much of X is 0 (images, indicators): the panels of zeros of
// targets/data/zeros.hpp are neither stored nor multiplied. MNIST's 5 and 6 keep 0.38 of X, and what is left stays in L3.
// Layout: the kept panels, [block][panel][4 registers of observations], with the feature of each.
// A slab of blocks that fits the L2 cache is finished for every chain before the next is read, as logistic_blocked.hpp
// does; the gradient's sums stay in lanes, one register for each feature and chain, for a strip of features in L1.
// Promise: a chain's result has the same bits whichever and however many chains are evaluated with it.
// Cost: 4 N n operations times the share that is kept, and a reduction over lanes once a slab.
#pragma once
#include "targets/data/zeros.hpp"
#include "targets/logistic_batches.hpp"
#include "targets/logistic_regression.hpp"

namespace kilochain {

template <class Real>
class SparseLogistic {
 public:
  SparseLogistic(const Design& design, const Panels& panels, double prior_sd, Arena<Real>& arena);
  /// Answers the queries of chains first..last-1 whose needs are not `nothing`.
  void evaluate(const Exchange<Real>& exchange, Index first, Index last) const;
  /// Observations of a panel.
  static const std::size_t rows;

 private:
  void run(const Exchange<Real>& exchange, Needs needs, const Index* chains, Index count) const;

  const Real *x_, *sign_;
  logistic::Prior prior_;
  double padding_;                      // 2^-(rows of padding)
  Index n_, strips_, most_blocks_;      // strips of features; blocks of the longest slab
  std::vector<std::int32_t> features_;  // of each panel
  std::vector<std::size_t> begin_;      // [block][strip]: its first panel
  std::vector<Index> slabs_;            // first block of each, and the number of blocks
};

}  // namespace kilochain
