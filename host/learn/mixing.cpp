#include "host/learn/mixing.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

#include "base/dense.hpp"
#include "host/learn/learnt_metric.hpp"

namespace kilochain {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;
using FactorRows = Eigen::Map<const MatrixXd>;  ///< rows of a factor F are its columns: F^T
constexpr Eigen::Index slow_directions = 8;
constexpr Count most_draws = 4096;  // of as many chains as that takes: more tell little more

/// In draws of a law, centred, (dim, draw), the directions in which they are widest by the metric: those take the
/// longest. (dim, direction), so that their transpose times a draw is how far it lies along them. Draws are never
/// whitened: powers of F^-1 x x' F^-T need F on a few directions alone.
MatrixXd widest_directions(const MatrixXd& x, const FactorRows& Ft) {
  const Eigen::Index n = x.rows(), count = std::min(slow_directions, n);
  const bool dense = n <= most_dense;
  const MatrixXd F = dense ? MatrixXd(Ft.transpose()) : MatrixXd();
  const auto divided = [&](MatrixXd v) { return MatrixXd(v.array().colwise() / Ft.diagonal().array()); };
  const auto solve = [&](const MatrixXd& v) { return dense ? solve_lower(F, v) : divided(v); };
  const auto solve_transposed = [&](const MatrixXd& v) { return dense ? solve_lower_transposed(F, v) : divided(v); };
  constexpr int powers = 8;
  MatrixXd squares;
  const bool squared = n < 4 * powers * slow_directions;  // fewer operations than the products with all draws
  if (squared) squares = times_own_transpose(x);
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  MatrixXd v = MatrixXd::NullaryExpr(n, count, [&] { return normal(random); });
  for (int k = 0; k < powers; ++k) {
    const MatrixXd u = solve_transposed(v);
    v = orthonormal(solve(squared ? times(squares, u) : times(x, transposed_times(x, u))));
  }
  return solve_transposed(v);
}

/// (1 + rho)/(1 - rho) of neighbouring draws of each row and of how far it is from its mean, on average over the
/// slowest `part` of them. x: (row, chain draw), centred.
double slowest_times(const MatrixXd& x, Eigen::Index draws, double part) {
  using Eigen::ArrayXd;
  const auto columns = x.cols();
  const double n = static_cast<double>(columns), pairs = static_cast<double>(columns / draws * (draws - 1));
  const ArrayXd far = x.array().abs().rowwise().sum() / n;
  ArrayXd variance = ArrayXd::Zero(x.rows()), variance_far = variance, jump = variance, jump_far = variance;
  for (Eigen::Index at = 0; at < columns; ++at) {
    const auto now = x.col(at).array();
    variance += now.square();
    variance_far += (now.abs() - far).square();
    if (at % draws == 0) continue;
    const auto before = x.col(at - 1).array();
    jump += (now - before).square();
    jump_far += (now.abs() - before.abs()).square();
  }
  std::vector<double> times;
  const auto add = [&](double jumps, double squares) {
    if (!(squares > 0)) return false;
    const double r = std::max(0.0, 1 - jumps / pairs / (squares / n) / 2);  // exact where chains hardly move
    times.push_back((1 + r) / (1 - r));
    return true;
  };
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    if (!add(jump[i], variance[i]) || !add(jump_far[i], variance_far[i])) return INFINITY;
  const auto slow = static_cast<std::ptrdiff_t>(std::ceil(part * static_cast<double>(times.size())));
  std::partial_sort(times.begin(), times.begin() + slow, times.end(), std::greater());
  return std::accumulate(times.begin(), times.begin() + slow, 0.0) / static_cast<double>(slow);
}

}  // namespace

template <class Real>
double mixing_of(const FrozenDraws<Real>& block, const std::vector<double>& factor, bool along) {
  const Count all = std::ssize(block.running),
              every = std::max<Count>(1, (all * block.count + most_draws - 1) / most_draws),
              chains = (all + every - 1) / every;
  MatrixXd x(block.dim, chains * block.count);
  for (Eigen::Index at = 0; at < x.cols(); ++at)
    std::copy_n(block.row(block.running[at / block.count * every], at % block.count), block.dim, x.col(at).data());
  x.colwise() -= x.rowwise().mean().eval();
  const double coordinates = slowest_times(x, block.count, 1.0 / 8);  // the slowest one alone is mostly noise
  if (!along) return 1 / coordinates;
  const MatrixXd widest = widest_directions(x, FactorRows(factor.data(), block.dim, block.dim));
  return 1 / std::max(coordinates, slowest_times(transposed_times(widest, x), block.count, 1.0 / 4));
}

template <class Real>
double longest_stay(const FrozenDraws<Real>& block, const std::vector<double>& factor,
                    const std::vector<double>& mean) {
  const Eigen::Index n = block.dim, count = std::ssize(block.running) * block.count;
  MatrixXd z(n, count);
  VectorXd log_weights(count);
  for (Eigen::Index at = 0; const auto c : block.running)
    for (Count s = 0; s < block.count; ++s, ++at) {
      for (Eigen::Index i = 0; i < n; ++i) z(i, at) = static_cast<double>(block.at(c, s, i)) - mean[i];
      log_weights[at] = block.lp_of(c)[s];
    }
  const FactorRows Ft(factor.data(), n, n);
  if (n <= most_dense)
    z = solve_lower(MatrixXd(Ft.transpose()), std::move(z));
  else
    z.array().colwise() /= Ft.diagonal().array();
  log_weights += z.colwise().squaredNorm().transpose() / 2;
  const double most = log_weights.maxCoeff();
  return (most - log_weights.array()).exp().mean();
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

template <class Real>
bool still_moves(const FrozenDraws<Real>& block) {
  const Count half = block.count / 2;
  const double n = static_cast<double>(block.running.size());
  if (half < 4 || n < 4) return false;
  double ways = 0, ways2 = 0, levels = 0, levels2 = 0;
  for (const auto c : block.running) {
    double first = 0, last = 0;
    for (Count s = 0; s < half; ++s) {
      first += block.lp_of(c)[s] / static_cast<double>(half);
      last += block.lp_of(c)[block.count - 1 - s] / static_cast<double>(half);
    }
    ways += last - first, ways2 += (last - first) * (last - first), levels += last, levels2 += last * last;
  }
  const double way = ways / n, error = std::sqrt((ways2 / n - way * way) / (n - 1)),
               sd = std::sqrt(levels2 / n - levels / n * levels / n);
  return std::abs(way) > 4 * error && std::abs(way) > sd / 2;
}

template double mixing_of(const FrozenDraws<float>&, const std::vector<double>&, bool);
template double mixing_of(const FrozenDraws<double>&, const std::vector<double>&, bool);
template double longest_stay(const FrozenDraws<float>&, const std::vector<double>&, const std::vector<double>&);
template double longest_stay(const FrozenDraws<double>&, const std::vector<double>&, const std::vector<double>&);
template bool finer_for_all(const FrozenDraws<float>&);
template bool finer_for_all(const FrozenDraws<double>&);
template bool still_moves(const FrozenDraws<float>&);
template bool still_moves(const FrozenDraws<double>&);

}  // namespace kilochain
