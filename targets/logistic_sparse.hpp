// Logistic regression for many chains on one CPU core when much of X is 0 (images, indicators): the panels of zeros of
// targets/data/zeros.hpp are neither stored nor multiplied. MNIST's 5 and 6 keep 0.38 of X.
// Pixels, counts and indicators are stored as bytes and become numbers in registers: 3.4 MB of MNIST in place of 71.
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

/// Observations of a panel.
template <class Real>
std::size_t panel_rows();

/// Stored: Real, or std::uint8_t where X is `unit` times bytes.
template <class Real, class Stored>
class SparseLogistic final : public ManyChains<Real> {
 public:
  SparseLogistic(const Context& context, const Design& design, const Panels& panels, double unit, double prior_sd);
  void evaluate(const Exchange<Real>& exchange, Index first, Index last) const override;

 private:
  void run(const Exchange<Real>& exchange, Needs needs, const Index* chains, Index count) const;

  Buffer<Stored> x_;
  Buffer<Real> sign_;
  double unit_;  // of what is stored
  logistic::Prior prior_;
  double padding_;                      // 2^-(rows of padding)
  Index n_, strips_, most_blocks_;      // strips of features; blocks of the longest slab
  std::vector<std::int32_t> features_;  // of each panel
  std::vector<std::size_t> begin_;      // [block][strip]: its first panel
  std::vector<Index> slabs_;            // first block of each, and the number of blocks
};

}  // namespace kilochain
