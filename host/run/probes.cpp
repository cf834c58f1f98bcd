#include "host/run/probes.hpp"

#include <algorithm>

namespace kilochain {

template <class Real>
void add_probes(const GradientsAt<Real>& gradients_at, const std::vector<double>& factor, std::span<const Real> place,
                std::span<const Real> slope, Index count, const Rng& rng, MetricLearner& learner) {
  constexpr double share = std::is_same_v<Real, double> ? 1e-3 : 0.05;  // of a draw's way; beyond a gradient's rounding
  const auto n = place.size();
  std::vector<double> z(n + 32), ways;
  std::vector<Real> points;
  for (Index k = 0; k < count; ++k) {
    const Rng own{rng.seed, rng.chain, rng.iteration * count + k};
    normals(HostTeam{}, own, Purpose::start, Row(z.data(), z.size()), static_cast<Index>(n));
    for (std::size_t i = 0; i < n; ++i) {
      double way = 0;
      for (std::size_t j = 0; j <= i; ++j) way += factor[i * n + j] * z[j];
      ways.push_back(way);
      points.push_back(static_cast<Real>(place[i] + share * way));
    }
  }
  const std::vector<Real> there = gradients_at(points, nullptr);
  std::vector<double> slopes(there.size());
  for (std::size_t k = 0; k < there.size(); ++k) slopes[k] = (there[k] - slope[k % n]) / share;
  learner.add(ways.data(), slopes.data(), count);
}

template void add_probes(const GradientsAt<float>&, const std::vector<double>&, std::span<const float>,
                         std::span<const float>, Index, const Rng&, MetricLearner&);
template void add_probes(const GradientsAt<double>&, const std::vector<double>&, std::span<const double>,
                         std::span<const double>, Index, const Rng&, MetricLearner&);

}  // namespace kilochain
