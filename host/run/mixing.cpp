#include "host/run/mixing.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

#include "host/run/learnt_metric.hpp"

namespace kilochain {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;
constexpr Eigen::Index slow_directions = 8;

/// In draws z of a whitened law, (draw, dim), the directions in which they are widest: those take the longest.
MatrixXd widest_directions(const MatrixXd& z) {
  const Eigen::Index count = std::min(slow_directions, z.cols());
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  MatrixXd v = MatrixXd::NullaryExpr(z.cols(), count, [&] { return normal(random); });
  for (int k = 0; k < 8; ++k)
    v = Eigen::HouseholderQR<MatrixXd>(z.transpose() * (z * v)).householderQ() * MatrixXd::Identity(z.cols(), count);
  return v;
}

/// (1 + rho)/(1 - rho) of neighbouring draws of each column and of how far it is from its mean, on average over the
/// slowest `part` of them. x: (chain draw, column).
double slowest_times(const MatrixXd& x, Eigen::Index draws, double part) {
  std::vector<double> times;
  for (Eigen::Index i = 0; i < x.cols(); ++i) {
    const VectorXd away = x.col(i).array() - x.col(i).mean(), far = away.cwiseAbs();
    for (const VectorXd& f : {away, VectorXd(far.array() - far.mean())}) {
      const double variance = f.squaredNorm() / static_cast<double>(f.size());
      if (!(variance > 0)) return INFINITY;
      double jump = 0;  // 1 - rho is half a squared jump: exact where chains hardly move
      for (Eigen::Index first = 0; first < f.size(); first += draws)
        jump += (f.segment(first + 1, draws - 1) - f.segment(first, draws - 1)).squaredNorm();
      const double r = std::max(0.0, 1 - jump / static_cast<double>(f.size() / draws * (draws - 1)) / variance / 2);
      times.push_back((1 + r) / (1 - r));
    }
  }
  const auto slow = static_cast<std::ptrdiff_t>(std::ceil(part * static_cast<double>(times.size())));
  std::partial_sort(times.begin(), times.begin() + slow, times.end(), std::greater());
  return std::accumulate(times.begin(), times.begin() + slow, 0.0) / static_cast<double>(slow);
}

}  // namespace

template <class Real>
double mixing_of(const FrozenDraws<Real>& block, const std::vector<double>& factor) {
  MatrixXd x(std::ssize(block.running) * block.count, block.dim);
  for (Eigen::Index at = 0; const auto c : block.running)
    for (Count s = 0; s < block.count; ++s, ++at)
      for (Count i = 0; i < block.dim; ++i) x(at, i) = static_cast<double>(block.at(c, s, i));
  const double coordinates = slowest_times(x, block.count, 1.0 / 8);  // the slowest one alone is mostly noise
  using Factor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<const Factor> F(factor.data(), block.dim, block.dim);
  MatrixXd z = (x.rowwise() - x.colwise().mean()).transpose();  // (dim, chain draw)
  if (block.dim > most_dense)
    z.array().colwise() /= F.diagonal().array();
  else
    F.template triangularView<Eigen::Lower>().solveInPlace(z);
  z.transposeInPlace();
  const double directions = slowest_times(z * widest_directions(z), block.count, 1.0 / 4);
  return 1 / std::max(coordinates, directions);
}

template <class Real>
bool finer_for_all(const FrozenDraws<Real>& block) {
  const auto count = static_cast<double>(block.count), chains = static_cast<double>(block.running.size());
  std::vector<double> share(block.running.size());
  for (Count s = 0; s < block.count; ++s) {
    const auto steps = [&](std::int64_t c) { return block.steps[static_cast<std::size_t>(c * block.count + s)]; };
    float least = INFINITY;
    for (const auto c : block.running) least = std::min(least, steps(c));
    for (std::size_t k = 0; k < share.size(); ++k) share[k] += (steps(block.running[k]) > least) / count;
  }
  double mean = 0, variance = 0;
  for (const double s : share) mean += s / chains;
  for (const double s : share) variance += (s - mean) * (s - mean) / std::max(1.0, chains - 1);
  const double alike = mean * (1 - mean), between = (variance - alike / count) / (1 - 1 / count);
  return mean > 0.08 && between < 0.1 * alike;
}

template double mixing_of(const FrozenDraws<float>&, const std::vector<double>&);
template double mixing_of(const FrozenDraws<double>&, const std::vector<double>&);
template bool finer_for_all(const FrozenDraws<float>&);
template bool finer_for_all(const FrozenDraws<double>&);

}  // namespace kilochain
