// Coordinates y in which chains move, in place of the target's own x: a chain of steps, each of which scales and shifts
// directions of all other coordinates by one of them, v = y_parent (docs/decisions/0027-learnt-coordinates.md):
//   x = y + W (q' - q),   q = D y,   D W = I,   t = u(v) - centre,
//   q'_k = p_k + d_k (1 - w_k) + r_k w_k e^{c_k t} + e^{s_k} (q_k - p_k),
//   w_k = 1/(1 + b_k e^{2 c_k t}),   s_k = c_k t + (log w_k + log(1 + b_k))/2,   log |dx/dy| = sum s_k
// That is what a conjugate hierarchical model has, v the log sd of its effects: given v the precision of a direction is
// e^{-2 t} from above and b from the data, its mean goes from p to p + d. c: rates, 1 of a log sd; b = 0: no data.
// Rows of W and columns of D of the parent are zero. Whatever was learnt, the map is one to one: draws of y are draws
// of x. Points are columns, whose bits do not depend on how many there are.
// Cost: 2 n k multiply-adds for a point of each step, as many for its gradient; some k where q is of coordinates alone.
#pragma once
#include <Eigen/Core>
#include <memory>
#include <optional>
#include <vector>

#include "host/learn/scale_law.hpp"

namespace kilochain {

/// One step.
struct Noncentring {
  Eigen::Index parent = 0;
  double centre = 0;                                   ///< of u(v)
  Eigen::MatrixXd directions, along;                   ///< W and the transpose of D, both (n, k)
  Eigen::ArrayXd rates, data, fixed, shifts, between;  ///< c, b, p, d and r, (k)
  ScaleLaw scale = {};                                 ///< what u is; its rate counts for nothing
  /// In place of `directions` and `along`, where q is of coordinates alone: these, less the mean that they have.
  std::vector<Eigen::Index> effects = {};
  std::optional<Eigen::Index> mean = {};

  Eigen::Index size() const { return rates.size(); }
  /// Of points (n, points): D y, and y + W values; and so for gradients, W^T g and g + D^T values. Values: (k, points).
  void along_of(const Eigen::Ref<const Eigen::MatrixXd>& y, Eigen::Ref<Eigen::MatrixXd> values) const;
  void move(Eigen::Ref<Eigen::MatrixXd> y, const Eigen::Ref<const Eigen::MatrixXd>& values) const;
  void pull_of(const Eigen::Ref<const Eigen::MatrixXd>& g, Eigen::Ref<Eigen::MatrixXd> values) const;
  void add_along(Eigen::Ref<Eigen::MatrixXd> g, const Eigen::Ref<const Eigen::MatrixXd>& values) const;
  /// e^{c t}, and w there.
  void by_rates(double t, Eigen::ArrayXd& out) const;
};

class LearntCoordinates {
 public:
  using Points = Eigen::Ref<Eigen::MatrixXd>;
  /// Of points: what their gradients take.
  struct Trace {
    /// Of each step, (k and more, points): e^s, w, and the derivatives of q' and of s with respect to v.
    struct OfStep {
      Eigen::ArrayXXd scales, above, slopes, rates;
    };
    std::vector<OfStep> steps;
    Eigen::VectorXd log_jacobian;  ///< (points)
    Eigen::MatrixXd values;        ///< of a step, as that: memory
    Eigen::ArrayXd by_rates, squares;
  };

  /// `step`: of those that are left after the ones before it.
  void add(Noncentring step) { steps_.push_back(std::move(step)); }
  std::size_t size() const { return steps_.size(); }
  const std::vector<Noncentring>& steps() const { return steps_; }

  /// x (n, points) from y, in place, and its trace.
  void to_target(Points y, Trace& trace) const;
  /// y from x, in place.
  void from_target(Points x) const;
  /// The gradient with respect to y of log density and log_jacobian, from the density's with respect to x, in place.
  void pull_back(Points gradient, Trace& trace) const;
  /// Back: the density's gradient with respect to x.
  void push_forward(Points gradient, Trace& trace) const;

  /// As numbers, and back; none of none. Throws Error (data) for numbers that to_numbers has not made.
  std::vector<double> to_numbers() const;
  static LearntCoordinates of_numbers(const std::vector<double>& numbers);

 private:
  std::vector<Noncentring> steps_;
};

}  // namespace kilochain
