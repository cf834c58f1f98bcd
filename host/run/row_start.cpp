#include "host/run/row_start.hpp"

#include <algorithm>
#include <cmath>

#include "host/run/logistic_lines.hpp"
#include "host/run/probes.hpp"

namespace kilochain {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;

constexpr int most_steps = 30, halvings = 10;  // of Newton's
constexpr double arrived = 1e-3;               // times n, of log density: what a step gains at last
constexpr int most_rounds = 6;
constexpr double stays = 0.02;  // times n: squared length of the mean's way in a round, where the normal is N(0, I)
constexpr Eigen::Index fewest_draws = 256, wanted_draws = 1024;

std::optional<LogisticRows::Normal> about_mode(const LogisticRows& observed) {
  VectorXd at = VectorXd::Zero(observed.dim());
  double lp = observed.log_density(at);
  for (int k = 0; k < most_steps; ++k) {
    const LogisticLines lines = observed.lines(at);
    auto normal = observed.normal(lines, lines.slope, at);
    if (!normal) return {};
    VectorXd way = normal->mean - at;
    double next = observed.log_density(at + way);
    for (int half = 0; half < halvings && !(next >= lp); ++half) way /= 2, next = observed.log_density(at + way);
    if (!(next - lp > arrived * static_cast<double>(observed.dim()))) return normal;
    at += way, lp = next;
  }
  return {};
}

}  // namespace

std::optional<RowStart> row_start(const Design& design, double prior_sd, const Rng& rng) {
  const LogisticRows observed(design, prior_sd);
  const Eigen::Index n = observed.dim(), fewest = std::max(fewest_draws, 2 * n);
  if (n > most_dense || observed.most_draws() < fewest) return {};
  auto normal = about_mode(observed);
  if (!normal) return {};
  const auto draws_of = [&](Eigen::Index count, int use) {
    const std::vector<double> factor(normal->factor.data(), normal->factor.data() + n * n);
    return MatrixXd(
        ways_of(factor, n, static_cast<Index>(count), {rng.seed, rng.chain, rng.iteration + use}).colwise() +
        normal->mean);
  };
  for (int round = 0; round < most_rounds; ++round) {
    const MatrixXd draws = draws_of(fewest, 0);
    const LogisticLines lines = observed.lines(draws);
    auto next = observed.normal(lines, lines.slope, draws.rowwise().mean());
    if (!next) return {};
    const VectorXd way = next->factor.triangularView<Eigen::Lower>().solve(next->mean - normal->mean);
    normal = std::move(next);
    if (way.squaredNorm() < stays * static_cast<double>(n)) break;
  }
  const MatrixXd draws = draws_of(std::min(observed.most_draws(), std::max(wanted_draws, fewest)), 1);
  RowStart out;
  out.factor.assign(normal->factor.data(), normal->factor.data() + n * n);
  out.mean.assign(normal->mean.data(), normal->mean.data() + n);
  out.draws.assign(draws.data(), draws.data() + draws.size());
  return out;
}

}  // namespace kilochain
