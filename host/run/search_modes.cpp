#include "host/run/search_modes.hpp"

#include <algorithm>
#include <cmath>

#include "host/learn/climb.hpp"
#include "host/run/mode_groups.hpp"
#include "host/run/relocate.hpp"
#include "host/run/target_gradients.hpp"

namespace kilochain {
namespace {

constexpr int climbs = 64;                       // from lines, and from all over
constexpr int few_climbs = 24;                   // from farther out, where one mode is known
constexpr int most_climbs = 256, of_climb = 30;  // gradients of one
constexpr int most_rounds = 50;                  // of a climb
constexpr double little = 0.1;                   // it gains far out, where steps have yet to become long
constexpr int most_stops = 4000;                 // on lines
constexpr int stops = 30;                        // on a line: 3, 3.3, 3.6, ... 48 standard deviations away
constexpr double first_stop = 3, from_stop_to_stop = 1.1;

using Vector = Overlay::Vector;

/// In turn from 3 and from 10 times as far out as chains start; where several modes are known, as chains start and
/// about known modes as well: there each difference between these is drawn anew.
template <class Real>
std::vector<Real> from_all_over(const Phases<Real>& run, const Overlay& known, std::int64_t climbs) {
  const auto n = static_cast<Eigen::Index>(run.dim()), modes = static_cast<Eigen::Index>(known.size());
  const StartingPoints<Real> points(run.options, run.dim());
  Vector middle = Vector::Zero(n);
  for (const Overlay::Law& law : known.laws()) middle += law.mean / static_cast<double>(modes);
  std::vector<Real> x;
  std::vector<double> z(padded(static_cast<std::size_t>(n + modes)) + 32);
  for (std::int64_t k = 0; k < climbs; ++k) {
    const bool about = modes > 1 && k % 4 == 1;
    if (modes > 1 && k % 4 == 0 && points.are_drawn()) {
      const std::vector<Real> one = points.again(static_cast<Index>(k), 1 + most_starts);
      x.insert(x.end(), one.begin(), one.end());
      continue;
    }
    normals(HostTeam{}, Rng{~run.options.seed, static_cast<std::uint32_t>(k), std::int64_t(1) << 36}, Purpose::mode,
            Row(z.data(), z.size()), static_cast<Index>(n + modes));
    const Eigen::Map<const Vector> drawn(z.data(), n);
    Vector at = (k % 2 ? 3 : 10) * drawn;
    if (about) {
      const Overlay::Law& law = known.laws()[static_cast<std::size_t>(k / 4 % modes)];
      at = middle + law.factor.triangularView<Eigen::Lower>() * drawn;
      for (Eigen::Index j = 0; j < modes; ++j)
        at += z[static_cast<std::size_t>(n + j)] * (known.laws()[static_cast<std::size_t>(j)].mean - middle);
    }
    for (const double v : at) x.push_back(static_cast<Real>(v));
  }
  return x;
}

/// Points on lines from known modes where the log density is higher than before on that line, the highest first. A line
/// goes as the law's mean does, given one coordinate.
template <class Real>
std::vector<Real> beyond(const Overlay& known, std::int64_t most_on_lines, TargetGradients<Real>& gradients_at,
                         std::int64_t& gradients) {
  const Eigen::Index n = known.laws()[0].mean.size(), lines = 2 * n * std::ssize(known.laws());
  const std::int64_t every = 1 + lines * stops / most_on_lines;
  std::vector<Real> x;
  for (std::int64_t line = 0; line < lines; line += every) {
    const Overlay::Law& law = known.laws()[static_cast<std::size_t>(line / (2 * n))];
    Vector way = law.factor.row(line / 2 % n).transpose();
    way *= (line % 2 ? -1 : 1) / way.norm();
    way = law.factor.triangularView<Eigen::Lower>() * way;
    for (int stop = 0; stop < stops; ++stop)
      for (const double v : Vector(law.mean + first_stop * std::pow(from_stop_to_stop, stop) * way))
        x.push_back(static_cast<Real>(v));
  }
  std::vector<double> lp;
  gradients_at(x, &lp);
  gradients += std::ssize(lp);
  std::vector<std::size_t> rising;
  for (std::size_t k = 0; k < lp.size(); ++k)
    if (k % stops > 0 && lp[k] > lp[k - 1] + 0.1) rising.push_back(k);
  std::ranges::sort(rising, std::greater{}, [&](std::size_t k) { return lp[k]; });
  rising.resize(std::min<std::size_t>(rising.size(), climbs));
  std::vector<Real> out;
  for (const std::size_t k : rising)
    out.insert(out.end(), x.begin() + static_cast<std::ptrdiff_t>(k) * n,
               x.begin() + static_cast<std::ptrdiff_t>(k + 1) * n);
  return out;
}

/// Where climbs ended, and what is between that and other places.
template <class Real>
class Ends {
 public:
  Ends(const Phases<Real>& run, const Overlay& known, std::int64_t& gradients)
      : run_(run), known_(known), gradients_(gradients), gradients_at_(run, run.coordinates->plain()) {}

