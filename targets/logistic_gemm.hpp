// Logistic regression for many chains by two matrix products of a BLAS: logits = X W, then X^T R, in chunks of
// observations for 32 chains at a time. A BLAS sums in an order that depends on the shapes and on a column's place, so
// both are fixed: chain c is always column c mod 32, and chains that are not there are zeros. One chain costs as much
// as 32.
#pragma once
#include "targets/logistic_batches.hpp"
#include "targets/logistic_regression.hpp"

namespace kilochain {

template <class Real>
class GemmLogistic final : public ManyChains<Real> {
 public:
  /// Needs data.x_rows.
  explicit GemmLogistic(const typename LogisticRegression<Real>::Data& data) : data_(data) {}
  void evaluate(const Exchange<Real>& exchange, Index first, Index last) const override;

  static constexpr Index width = 32;  ///< chains in one product

 private:
  void run(const Exchange<Real>& exchange, Needs needs, const Index* chains, Index count) const;

  typename LogisticRegression<Real>::Data data_;
};

}  // namespace kilochain
