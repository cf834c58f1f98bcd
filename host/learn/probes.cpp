#include "host/learn/probes.hpp"

#include <algorithm>
#include <cmath>

#include "base/dense.hpp"

namespace kilochain {

Eigen::MatrixXd normals_of(Eigen::Index n, Index count, const Rng& rng) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<double> z(size + 32);
  Eigen::MatrixXd out(n, count);
  for (Index k = 0; k < count; ++k) {
    const Rng own{rng.seed, rng.chain, rng.iteration * count + k};
    normals(HostTeam{}, own, Purpose::start, Row(z.data(), z.size()), n);
    std::copy_n(z.begin(), size, out.col(k).data());
  }
  return out;
}

Eigen::MatrixXd ways_of(const std::vector<double>& factor, Eigen::Index n, Index count, const Rng& rng) {
  const Eigen::Map<const Eigen::MatrixXd> by_rows(factor.data(), n, n);
  return transposed_times(by_rows, normals_of(n, count, rng));
}

template <class Real>
void add_probes(const GradientsAt<Real>& gradients_at, const std::vector<double>& factor, std::span<const Real> places,
                std::span<const Real> slopes, Index count, const Rng& rng, MetricLearner& learner) {
  constexpr double share = std::is_same_v<Real, double> ? 1e-3 : 0.05;  // of a draw's way; beyond a gradient's rounding
  const auto n = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(factor.size()))));
  const Eigen::MatrixXd ways = ways_of(factor, n, count, rng);
  std::vector<Real> points(static_cast<std::size_t>(n * count));
  for (std::size_t k = 0; k < points.size(); ++k)
    points[k] = static_cast<Real>(places[k % places.size()] + share * ways.data()[k]);
  const std::vector<Real> there = gradients_at(points, nullptr);
  std::vector<double> change(there.size());
  for (std::size_t k = 0; k < there.size(); ++k) change[k] = (there[k] - slopes[k % slopes.size()]) / share;
  learner.add(ways.data(), change.data(), count);
}

template void add_probes(const GradientsAt<float>&, const std::vector<double>&, std::span<const float>,
                         std::span<const float>, Index, const Rng&, MetricLearner&);
template void add_probes(const GradientsAt<double>&, const std::vector<double>&, std::span<const double>,
                         std::span<const double>, Index, const Rng&, MetricLearner&);

}  // namespace kilochain
