// Softmax regression on the CPU for many chains, by two matrix products of a BLAS: logits T = X W of some chains for a
// chunk of observations, T -> residuals in place, G += X^T T. A BLAS sums in an order that may depend on shapes and on a
// column's place, so both are fixed: chain c is always in place c mod `width`, and chains that are not there are zeros.
#pragma once
#include "targets/logistic_batches.hpp"
#include "targets/softmax_regression.hpp"

namespace kilochain {

template <class Real>
class GemmSoftmax final : public ManyChains<Real> {
 public:
  using Data = typename SoftmaxRegression<Real>::Data;  // with x_rows
  GemmSoftmax(const Data& data, double prior_sd);
  Index width() const { return width_; }
  void evaluate(const Exchange<Real>& exchange, Index first, Index last) const override;

 private:
  void run(const Exchange<Real>& exchange, Needs needs, const std::vector<Index>& chains) const;

  Data data_;
  Index width_;  // chains of one product
  logistic::Prior prior_;
};

}  // namespace kilochain
