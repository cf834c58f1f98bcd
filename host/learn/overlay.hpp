// Modes laid over each other, so that chains need not go between them. Mode k has about the law N(m_k, L_k L_k^T) and a
// share w_k of the mass; r_k(x) = w_k N_k(x) / sum_j w_j N_j(x). Chains sample, where mode 0 is,
//   p(u) = sum_k r_k(x_k) pi(x_k) |L_k| / |L_0|,   x_k = m_k + L_k L_0^-1 (u - m_0)
// and of each u one x_k is taken, with the probability of its term. As sum_k r_k = 1, x has the law pi, exactly and
// whatever the laws are. They decide only how near p is to one mode, and so how well chains mix. This is the Warp-U
// transform (Wang, Jones & Meng 2022; as a sampler Ding, He, Jones & Meng 2024, arXiv 2401.00667).
// Cost: K densities and K^2 n^2 for a density.
#pragma once
#include <Eigen/Core>
#include <span>
#include <vector>

namespace kilochain {

class Overlay {
 public:
  using Vector = Eigen::VectorXd;
  /// A normal law about one mode.
  struct Law {
    Vector mean;
    Eigen::MatrixXd factor;  ///< L, lower triangle
    double log_share = 0;    ///< log w, of any sum
  };

  Overlay() = default;
  explicit Overlay(std::vector<Law> laws);
  bool any() const { return laws_.size() > 1; }
  std::size_t size() const { return laws_.size(); }
  const std::vector<Law>& laws() const { return laws_; }

  /// x_k of u.
  void image(std::size_t k, const Vector& u, Vector& x) const;
  /// log of r_k(x) |L_k| / |L_0|; its slope is added to `slope`, unless that is null.
  double log_weight(std::size_t k, const Vector& x, Vector* slope) const;
  /// A slope at x_k becomes that at u, in place.
  void pull_back(std::size_t k, Vector& slope) const;
  /// x becomes the u of which it is the image in the mode with the largest r_k(x), which is returned.
  std::size_t lay(Vector& x) const;
  /// The term that a uniform number picks, from the logs of all; none is finite: 0.
  static std::size_t pick(std::span<const double> log_terms, double uniform);

  /// For the state of a run, and back.
  std::vector<double> to_numbers() const;
  static Overlay of_numbers(const std::vector<double>& numbers);

 private:
  /// log w_j N_j(x) of all modes, less a constant of all; L_j^-1 (x - m_j) of these, one after the other, into z.
  Eigen::ArrayXd heights(const Vector& x, Vector& z) const;

  std::vector<Law> laws_;
  Eigen::MatrixXd inverses_;           ///< (K n, n): L_k^-1, one below the other, so that one product makes all z
  Vector centres_;                     ///< (K n): L_k^-1 (m_k - m_0)
  Eigen::ArrayXd heights_;             ///< log w_k - log |L_k|
  std::vector<Eigen::MatrixXd> maps_;  ///< L_k L_0^-1
  std::vector<double> log_volumes_;    ///< log |L_k|
};

/// log sum exp; minus infinity where none is finite.
double log_sum(std::span<const double> logs);

}  // namespace kilochain
