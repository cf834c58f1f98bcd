// Logistic regression for many chains on one CPU core when much of X is 0: the products of targets/sparse_products.hpp.
// Promise: a chain's result has the same bits whichever and however many chains are evaluated with it.
#pragma once
#include "targets/logistic_batches.hpp"
#include "targets/sparse_products.hpp"

namespace kilochain {

/// Stored: Real, or std::uint8_t where X is `unit` times bytes.
template <class Real, class Stored>
class SparseLogistic final : public ManyChains<Real> {
 public:
  SparseLogistic(const Context& context, const Design& design, const Panels& panels, double unit, double prior_sd);
  void evaluate(const Exchange<Real>& exchange, Index first, Index last) const override;

 private:
  void run(const Exchange<Real>& exchange, Needs needs, const Index* chains, Index count) const;

  SparseProducts<Real, Stored> products_;
  Buffer<Real> sign_;  // in the order of the panels; padding: 0
  logistic::Prior prior_;
};

}  // namespace kilochain
