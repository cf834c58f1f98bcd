#include "host/learn/normal_start.hpp"

#include <algorithm>
#include <cmath>

#include "base/dense.hpp"
#include "base/units.hpp"
#include "host/learn/columns.hpp"
#include "host/learn/probes.hpp"

namespace kilochain {
namespace {

using Eigen::MatrixXd;

constexpr int looks = 2;                        // at draws: the second of the curvature about the first's
constexpr double nearly_gaussian = 0.9;         // agreement of positions and gradients
constexpr int rounds = 2;                       // of probes, and of climbs after them
constexpr double little = 0.01;                 // times n, of log density, that steps of those gain before they end
constexpr int further_steps = 32;               // of those: of what is nearly normal few are needed
constexpr double near_mode = 0.1, level = 0.5;  // g^T A g over the n that it is at draws; of modes' log densities
constexpr double most_rise = 4;                 // times n, of log density: a climb that ended may still rise
constexpr double quick = 0.02;                  // seconds of all draws' gradients
constexpr Index draws_of_normals = 256, least_draws = 16;

struct Evaluated {
  MatrixXd g;
  std::vector<double> lp;
};

}  // namespace

template <class Real>
NormalStart<Real> normal_start(const GradientsAt<Real>& gradients_at, const std::vector<Real>& x,
                               const Climbed<Real>& climbed, Index n, const Rng& rng, const std::atomic<bool>& stop) {
  constexpr double share = std::is_same_v<Real, double> ? 1e-3 : 0.05;  // of a draw's way; beyond a gradient's rounding
  NormalStart<Real> out;
  if (n > most_dense || climbed.ways.empty()) return out;
  const auto evaluate = [&](const MatrixXd& points) {
    Evaluated e;
    out.gradients += points.cols();
    e.g = columns_of(gradients_at(values_of<Real>(points), &e.lp), n);
    return e;
  };
  const auto normals = [&](Index count, int use) {
    return normals_of(n, count, {rng.seed, rng.chain, rng.iteration + use});
  };
  MatrixXd F = factor_of(metric_of(climbed, n), n);
  MatrixXd tops = columns_of(x, n), g = columns_of(climbed.g, n), whitened;
  std::vector<double> lp = climbed.lp;
  const double size = static_cast<double>(n), bar = near_mode * size, far = far_below(n, std::sqrt(size / 2));
  std::vector<Index> stay;
  const auto divide = [&](double may_rise) {  // those that ended far below are left behind
    stay.clear(), out.left.clear();
    const double top = std::ranges::max(lp);
    for (Index c = 0; c < tops.cols(); ++c)
      (top - lp[static_cast<std::size_t>(c)] < far + may_rise ? stay : out.left).push_back(c);
    return top;
  };
  // The curvature about places, in coordinates in which the metric so far is I: conditions of any size are found.
  const auto feel = [&](const MatrixXd& places, const MatrixXd& slopes, int use) {
    const Index probes = 3 * n / 2 + least_draws;
    const MatrixXd z = normals(probes, use);
    MatrixXd points = share * times(F, z);
    for (Index k = 0; k < probes; ++k) points.col(k) += places.col(k % places.cols());
    MatrixXd changes = evaluate(points).g;
    for (Index k = 0; k < probes; ++k) changes.col(k) -= slopes.col(k % places.cols());
    changes = transposed_times(F, changes) / share;
    MetricLearner learner(n);
    learner.add(z.data(), changes.data(), probes);
    F = times(F, factor_of(learner, n));
  };
  double steepest = INFINITY;
  for (int round = 0; round < rounds && !(steepest < bar) && !stop; ++round) {
    divide(most_rise * size);
    if (stay.empty()) return out;  // no log density that can be compared
    feel(tops(Eigen::all, stay), g(Eigen::all, stay), round);
    if (!F.allFinite()) return out;

    std::vector<double> at = values_of<double>(solve_lower(F, tops));
    const auto gradients = [&](const std::vector<double>& points, std::vector<double>* lps) {
      const Evaluated e = evaluate(times(F, columns_of(points, n)));
      if (lps) *lps = e.lp;
      return values_of<double>(transposed_times(F, e.g));
    };
    const Climbed<double> further = climb<double>(gradients, at, n, stop, little, further_steps);
    tops = times(F, columns_of(at, n)), whitened = columns_of(further.g, n), lp = further.lp;
    g = solve_lower_transposed(F, whitened);
    steepest = 0;
    for (const Index c : stay) steepest = std::max(steepest, whitened.col(c).squaredNorm());
  }
  const double top = divide(0);
  const auto below = [&](Index c) { return top - lp[static_cast<std::size_t>(c)]; };
  if (!(steepest < bar) || 2 * std::ssize(stay) < tops.cols()) return out;
  for (const Index c : stay)
    if (below(c) > level + bar) return out;  // a narrow mode may have its share of the mass
  for (const Index c : out.left) out.left_below = std::max(out.left_below, below(c));
  tops += times(F, whitened);

  const auto climbs = static_cast<Index>(stay.size()),
             each = std::max(least_draws, (draws_of_normals + climbs - 1) / climbs);
  std::vector<Real> points;
  for (int look = 0; look < looks && !out.fits && F.allFinite(); ++look) {
    const MatrixXd z = normals(each * climbs, rounds + 2 * look);
    MatrixXd draws = times(F, z);
    for (Index k = 0; k < each * climbs; ++k) draws.col(k) += tops.col(stay[static_cast<std::size_t>(k / each)]);
    points = values_of<Real>(draws);
    Evaluated there;
    const auto timed = [&] {
      const auto begin = std::chrono::steady_clock::now();
      there = evaluate(draws);
      return seconds_since(begin);
    };
    double took = timed();
    const std::int64_t counted = out.gradients;        // the same on every machine
    if (took < quick) took = std::min(took, timed());  // the first call makes its chains, too
    out.gradients = counted;
    out.seconds_of_gradient = took / static_cast<double>(each * climbs);
    if (!there.g.allFinite() || std::ranges::any_of(there.lp, [](double v) { return !std::isfinite(v); })) return out;
    if (z.cols() > n) {  // fewer would tell little
      const MatrixXd slopes = transposed_times(F, there.g);
      MetricLearner of_draws(n);
      of_draws.add(z.data(), slopes.data(), each * climbs);
      F = times(F, factor_of(of_draws, n));
    }
    out.factor = values_of<double>(F.transpose());
    const std::vector<double> agree = agreement(points, values_of<Real>(there.g), out.factor, n);
    out.fits = std::ranges::all_of(agree, [](double a) { return a > nearly_gaussian; });
    if (!out.fits && look + 1 < looks)
      feel(draws, there.g, rounds + 1);  // of many coordinates draws are far from modes
  }
  for (Index c = 0; out.fits && c < climbs; ++c)
    out.points.emplace_back(points.begin() + c * each * n, points.begin() + (c + 1) * each * n);
  return out;
}

template NormalStart<float> normal_start(const GradientsAt<float>&, const std::vector<float>&, const Climbed<float>&,
                                         Index, const Rng&, const std::atomic<bool>&);
template NormalStart<double> normal_start(const GradientsAt<double>&, const std::vector<double>&,
                                          const Climbed<double>&, Index, const Rng&, const std::atomic<bool>&);

}  // namespace kilochain
