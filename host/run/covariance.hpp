// The covariance of many draws, shrunk towards its diagonal where they are few, as a Cholesky factor.
//   S' = diag(S) + (1 - exp(-r/(4 n))) (S - diag(S)) for r draws of n coordinates
// With draws enough next to nothing is shrunk: a fixed share would bound how well a long, thin posterior can be whitened.
// Sums are taken about the first draw, so that a mean far from 0 costs no digits. Cost: n^2/2 a draw, n^3/3 a factor.
#pragma once
#include <Eigen/Dense>
#include <cmath>
#include <vector>

namespace kilochain {

class Covariance {
 public:
  explicit Covariance(Eigen::Index n)
      : n_(n), rows_(n, most_held), origin_(n), sum_(n), square_(Eigen::MatrixXd::Zero(n, n)) {
    sum_.setZero();
  }
  template <class T>
  void add(const T* x) {
    if (count_++ == 0)
      for (Eigen::Index i = 0; i < n_; ++i) origin_[i] = static_cast<double>(x[i]);
    if (held_ == most_held) flush();
    for (Eigen::Index i = 0; i < n_; ++i) rows_(i, held_) = static_cast<double>(x[i]) - origin_[i];
    ++held_;
  }
  std::int64_t count() const { return count_; }
  /// L with L L^T = S', lower triangle of (n, n), row-major.
  std::vector<double> shrunk_factor() {
    flush();
    const double r = static_cast<double>(count_);
    const Eigen::VectorXd mean = sum_ / r;
    Eigen::MatrixXd s = square_.selfadjointView<Eigen::Lower>();
    s = (s / r - mean * mean.transpose()) * (r / std::max(1.0, r - 1));
    const Eigen::VectorXd variance = s.diagonal().cwiseMax(1e-300);
    s *= 1 - std::exp(-r / (4 * static_cast<double>(n_)));
    s.diagonal() = variance;
    const Eigen::LLT<Eigen::MatrixXd> llt(s);
    Eigen::MatrixXd L = variance.cwiseSqrt().asDiagonal();
    if (llt.info() == Eigen::Success) L = llt.matrixL();
    std::vector<double> out(static_cast<std::size_t>(n_ * n_));
    Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(out.data(), n_, n_) = L;
    return out;
  }

 private:
  static constexpr Eigen::Index most_held = 256;
  void flush() {
    const auto block = rows_.leftCols(held_);
    if (held_ > 0) {
      square_.selfadjointView<Eigen::Lower>().rankUpdate(block);
      sum_ += block.rowwise().sum();
    }
    held_ = 0;
  }
  Eigen::Index n_, held_ = 0;
  std::int64_t count_ = 0;
  Eigen::MatrixXd rows_;
  Eigen::VectorXd origin_, sum_;
  Eigen::MatrixXd square_;
};

}  // namespace kilochain
