#include "host/learn/row_start.hpp"

#include <algorithm>
#include <cmath>

#include "host/learn/logistic_lines.hpp"
#include "host/learn/probes.hpp"

namespace kilochain {
namespace {

using Eigen::ArrayXd, Eigen::MatrixXd, Eigen::VectorXd;

constexpr int newton_steps = 50, halvings = 6;
constexpr double last_gain = 0.005;  // times n: what a step gains at last
constexpr Eigen::Index fewest_observed = 256, wanted_draws = 1024;

/// A normal, and the observations' lines over its draws mean + factor z. Of one z, 0, it is a point.
struct NormalFit {
  LogisticRows::Normal normal;
  ArrayXd slope;  ///< that the factor is made of
  LogisticLines lines;
  double bound = -INFINITY;  ///< log density on average, and log det factor: at most the log evidence, up to a constant
};

/// Climbs that bound, which is concave in mean and factor: steps to the normal of the lines over its own draws, or part
/// of the way. Without an end where it does not arrive.
class Climb {
 public:
  Climb(const LogisticRows& observed, MatrixXd z) : observed_(observed), z_(std::move(z)), point_(z_.cols() == 1) {}

  std::optional<NormalFit> from(NormalFit fit) const {
    evaluate(fit);
    double part = 1;
    for (int k = 0; k < newton_steps && std::isfinite(fit.bound); ++k) {
      NormalFit next;
      for (int half = 0; half < halvings && !(next.bound > fit.bound); ++half) {
        next.slope = (1 - part) * fit.slope + part * fit.lines.slope;
        const auto normal = observed_.normal(fit.lines, next.slope, fit.normal.mean);
        if (!normal) return {};
        next.normal = {normal->factor, fit.normal.mean + part * (normal->mean - fit.normal.mean)};
        evaluate(next);
        if (!(next.bound > fit.bound)) part /= 2;
      }
      const double gain = next.bound - fit.bound;
      if (gain > 0) fit = std::move(next);
      if (!(gain > last_gain * static_cast<double>(observed_.dim()))) return fit;
      part = std::min(1.0, 2 * part);
    }
    return {};
  }

 private:
  void evaluate(NormalFit& fit) const {
    MatrixXd draws = fit.normal.mean;
    if (!point_) draws = (fit.normal.factor * z_).colwise() + fit.normal.mean;
    fit.lines = observed_.lines(draws);
    fit.bound = fit.lines.log_likelihood.sum() -
                draws.squaredNorm() / static_cast<double>(draws.cols()) / 2 / std::pow(observed_.prior_sd(), 2);
    if (!point_) fit.bound += fit.normal.factor.diagonal().array().log().sum();
  }

  const LogisticRows& observed_;
  const MatrixXd z_;
  const bool point_;
};

}  // namespace

std::optional<RowStart> row_start(const Design& design, double prior_sd, const Rng& rng) {
  const LogisticRows observed(design, prior_sd);
  const Eigen::Index n = observed.dim(), fewest = std::max(fewest_observed, 2 * n);
  if (n > most_dense || observed.most_draws() < fewest) return {};
  const auto normals = [&](Eigen::Index count, int use) {
    return normals_of(n, static_cast<Index>(count), {rng.seed, rng.chain, rng.iteration + use});
  };
  const NormalFit zero{{MatrixXd::Identity(n, n), VectorXd::Zero(n)}, ArrayXd::Constant(observed.rows(), -0.25), {}};
  std::optional<NormalFit> fit = Climb(observed, VectorXd::Zero(n)).from(zero);  // Newton's method
  if (!fit) return {};
  const auto about = observed.normal(fit->lines, fit->lines.slope, fit->normal.mean);
  if (!about) return {};
  MatrixXd pairs(n, fewest / 2 * 2);
  pairs.leftCols(fewest / 2) = normals(fewest / 2, 0);
  pairs.rightCols(fewest / 2) = -pairs.leftCols(fewest / 2);
  fit = Climb(observed, pairs).from({*about, fit->lines.slope, {}});
  if (!fit) return {};
  const LogisticRows::Normal& normal = fit->normal;
  const MatrixXd z = normals(std::min(observed.most_draws(), std::max(wanted_draws, fewest)), 1);
  const MatrixXd draws = (normal.factor * z).colwise() + normal.mean;
  RowStart out;
  out.factor.assign(normal.factor.data(), normal.factor.data() + n * n);
  out.mean.assign(normal.mean.data(), normal.mean.data() + n);
  out.draws.assign(draws.data(), draws.data() + draws.size());
  return out;
}

}  // namespace kilochain
