#include "host/run/normal_start.hpp"

#include <algorithm>
#include <cmath>

#include "host/run/probes.hpp"

namespace kilochain {
namespace {

using Eigen::MatrixXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double nearly_gaussian = 0.9;         // agreement of positions and gradients
constexpr int rounds = 2, newton_steps = 3;     // of probes; after each
constexpr double near_mode = 0.1, level = 0.5;  // g^T A g over the n that it is at draws; of modes' log densities
constexpr Index draws_in_all = 256, least_draws = 16;

/// Values of points, (n, point), each a column.
template <class Real>
MatrixXd columns_of(const std::vector<Real>& values, Index n) {
  using Columns = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
  return Eigen::Map<const Columns>(values.data(), n, std::ssize(values) / n).template cast<double>();
}
template <class Real>
std::vector<Real> values_of(const MatrixXd& columns) {
  return {columns.data(), columns.data() + columns.size()};
}
RowMajor factor_of(const MetricLearner& learner, Index n) {
  return Eigen::Map<const RowMajor>(learner.factor().data(), n, n);
}

struct Evaluated {
  MatrixXd g;
  std::vector<double> lp;
};

}  // namespace

template <class Real>
NormalStart<Real> normal_start(const GradientsAt<Real>& gradients_at, const std::vector<Real>& x,
                               const Climbed<Real>& climbed, Index n, const Rng& rng) {
  constexpr double share = std::is_same_v<Real, double> ? 1e-3 : 0.05;  // of a draw's way; beyond a gradient's rounding
  NormalStart<Real> out;
  if (n > most_dense || climbed.ways.empty()) return out;
  const auto evaluate = [&](const MatrixXd& points) {
    Evaluated e;
    out.gradients += points.cols();
    e.g = columns_of(gradients_at(values_of<Real>(points), &e.lp), n);
    return e;
  };
  const RowMajor identity = RowMajor::Identity(n, n);
  const auto normals = [&](Index count, int use) {
    return ways_of({identity.data(), identity.data() + identity.size()}, n, count,
                   {rng.seed, rng.chain, rng.iteration + use});
  };
  // Each learner works in coordinates in which the metric so far is I, so that conditions of any size are found.
  MetricLearner from_climbs(n);
  from_climbs.add(climbed.ways.data(), climbed.changes.data(), static_cast<Index>(std::ssize(climbed.ways) / n));
  RowMajor F = factor_of(from_climbs, n);
  MatrixXd modes = columns_of(x, n);
  Evaluated at = {columns_of(climbed.g, n), climbed.lp};
  const auto climbs = static_cast<Index>(modes.cols()), probes = 3 * n / 2 + least_draws;
  const double bar = near_mode * static_cast<double>(n);
  bool near = false;
  for (int round = 0; round < rounds && !near; ++round) {
    if (round > 0) at = evaluate(modes);
    const MatrixXd z = normals(probes, round);
    MatrixXd points = share * F * z;
    for (Index k = 0; k < probes; ++k) points.col(k) += modes.col(k % climbs);
    MatrixXd changes = evaluate(points).g;
    for (Index k = 0; k < probes; ++k) changes.col(k) -= at.g.col(k % climbs);
    changes = F.transpose() * changes / share;
    MetricLearner learner(n);
    learner.add(z.data(), changes.data(), probes);
    F = F * factor_of(learner, n);
    for (int step = 0; step < newton_steps && !near; ++step) {
      if (step > 0) at = evaluate(modes);
      const MatrixXd whitened = F.transpose() * at.g;
      near = whitened.colwise().squaredNorm().maxCoeff() < bar;
      modes += F * whitened;
    }
  }
  const auto [lowest, highest] = std::ranges::minmax_element(at.lp);
  if (!near || !(*highest - *lowest < level + bar)) return out;  // a narrow mode may have its share of the mass

  const Index each = std::max(least_draws, (draws_in_all + climbs - 1) / climbs);
  const MatrixXd z = normals(each * climbs, rounds);
  MatrixXd draws = F * z;
  for (Index k = 0; k < each * climbs; ++k) draws.col(k) += modes.col(k / each);
  const std::vector<Real> points = values_of<Real>(draws);
  const auto begin = std::chrono::steady_clock::now();
  const Evaluated there = evaluate(draws);
  out.seconds_of_gradient = seconds_since(begin) / static_cast<double>(each * climbs);
  if (!there.g.allFinite() || std::ranges::any_of(there.lp, [](double lp) { return !std::isfinite(lp); })) return out;
  if (z.cols() > n) {  // fewer would tell little
    const MatrixXd slopes = F.transpose() * there.g;
    MetricLearner of_draws(n);
    of_draws.add(z.data(), slopes.data(), each * climbs);
    F = F * factor_of(of_draws, n);
  }
  out.factor = values_of<double>(F.transpose());
  const std::vector<double> agree = agreement(points, values_of<Real>(there.g), out.factor, n);
  out.fits = std::ranges::all_of(agree, [](double a) { return a > nearly_gaussian; });
  for (Index c = 0; out.fits && c < climbs; ++c)
    out.points.emplace_back(points.begin() + c * each * n, points.begin() + (c + 1) * each * n);
  return out;
}

template NormalStart<float> normal_start(const GradientsAt<float>&, const std::vector<float>&, const Climbed<float>&,
                                         Index, const Rng&);
template NormalStart<double> normal_start(const GradientsAt<double>&, const std::vector<double>&,
                                          const Climbed<double>&, Index, const Rng&);

}  // namespace kilochain
