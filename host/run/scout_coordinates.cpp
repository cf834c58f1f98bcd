#include "host/run/scout_coordinates.hpp"

#include <cmath>

#include "host/learn/columns.hpp"
#include "host/learn/learnt_metric.hpp"
#include "host/learn/one_by_one.hpp"
#include "host/learn/probes.hpp"
#include "host/learn/scaled_priors.hpp"
#include "host/run/target_gradients.hpp"

namespace kilochain {
namespace {

constexpr Index to_find = 4;  // points of a coordinate, where three would find effects

/// Points about places, as far as draws of the metric are: (point, n).
template <class Real>
std::vector<Real> about(const Phases<Real>& run, const std::vector<std::vector<Real>>& places,
                        const std::vector<double>& factor) {
  const Index dim = run.dim();
  const auto each = static_cast<Index>(to_find * dim / std::ssize(places) + 1);
  std::vector<Real> x;
  for (std::uint32_t k = 0; k < places.size(); ++k) {
    const Eigen::MatrixXd ways = ways_of(factor, dim, each, {~run.options.seed, k, std::int64_t(1) << 32});
    for (Index j = 0; j < each; ++j)
      for (Index i = 0; i < dim; ++i) x.push_back(static_cast<Real>(places[k][i] + ways(i, j)));
  }
  return x;
}

template <class Real>
DrawsAndGradients evaluated(const Phases<Real>& run, const std::vector<Real>& x, std::int64_t& gradients) {
  const std::vector<Real> g = TargetGradients<Real>(run)(x);
  gradients += std::ssize(x) / run.dim();
  return finite_of(x, g, run.dim());
}

Eigen::VectorXd middle_of(const DrawsAndGradients& points) {
  Eigen::VectorXd out(points.x.rows());
  for (Index i = 0; i < out.size(); ++i) out[i] = median(Eigen::VectorXd(points.x.row(i)));
  return out;
}

template <class Real>
GradientsAt<Real> counted(const Phases<Real>& run, std::int64_t& gradients) {
  return [&run, &gradients](const std::vector<Real>& x, std::vector<double>* lp) {
    gradients += std::ssize(x) / run.dim();
    return TargetGradients<Real>(run)(x, lp);
  };
}

/// Priors that another coordinate scales, as they are at a place; middle and width by points.
template <class Real>
std::vector<ScaledEffects> priors_at(const Phases<Real>& run, const std::vector<Real>& place,
                                     const DrawsAndGradients& points, std::int64_t& gradients) {
  Eigen::VectorXd sds(points.x.rows());
  for (Index i = 0; i < sds.size(); ++i) sds[i] = robust_sd(points.x.row(i));
  return scaled_priors<Real>(place, sds, middle_of(points), counted(run, gradients));
}

/// Of more coordinates than dense maps are learnt of.
template <class Real>
LearntCoordinates one_by_one(const Phases<Real>& run, const std::vector<std::vector<Real>>& places,
                             const std::vector<double>& factor, std::int64_t& gradients) {
  std::vector<Real> x;
  for (const std::vector<Real>& place : places) x.insert(x.end(), place.begin(), place.end());
  const Eigen::MatrixXd at = columns_of(x, run.dim());
  const Eigen::Map<const Eigen::MatrixXd> rows(factor.data(), run.dim(), run.dim());  // of F, each a column
  const Eigen::VectorXd sds = rows.colwise().norm().transpose();
  return centred_one_by_one<Real>(places.front(), sds, middle_of({at, at}), counted(run, gradients));
}

/// Whether in `to_try` a linear function of position leaves less of the gradient, by a tenth: of points about the same
/// places that are as far as draws are there.
template <class Real>
bool helps(const Phases<Real>& run, const EffectCoordinates& there, std::vector<std::vector<Real>> places,
           std::int64_t& gradients) {
  if (there.to_try.size() == 0) return false;
  run.coordinates->set(there.to_try);
  for (std::vector<Real>& x : places) run.coordinates->from_target(x);
  MetricLearner learner(run.dim());
  learner.add(there.points.x.data(), there.points.g.data(), static_cast<Index>(there.points.x.cols()));
  const auto white = whitened(evaluated(run, about(run, places, learner.factor()), gradients));
  run.coordinates->set(LearntCoordinates{});
  return white && nonlinearity(*white) < 0.9 * there.before;
}

}  // namespace

template <class Real>
bool may_learn_coordinates(const Phases<Real>& run) {
  return run.coordinates && !run.coordinates->moves() && run.dim() <= most_effects;
}

template <class Real>
LearntCoordinates coordinates_about(const Phases<Real>& run, const std::vector<std::vector<Real>>& places,
                                    const std::vector<double>& factor, std::int64_t& gradients) {
  const ThreadsOf threads(run.context, run.dim());
  if (run.dim() > most_coordinates) return one_by_one(run, places, factor, gradients);
  const DrawsAndGradients points = evaluated(run, about(run, places, factor), gradients);
  if (points.x.cols() < run.dim()) return {};  // the metric is of places apart: few of its draws have a density
  EffectCoordinates found =
      centre_effects(points, priors_at(run, places.front(), points, gradients), run.context.threads);
  return std::move(helps(run, found, places, gradients) ? found.to_try : found.coordinates);
}

template <class Real>
LearntCoordinates exact_coordinates_about(const Phases<Real>& run, const std::vector<std::vector<Real>>& places,
                                          const std::vector<double>& factor, std::int64_t& gradients) {
  if (run.dim() > most_coordinates) return one_by_one(run, places, factor, gradients);
  const DrawsAndGradients points = evaluated(run, about(run, places, factor), gradients);
  if (points.x.cols() < run.dim()) return {};  // the metric is of places apart: few of its draws have a density
  return centre_exact_effects(points, priors_at(run, places.front(), points, gradients), run.context.threads);
}

template <class Real>
std::vector<ScaledEffects> known_priors(const Phases<Real>& run, const DrawsAndGradients& draws,
                                        std::int64_t& gradients) {
  LearntCoordinates in_use = run.coordinates->coordinates();
  run.coordinates->set(LearntCoordinates{});
  const Eigen::VectorXd at = draws.x.col(draws.x.cols() / 2);
  auto found = priors_at(run, std::vector<Real>(at.begin(), at.end()), draws, gradients);
  run.coordinates->set(std::move(in_use));
  return found;
}

template bool may_learn_coordinates(const Phases<float>&);
template bool may_learn_coordinates(const Phases<double>&);
template LearntCoordinates coordinates_about(const Phases<float>&, const std::vector<std::vector<float>>&,
                                             const std::vector<double>&, std::int64_t&);
template LearntCoordinates coordinates_about(const Phases<double>&, const std::vector<std::vector<double>>&,
                                             const std::vector<double>&, std::int64_t&);
template LearntCoordinates exact_coordinates_about(const Phases<float>&, const std::vector<std::vector<float>>&,
                                                   const std::vector<double>&, std::int64_t&);
template LearntCoordinates exact_coordinates_about(const Phases<double>&, const std::vector<std::vector<double>>&,
                                                   const std::vector<double>&, std::int64_t&);
template std::vector<ScaledEffects> known_priors(const Phases<float>&, const DrawsAndGradients&, std::int64_t&);
template std::vector<ScaledEffects> known_priors(const Phases<double>&, const DrawsAndGradients&, std::int64_t&);

}  // namespace kilochain
