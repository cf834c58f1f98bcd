#include "host/run/scout_coordinates.hpp"

#include "host/learn/learnt_metric.hpp"
#include "host/learn/probes.hpp"
#include "host/learn/scaled_priors.hpp"
#include "host/run/target_gradients.hpp"

namespace kilochain {
namespace {

constexpr Index points_of_coordinate = 4;  // that tell which effects are scaled: three would do

/// One search.
template <class Real>
struct CoordinateSearch {
  const Phases<Real>& run;
  std::int64_t& gradients;
  Index dim = run.dim();

  /// Some points for each coordinate, about places, as far as draws of the metric are.
  DrawsAndGradients points_about(const std::vector<std::vector<Real>>& places, const std::vector<double>& factor) {
    const auto each = static_cast<Index>(points_of_coordinate * dim / std::ssize(places) + 1);
    std::vector<Real> x;
    for (std::uint32_t k = 0; k < places.size(); ++k) {
      const Eigen::MatrixXd ways = ways_of(factor, dim, each, {~run.options.seed, k, std::int64_t(1) << 32});
      for (Index j = 0; j < each; ++j)
        for (Index i = 0; i < dim; ++i) x.push_back(static_cast<Real>(places[k][i] + ways(i, j)));
    }
    const std::vector<Real> g = TargetGradients<Real>(run)(x);
    gradients += std::ssize(x) / dim;
    return finite_of(x, g, dim);
  }

  /// Priors that another coordinate scales, as they are at a place; middle and width by points.
  std::vector<ScaledEffects> priors_at(const std::vector<Real>& place, const DrawsAndGradients& points) {
    Eigen::VectorXd sds(dim), middle(dim);
    for (Index i = 0; i < dim; ++i)
      sds[i] = robust_sd(points.x.row(i)), middle[i] = median(Eigen::VectorXd(points.x.row(i)));
    TargetGradients<Real> gradients_at(run);
    const GradientsAt<Real> counted = [&](const std::vector<Real>& x, std::vector<double>* lp) {
      gradients += std::ssize(x) / dim;
      return gradients_at(x, lp);
    };
    return scaled_priors<Real>(place, sds, middle, counted);
  }

  /// Whether in `to_try` a linear function of position leaves less of the gradient, by a tenth: of points about the
  /// same places that are as far as draws are there.
  bool helps(const EffectCoordinates& there, std::vector<std::vector<Real>> places) {
    if (there.to_try.size() == 0) return false;
    run.coordinates->set(there.to_try);
    for (std::vector<Real>& x : places) run.coordinates->from_target(x);
    MetricLearner learner(dim);
    learner.add(there.points.x.data(), there.points.g.data(), static_cast<Index>(there.points.x.cols()));
    const auto white = whitened(points_about(places, learner.factor()));
    run.coordinates->set(LearntCoordinates{});
    return white && nonlinearity(*white) < 0.9 * there.before;
  }
};

}  // namespace

template <class Real>
LearntCoordinates coordinates_about(const Phases<Real>& run, const std::vector<std::vector<Real>>& places,
                                    const std::vector<double>& factor, std::int64_t& gradients) {
  const ThreadsOf threads(run.context, run.dim());
  CoordinateSearch<Real> search{run, gradients};
  const DrawsAndGradients points = search.points_about(places, factor);
  EffectCoordinates found = centre_effects(points, search.priors_at(places.front(), points));
  return std::move(search.helps(found, places) ? found.to_try : found.coordinates);
}

template <class Real>
LearntCoordinates coordinates_to_climb_in(const Phases<Real>& run, const std::vector<std::vector<Real>>& places,
                                          const std::vector<double>& factor, std::int64_t& gradients) {
  if (places.empty()) return {};
  const ThreadsOf threads(run.context, run.dim());
  CoordinateSearch<Real> search{run, gradients};
  const DrawsAndGradients points = search.points_about(places, factor);
  return centre_all(points, search.priors_at(places.front(), points));
}

template LearntCoordinates coordinates_about(const Phases<float>&, const std::vector<std::vector<float>>&,
                                             const std::vector<double>&, std::int64_t&);
template LearntCoordinates coordinates_about(const Phases<double>&, const std::vector<std::vector<double>>&,
                                             const std::vector<double>&, std::int64_t&);
template LearntCoordinates coordinates_to_climb_in(const Phases<float>&, const std::vector<std::vector<float>>&,
                                                   const std::vector<double>&, std::int64_t&);
template LearntCoordinates coordinates_to_climb_in(const Phases<double>&, const std::vector<std::vector<double>>&,
                                                   const std::vector<double>&, std::int64_t&);

}  // namespace kilochain
