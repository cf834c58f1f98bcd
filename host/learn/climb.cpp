#include "host/learn/climb.hpp"

#include <algorithm>
#include <cmath>

#include "host/learn/learnt_metric.hpp"

namespace kilochain {
namespace {

constexpr int short_steps = 3;  // gain little, one after another, before it ends: an H may be that of a steeper place
constexpr std::size_t kept_pairs = 10;
constexpr double rises = 1e-4, shortest = 1e-12;  // of what the slope promises

}  // namespace

Climber::Climber(Vector x, double lp, Vector g, double little)
    : x_(std::move(x)),
      g_(std::move(g)),
      lp_(lp),
      little_(little),
      ends_(!std::isfinite(lp_) || !g_.allFinite() || !(g_.norm() > 0)) {
  if (!ends_) way_ = g_ / g_.norm();
}

void Climber::take(double lp, const Vector& g) {
  const double slope = g_.dot(way_);
  if (!g.allFinite() || !(lp >= lp_ + rises * length_ * slope)) {
    const double bends = lp_ + length_ * slope - lp;  // the highest point of a parabola lies at length slope / 2 bends
    length_ *= std::isfinite(bends) ? std::clamp(length_ * slope / (2 * bends), 0.1, 0.5) : 0.1;
    ends_ = length_ < shortest;
    return;
  }
  remember(length_ * way_, g_ - g);
  longest_ = std::max(longest_, length_ * way_.norm());
  gained_little_ = lp - lp_ > little_ * static_cast<double>(x_.size()) ? 0 : gained_little_ + 1;
  x_ += length_ * way_;
  g_ = g, lp_ = lp;
  way_ = newton_step();
  length_ = 1;
  const double most = gained_little_ > 0 ? longest_ : 2 * longest_;
  way_ *= std::min(1.0, most / way_.norm());
  ends_ = !(g_.norm() > 0) || gained_little_ >= short_steps;
}

/// Pairs along which the density is not concave tell no inverse.
void Climber::remember(Vector step, Vector fall) {
  const double product = step.dot(fall);
  if (!(product > 1e-10 * step.norm() * fall.norm())) return;
  if (pairs_.size() == kept_pairs) pairs_.pop_front();
  pairs_.push_back({std::move(step), std::move(fall), product});
}

/// H g, by both loops over the pairs; without any, twice as far as the last step.
Climber::Vector Climber::newton_step() const {
  if (pairs_.empty()) return 2 * length_ * way_.norm() * g_ / g_.norm();
  Vector q = g_;
  std::vector<double> a(pairs_.size());
  for (std::size_t k = pairs_.size(); k-- > 0;) {
    a[k] = pairs_[k].step.dot(q) / pairs_[k].product;
    q -= a[k] * pairs_[k].fall;
  }
  q *= pairs_.back().product / pairs_.back().fall.squaredNorm();
  for (std::size_t k = 0; k < pairs_.size(); ++k)
    q += (a[k] - pairs_[k].fall.dot(q) / pairs_[k].product) * pairs_[k].step;
  return q;
}

template <class Real>
Climbed<Real> climb(const GradientsAt<Real>& gradients_at, std::vector<Real>& x, Index n, const std::atomic<bool>& stop,
                    double little, int most_rounds) {
  using Row = Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, 1>>;
  const auto row = [n](const std::vector<Real>& rows, std::size_t k) {
    return Row(rows.data() + k * n, n).template cast<double>().eval();
  };
  std::vector<Climber> climbers;
  std::vector<double> lp;
  std::vector<Real> g = gradients_at(x, &lp);
  for (std::size_t k = 0; k < lp.size(); ++k) climbers.emplace_back(row(x, k), lp[k], row(g, k), little);
  Climbed<Real> out;
  out.gradients = std::ssize(climbers);
  for (int round = 0; round < most_rounds && !stop; ++round) {
    std::vector<Climber*> up;
    std::vector<Real> points;
    for (Climber& c : climbers) {
      if (c.ends()) continue;
      up.push_back(&c);
      for (const double value : c.next()) points.push_back(static_cast<Real>(value));
    }
    if (up.empty()) break;
    g = gradients_at(points, &lp);
    for (std::size_t k = 0; k < up.size(); ++k) up[k]->take(lp[k], row(g, k));
    out.gradients += std::ssize(up);
  }
  const auto append = [](std::vector<Real>& to, const Climber::Vector& row, double sign) {
    for (const double v : row) to.push_back(static_cast<Real>(sign * v));
  };
  x.clear();
  for (const Climber& c : climbers) {
    append(x, c.at(), 1), append(out.g, c.gradient(), 1), out.lp.push_back(c.lp());
    for (const double sign : {1.0, -1.0})
      for (const Climber::Pair& p : c.pairs()) append(out.ways, p.step, sign), append(out.changes, p.fall, -sign);
  }
  return out;
}

template <class Real>
std::vector<double> metric_of(const Climbed<Real>& way, Index n) {
  MetricLearner steps(n);
  steps.add(way.ways.data(), way.changes.data(), static_cast<Index>(std::ssize(way.ways) / n));
  return steps.factor();
}

template std::vector<double> metric_of(const Climbed<float>&, Index);
template std::vector<double> metric_of(const Climbed<double>&, Index);
template Climbed<float> climb(const GradientsAt<float>&, std::vector<float>&, Index, const std::atomic<bool>&, double,
                              int);
template Climbed<double> climb(const GradientsAt<double>&, std::vector<double>&, Index, const std::atomic<bool>&,
                               double, int);

}  // namespace kilochain
