// What straight lines say of a logistic regression where draws are.
// Of observation i, over draws, with logits t_i and residuals r_i = d log sigma(s_i t_i)/d t_i, s_i = 1 or -1:
//   slope w_i = cov(r_i, t_i)/var(t_i), of one draw -p_i (1 - p_i)
//   the normal of these lines:   A^-1 = sum_i -w_i x_i x_i^T + I/prior_sd^2
//   its mean: where its gradient is 0, if at the draws' mean it is the mean of theirs
// Of one draw that is a step of Newton's method. A normal that is that of the lines over its own draws is the nearest
// to the posterior in KL divergence (Opper & Archambeau 2009).
// Cost: 2 N n a draw, and N n^2 a normal, by all threads.
#pragma once
#include <Eigen/Core>
#include <optional>
#include <vector>

#include "targets/data/dataset.hpp"

namespace kilochain {

/// Of each observation: means over draws, that of its log likelihood too, and how far this leaves its parabola at 4
/// standard deviations of its logit.
struct LogisticLines {
  Eigen::ArrayXd logit, residual, slope, log_likelihood, leaves;
};

/// A regression with N(0, prior_sd^2) priors.
class LogisticRows {
 public:
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  struct Normal {
    Matrix factor;  ///< lower: its square is the covariance
    Eigen::VectorXd mean;
  };

  LogisticRows(const Design& design, double prior_sd);

  Eigen::Index rows() const { return x_.rows(); }
  Eigen::Index dim() const { return x_.cols(); }
  const Eigen::Map<const Matrix>& x() const { return x_; }
  const Eigen::ArrayXd& sign() const { return sign_; }
  double prior_sd() const { return prior_sd_; }
  /// As many draws as can be afforded.
  Eigen::Index most_draws() const;
  /// draws: (n, draw).
  LogisticLines lines(const Eigen::MatrixXd& draws) const;
  /// Of lines with these slopes, about draws whose mean is `middle`. None where there is no such normal.
  std::optional<Normal> normal(const LogisticLines& lines, const Eigen::ArrayXd& slope,
                               const Eigen::VectorXd& middle) const;

 private:
  Eigen::Map<const Matrix> x_;
  Eigen::ArrayXd sign_;
  double prior_sd_;
};

}  // namespace kilochain
