#include "host/learn/log_mass.hpp"

#include <algorithm>
#include <numbers>

#include "base/dense.hpp"
#include "host/learn/probes.hpp"

namespace kilochain {
namespace {

using Eigen::ArrayXd, Eigen::MatrixXd;

// Of what it is where the normal is the density. Below, a few points make the sums, and with them their own error.
constexpr double least_overlap = 0.02;

/// The variance of a sum of terms in order of time, by sums of tenths.
double variance_of_sum(const ArrayXd& terms) {
  constexpr Index batches = 10;
  ArrayXd sums(batches);
  for (Index b = 0; b < batches; ++b) {
    const Index first = b * terms.size() / batches;
    sums[b] = terms.segment(first, (b + 1) * terms.size() / batches - first).sum();
  }
  return (sums - sums.mean()).square().sum() * batches / (batches - 1);
}

/// From log p - log q at draws of p and at as many of q.
LogMass bridged(const ArrayXd& at_p, const ArrayXd& at_q) {
  double low = std::min(at_p.minCoeff(), at_q.minCoeff()), high = std::max(at_p.maxCoeff(), at_q.maxCoeff());
  low = std::max(low, at_p.minCoeff() - 50);  // of normals that miss the density the log may be minus infinity
  for (int k = 0; k < 100; ++k) {
    const double z = 0.5 * (low + high);
    ((at_q - z).logistic().sum() > (z - at_p).logistic().sum() ? low : high) = z;
  }
  const ArrayXd p = (low - at_p).logistic(), q = (at_q - low).logistic();
  const double overlap = (p * (1 - p)).sum() + (q * (1 - q)).sum(), most = 0.5 * static_cast<double>(p.size());
  if (!(overlap > least_overlap * most)) return {};
  return {low, std::sqrt(variance_of_sum(p) + variance_of_sum(q)) / overlap};
}

}  // namespace

template <class Real>
LogMass log_mass(const std::vector<double>& draws, const std::vector<double>& lps,
                 const GradientsAt<Real>& gradients_at) {
  const Index all = std::ssize(lps), n = std::ssize(draws) / std::max<Index>(1, all), half = all / 2,
              count = all - half;
  const Eigen::Map<const MatrixXd> x(draws.data(), n, all);
  const Eigen::Map<const ArrayXd> lp(lps.data(), all);
  if (half < 4 * n || half < 20 || !x.allFinite() || !lp.allFinite()) return {};
  const Eigen::VectorXd mean = x.leftCols(half).rowwise().mean();
  const auto L = cholesky(times_own_transpose(x.leftCols(half).colwise() - mean) / static_cast<double>(half - 1));
  if (!L) return {};
  const double constant =
      L->diagonal().array().log().sum() + 0.5 * static_cast<double>(n) * std::log(2 * std::numbers::pi);
  const auto log_q = [&](const MatrixXd& z) -> ArrayXd { return -0.5 * z.colwise().squaredNorm().array() - constant; };
  const MatrixXd z = normals_of(n, count, Rng{1, 0, 0}), there = times(*L, z).colwise() + mean;
  std::vector<double> found;
  gradients_at(std::vector<Real>(there.data(), there.data() + there.size()), &found);
  for (double& v : found)
    if (std::isnan(v)) v = -INFINITY;
  const ArrayXd at_q = Eigen::Map<const ArrayXd>(found.data(), count) - log_q(z);
  const ArrayXd at_p = lp.tail(count) - log_q(solve_lower(*L, x.rightCols(count).colwise() - mean));
  return bridged(at_p, at_q);
}

template LogMass log_mass(const std::vector<double>&, const std::vector<double>&, const GradientsAt<float>&);
template LogMass log_mass(const std::vector<double>&, const std::vector<double>&, const GradientsAt<double>&);

}  // namespace kilochain