  /// (point, n): one for each place that is no known mode.
  std::vector<Real> elsewhere(std::int64_t allowed) {
    const bool several = known_.size() > 1;
    std::vector<Real> x = beyond(known_, std::min<std::int64_t>(most_stops, allowed), gradients_at_, gradients_), more;
    more = from_all_over(run_, known_,
                         std::clamp<std::int64_t>(allowed / of_climb, several ? climbs : few_climbs, most_climbs));
    x.insert(x.end(), more.begin(), more.end());
    Climbed<Real> way = climb<Real>(std::ref(gradients_at_), x, run_.dim(), run_.stop, little, most_rounds);
    gradients_ += way.gradients;
    run_.coordinates->gather_of_target(x);
    std::vector<Real> means;
    for (const Overlay::Law& law : known_.laws())
      for (const double v : law.mean) means.push_back(static_cast<Real>(v));
    const std::vector<double> tops = lp_at(means);
    const double least = std::ranges::max(tops) - 20 - static_cast<double>(run_.dim()) * std::log(10);
    std::vector<Place> left;
    for (std::int64_t k = 0; k < std::ssize(way.lp); ++k) {
      Place place{
          Eigen::Map<const Eigen::Matrix<Real, -1, 1>>(x.data() + k * run_.dim(), run_.dim()).template cast<double>(),
          way.lp[static_cast<std::size_t>(k)]};
      if (place.lp > least) left.push_back(std::move(place));
    }
    std::vector<Place> nearest;
    for (const Place& place : left) {
      Vector at = place.x;
      const std::size_t mode = known_.lay(at);
      nearest.push_back({known_.laws()[mode].mean, tops[mode]});
    }
    left = behind_walls(left, nearest);
    std::ranges::sort(left, std::greater{}, &Place::lp);
    std::vector<Real> out;
    for (std::size_t places = 0; !left.empty() && places < (several ? 16 : 4); ++places) {
      for (const double v : left[0].x) out.push_back(static_cast<Real>(v));
      left = behind_walls(left, std::vector<Place>(left.size(), left[0]));
    }
    return out;
  }

 private:
  struct Place {
    Vector x;
    double lp;
  };
  std::vector<double> lp_at(const std::vector<Real>& points) {
    std::vector<double> lp;
    gradients_at_(points, &lp);
    gradients_ += std::ssize(lp);
    return lp;
  }
  /// Those of `places` that a wall is before, as seen from others[k].
  std::vector<Place> behind_walls(const std::vector<Place>& places, const std::vector<Place>& others) {
    constexpr int parts = 4;
    std::vector<Real> between;
    for (std::size_t k = 0; k < places.size(); ++k)
      for (int part = 1; part < parts; ++part) {
        const Vector at = others[k].x + part / double(parts) * (places[k].x - others[k].x);
        for (const double v : at) between.push_back(static_cast<Real>(v));
      }
    const std::vector<double> lp = lp_at(between);
    std::vector<Place> out;
    for (std::size_t k = 0; k < places.size(); ++k) {
      const double bar = std::min(places[k].lp, others[k].lp) - wall_between_modes;
      const auto first = lp.begin() + static_cast<std::ptrdiff_t>(k * (parts - 1));
      if (!std::all_of(first, first + parts - 1, [&](double v) { return v > bar; })) out.push_back(places[k]);
    }
    return out;
  }

  const Phases<Real>& run_;
  const Overlay& known_;
  std::int64_t& gradients_;
  TargetGradients<Real> gradients_at_;
};

}  // namespace

template <class Real>
std::vector<Real> draws_elsewhere(const Phases<Real>& run, const Overlay& known, std::int64_t allowed, Count count,
                                  std::int64_t& gradients) {
  std::vector<Real> places = Ends<Real>(run, known, gradients).elsewhere(allowed);
  const std::vector<Real> once = places;
  places.insert(places.end(), once.begin(), once.end());  // one of two chains may go to another mode
  run.coordinates->from_target(places);
  std::vector<Real> out;
  for (const DrawsAbout& of : draws_about(run, places, count, gradients))
    if (of.running)
      std::ranges::transform(of.x, std::back_inserter(out), [](double v) { return static_cast<Real>(v); });
  run.coordinates->to_target(out);
  run.coordinates->gather_of_target(out);  // chains may have gone to an image of a known mode
  return out;
}

template std::vector<float> draws_elsewhere(const Phases<float>&, const Overlay&, std::int64_t, Count, std::int64_t&);
template std::vector<double> draws_elsewhere(const Phases<double>&, const Overlay&, std::int64_t, Count, std::int64_t&);

}  // namespace kilochain
