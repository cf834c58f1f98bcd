// Softmax regression for many chains on one CPU core: the products of targets/sparse_products.hpp, a column for each
// class of a chain. MNIST's ten digits keep 0.4 of X, as bytes. A BLAS is no quicker where nothing is 0 (0.84 ms beside
// 0.71: 20 000 observations x 60 features x 10 classes, 64 chains), and for a few chains it has to multiply zeros to
// keep its order of sums.
// Promise: a chain's result has the same bits whichever and however many chains are evaluated with it.
#pragma once
#include "targets/logistic_batches.hpp"
#include "targets/softmax_regression.hpp"
#include "targets/sparse_products.hpp"

namespace kilochain {

/// Stored: Real, or std::uint8_t where X is `unit` times bytes.
template <class Real, class Stored>
class SoftmaxProducts final : public ManyChains<Real> {
 public:
  SoftmaxProducts(const Context& context, const Design& design, const Panels& panels, double unit, double prior_sd);
  void evaluate(const Exchange<Real>& exchange, Index first, Index last) const override;

 private:
  void run(const Exchange<Real>& exchange, Needs needs, const Index* chains, Index count) const;

  SparseProducts<Real, Stored> products_;
  Buffer<Real> y_;  // in the order of the panels
  Index classes_;
  logistic::Prior prior_;
};

}  // namespace kilochain
