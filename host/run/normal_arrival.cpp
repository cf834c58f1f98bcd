#include "host/run/normal_arrival.hpp"

#include <algorithm>
#include <cmath>

#include "host/run/scout_coordinates.hpp"
#include "host/run/target_gradients.hpp"

namespace kilochain {
namespace {

constexpr double nearly_normal = 0.9, centred_normal = 0.7;  // agreement of positions and gradients
constexpr double skewed_normal = 0.2;                        // the same, of the scales of what is centred
constexpr double little = 0.5;  // times n, of log density: where there is no funnel, climbs go on for less
constexpr int centrings = 2;

/// Where climbs ended, but for those far below.
template <class Real>
std::vector<std::vector<Real>> ends_of(const std::vector<Real>& x, const Climbed<Real>& way, Index dim) {
  std::vector<std::vector<Real>> out;
  const double bar = std::ranges::max(way.lp) - far_below(dim, std::sqrt(0.5 * dim));
  for (std::size_t c = 0; c < way.lp.size(); ++c)
    if (way.lp[c] > bar) {
      const auto first = x.begin() + static_cast<std::ptrdiff_t>(c) * dim;
      out.emplace_back(first, first + dim);
    }
  return out;
}

template <class Real>
struct Arriving {
  const Phases<Real>& run;
  std::int64_t gradients = 0;
  Index dim = run.dim();
  TargetGradients<Real> gradients_at{run};

  NormalStart<Real> fit(const std::vector<Real>& x, const Climbed<Real>& way, const std::vector<double>& fits) {
    NormalStart<Real> start = normal_start<Real>(std::ref(gradients_at), x, way, dim, fits,
                                                 {~run.options.seed, 0, std::int64_t(1) << 34}, run.stop);
    gradients += start.gradients;
    return start;
  }

  /// First where climbs ended, then from where that led: ends of the first climbs are not where data tell of effects
  /// what they tell at draws. The last law that fits. at: what was found in the target's own coordinates.
  NormalArrival<Real> in_centred_coordinates(std::vector<Real> x, Climbed<Real> way, NormalStart<Real> at) {
    NormalArrival<Real> best;
    ClimbCoordinates<Real> coordinates(run, gradients);
    for (int k = 0; k < centrings && !run.stop; ++k) {
      std::vector<std::vector<Real>> places = at.points;
      for (std::vector<Real>& place : places) place.resize(static_cast<std::size_t>(dim));
      if (places.empty()) places = ends_of(x, way, dim);
      run.coordinates->to_target(x);
      LearntCoordinates better = coordinates(places, at.factor);
      if (better.size() == 0) break;
      run.coordinates->set(better);
      run.coordinates->from_target(x);
      way = climb<Real>(std::ref(gradients_at), x, dim, run.stop, little);
      gradients += way.gradients;
      std::vector<double> fits(static_cast<std::size_t>(dim), centred_normal);
      for (const Noncentring& step : better.steps()) fits[static_cast<std::size_t>(step.parent)] = skewed_normal;
      at = fit(x, way, fits);
      if (at.fits) best = {at, std::move(better)};
      if (!at.near) break;
    }
    run.coordinates->set(LearntCoordinates{});
    return best;
  }
};

}  // namespace

template <class Real>
NormalArrival<Real> normal_arrival(const Phases<Real>& run, const std::vector<Real>& x, const Climbed<Real>& way) {
  Arriving<Real> arriving{run};
  NormalArrival<Real> out;
  out.start = arriving.fit(x, way, std::vector<double>(static_cast<std::size_t>(run.dim()), nearly_normal));
  if (!out.start.fits && !out.start.factor.empty() && may_learn_coordinates(run))
    out = arriving.in_centred_coordinates(x, way, std::move(out.start));
  out.start.gradients = arriving.gradients;
  out.start.fits &= !run.stop;
  return out;
}

template NormalArrival<float> normal_arrival(const Phases<float>&, const std::vector<float>&, const Climbed<float>&);
template NormalArrival<double> normal_arrival(const Phases<double>&, const std::vector<double>&,
                                              const Climbed<double>&);

}  // namespace kilochain
