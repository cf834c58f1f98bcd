// Logistic regression for many chains on one CPU core: X is brought from memory once for all chains of a call.
// Layout: X in blocks of 4 registers of observations, [block][feature][observation]: lanes are observations in both
// products, so one copy serves both. A slab of blocks that fits the L2 cache is finished (logits, residuals, gradient)
// for every chain before the next slab is read. Promise: a chain's result has the same bits whichever and however many
// chains are evaluated with it: its logits are sums in the order of the features, its gradient sums over lanes in the
// order of the observations, and neither depends on the number of chains that a micro-kernel holds in registers.
#pragma once
#include "targets/logistic_batches.hpp"
#include "targets/logistic_regression.hpp"

namespace kilochain {

template <class Real>
class BlockedLogistic final : public ManyChains<Real> {
 public:
  BlockedLogistic(const Design& design, double prior_sd, Arena<Real>& arena);
  void evaluate(const Exchange<Real>& exchange, Index first, Index last) const override;

 private:
  void run(const Exchange<Real>& exchange, Needs needs, const Index* chains, Index count) const;
  void run_one(const Exchange<Real>& exchange, bool gradient, Index chain) const;

  const Real *x_, *sign_;
  logistic::Prior prior_;
  double padding_;               // 2^-(rows of padding)
  Index n_, num_blocks_, slab_;  // slab_: blocks in a slab
};

}  // namespace kilochain
