#include "host/run/normal_arrival.hpp"

#include <algorithm>

#include "host/learn/learnt_metric.hpp"
#include "host/learn/normal_law.hpp"
#include "host/run/scout_coordinates.hpp"
#include "host/run/target_gradients.hpp"

namespace kilochain {
namespace {

/// Agreement of positions and gradients at which better coordinates gain little. Beyond 512 none are learnt later.
constexpr double well = 0.8, well_of_many = 0.95;
constexpr Index cheap = 256;  // coordinates: beyond, theirs take a time that many a model's gradient does not

template <class Real>
struct Arriving {
  const Phases<Real>& run;
  std::int64_t gradients = 0;
  Index dim = run.dim();
  TargetGradients<Real> gradients_at{run};
  const Rng rng{~run.options.seed, 0, std::int64_t(1) << 34};

  NormalStart<Real> at_modes(const std::vector<Real>& x, const Climbed<Real>& way) {
    NormalStart<Real> start = normal_start<Real>(std::ref(gradients_at), x, way, dim, rng, run.stop);
    gradients += start.gradients;
    return start;
  }
  NormalLaw<Real> nearest(const std::vector<Real>& x, const std::vector<double>& factor) {
    NormalLaw<Real> law = normal_law<Real>(std::ref(gradients_at), x, factor, dim, rng, run.stop);
    gradients += law.start.gradients;
    return law;
  }

  /// From draws of `law`, which is that in the target's own coordinates; climbs that it left behind stay behind. Where
  /// a gradient there costs much more, it has to fit no less than `law`.
  NormalArrival<Real> in_centred_coordinates(const NormalLaw<Real>& law) {
    const NormalStart<Real>& own = law.start;
    std::vector<std::vector<Real>> places;
    std::vector<Real> x;
    for (const std::vector<Real>& points : own.points) {
      places.emplace_back(points.begin(), points.begin() + dim);
      x.insert(x.end(), points.begin(), points.begin() + dim);
    }
    LearntCoordinates centred = exact_coordinates_about(run, places, own.factor, gradients);
    if (centred.size() == 0) return {};
    run.coordinates->set(centred);
    run.coordinates->from_target(x);
    NormalLaw<Real> found = nearest(x, own.factor);
    NormalStart<Real>& there = found.start;
    run.coordinates->set(LearntCoordinates{});
    std::vector<Index> went_on;
    for (Index c = 0; c < std::ssize(own.left) + std::ssize(places); ++c)
      if (!std::ranges::binary_search(own.left, c)) went_on.push_back(c);
    for (Index& c : there.left) c = went_on[static_cast<std::size_t>(c)];
    there.left.insert(there.left.end(), own.left.begin(), own.left.end());
    std::ranges::sort(there.left);
    there.left_below = std::max(there.left_below, own.left_below);
    const bool dear = dim > cheap && dim <= most_coordinates;  // beyond, maps are of single coordinates
    there.fits &= there.points.size() >= there.left.size() && !(dear && own.fits && found.height < law.height);
    return {std::move(there), std::move(centred)};
  }
};

}  // namespace

template <class Real>
NormalArrival<Real> normal_arrival(const Phases<Real>& run, const std::vector<Real>& x, const Climbed<Real>& way) {
  const ThreadsOf threads(run.context, run.dim());
  Arriving<Real> arriving{run};
  NormalArrival<Real> out{arriving.at_modes(x, way), {}};
  if (!out.start.fits && !run.stop && run.dim() <= most_dense) {
    NormalLaw<Real> law = arriving.nearest(x, metric_of(way, run.dim()));
    const double bar = run.dim() > most_coordinates ? well_of_many : well;
    const bool fits_well = law.start.fits && std::ranges::all_of(law.agreement, [&](double a) { return a > bar; });
    const bool most_stay = !law.start.points.empty() && law.start.points.size() >= law.start.left.size();
    if (!fits_well && most_stay && may_learn_coordinates(run)) out = arriving.in_centred_coordinates(law);
    if (!out.start.fits) out = {std::move(law.start), {}};
  }
  out.start.gradients = arriving.gradients;
  out.start.fits &= !run.stop;
  return out;
}

template NormalArrival<float> normal_arrival(const Phases<float>&, const std::vector<float>&, const Climbed<float>&);
template NormalArrival<double> normal_arrival(const Phases<double>&, const std::vector<double>&,
                                              const Climbed<double>&);

}  // namespace kilochain
