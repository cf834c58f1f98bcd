// From far out to where the posterior's mass begins, before any chain runs: L-BFGS from each starting point (Nocedal
// 1980), all points in one evaluation. It ends after three steps together that gained little, less than 4 n of log
// density each: a draw of a Gaussian stands n/2 below its mode. A step is at most twice as long as the longest so far,
// and no longer than that after one that gained little. So a climb ends before a funnel's neck, whose density has no
// bound and whose mass is nothing. It never goes down: a point in a narrow mode stays in it.
// Cost: a gradient of each point a round, at most 200 rounds; O(n) beside it.
#pragma once
#include <Eigen/Core>
#include <atomic>
#include <deque>

#include "host/learn/gradients_at.hpp"
#include "kernels/device/platform.hpp"

namespace kilochain {

/// One point on its way up. One without a finite gradient stays where it is.
class Climber {
 public:
  using Vector = Eigen::VectorXd;

  /// x: (n), where log density and gradient are lp and g. It ends after three steps together that gained less than
  /// `little` times n each.
  Climber(Vector x, double lp, Vector g, double little);
  bool ends() const { return ends_; }
  const Vector& at() const { return x_; }
  /// The next point that is to be evaluated.
  Vector next() const { return x_ + length_ * way_; }
  /// What was found there.
  void take(double lp, const Vector& g);
  struct Pair {
    Vector step, fall;  ///< x' - x, g - g'
    double product;
  };
  /// Of the last steps along which the density was concave.
  const std::deque<Pair>& pairs() const { return pairs_; }
  double lp() const { return lp_; }
  const Vector& gradient() const { return g_; }

 private:
  void remember(Vector step, Vector fall);
  Vector newton_step() const;

  Vector x_, g_, way_;
  double lp_, little_;
  double length_ = 1, longest_ = 1;  ///< of the next step, in units of way_; of any so far
  int gained_little_ = 0;            ///< steps since one gained more
  bool ends_;
  std::deque<Pair> pairs_;
};

template <class Real>
struct Climbed {
  std::int64_t gradients = 0;       ///< that it took
  std::vector<double> lp;           ///< where climbs ended: (point)
  std::vector<Real> g;              ///< gradients there: (point, n)
  std::vector<Real> ways, changes;  ///< of all points' last steps, there and back, and of gradients: (step, n)
};

/// x: (point, n), moved in place. little: as of Climber.
template <class Real>
Climbed<Real> climb(const GradientsAt<Real>& gradients_at, std::vector<Real>& x, Index n, const std::atomic<bool>& stop,
                    double little = 4, int most_rounds = 200);

/// Scales, of the last steps: (n, n), as MetricLearner's factor.
template <class Real>
std::vector<double> metric_of(const Climbed<Real>& way, Index n);

}  // namespace kilochain
