// Points as columns: rows (point, n) of a Real are the columns of (n, point) in memory.
#pragma once
#include <Eigen/Core>
#include <vector>

#include "host/learn/learnt_metric.hpp"

namespace kilochain {

/// Values of points, (n, point), each a column.
template <class Real>
Eigen::MatrixXd columns_of(const std::vector<Real>& values, Index n) {
  using Columns = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
  return Eigen::Map<const Columns>(values.data(), n, std::ssize(values) / n).template cast<double>();
}

template <class Real>
std::vector<Real> values_of(const Eigen::MatrixXd& columns) {
  return {columns.data(), columns.data() + columns.size()};
}

/// F of a metric, lower triangle; as vectors have it, it is by rows.
inline Eigen::MatrixXd factor_of(const std::vector<double>& factor, Index n) {
  return Eigen::Map<const Eigen::MatrixXd>(factor.data(), n, n).transpose();
}
inline Eigen::MatrixXd factor_of(const MetricLearner& learner, Index n) { return factor_of(learner.factor(), n); }

}  // namespace kilochain
