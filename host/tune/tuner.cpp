#include "host/tune/tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "host/tune/maximise.hpp"
#include "kernels/random/draw.hpp"

namespace kilochain {

Tuner::Tuner(Box box, TunerOptions options) : box_(std::move(box)), options_(options) {}

void Tuner::tell(Point values, double score) {
  require(values.size() == box_.size(), ExitStatus::usage, "a point of another dimension was given",
          fmt::format("{} values, the box has {}", values.size(), box_.size()), "Tell a point of this box?");
  require(std::isfinite(score), ExitStatus::usage, "a score is not a number", fmt::format("{}", score),
          "Tell something very low for what failed?");
  told_.push_back({std::move(values), score});
}

std::vector<double> Tuner::scores() const {
  std::vector<double> out;
  for (const Told& t : told_) out.push_back(t.score);
  if (!out.empty()) {
    const double worst = *std::max_element(out.begin(), out.end()) - options_.worst_below_best;
    for (double& v : out) v = std::max(v, worst);
  }
  return out;
}

std::vector<Point> Tuner::points() const {
  std::vector<Point> out;
  for (const Told& t : told_) out.push_back(box_.unit(t.values));
  return out;
}

Hyperparameters Tuner::fit(const std::vector<Point>& x, const std::vector<double>& y) const {
  if (options_.fit == Fit::paper || y.empty()) return {std::vector<double>(box_.size(), 0.1), 1, std::sqrt(0.1), 0};
  return likeliest(options_.covariance, x, y);
}

GaussianProcess Tuner::posterior() const {
  const auto x = points();
  const auto y = scores();
  return {options_.covariance, fit(x, y), x, y};
}

const Tuner::Told& Tuner::best() const {
  const GaussianProcess f = posterior();
  const Told* out = &told_.front();
  double most = -std::numeric_limits<double>::infinity();
  for (const Told& t : told_) {
    const double mean = f(box_.unit(t.values)).mean;
    if (mean > most) most = mean, out = &t;
  }
  return *out;
}

/// Point k of a Kronecker sequence whose steps are powers of the root of x^(d+1) = x + 1 (Roberts 2018): even for any
/// number of points and few dimensions.
Point Tuner::spread(std::size_t k) const {
  double root = 1.5;
  for (int i = 0; i < 60; ++i) root = std::pow(1 + root, 1.0 / (box_.size() + 1.0));
  Point out;
  for (std::size_t j = 0; j < box_.size(); ++j) {
    const double shift = uniform(Rng{options_.seed, 0, 0}, Purpose::start, static_cast<std::uint32_t>(j));
    const double at = shift + (k + 1) * std::pow(root, -static_cast<double>(j + 1));
    out.push_back(at - std::floor(at));
  }
  return out;
}

std::vector<Point> Tuner::ask(std::size_t count) const {
  std::vector<Point> x = points(), out;
  std::vector<double> y = scores();
  const Hyperparameters h = fit(x, y);
  // Over the best of the model's means at the told points: the best score would be one that noise has flattered. The
  // lie is the mean score: the best one would draw the next points of a batch to where the first is.
  double best = 0, lie = 0;
  if (!x.empty()) {
    const GaussianProcess f(options_.covariance, h, x, y);
    for (const double v : y) lie += v / y.size();
    best = f(x[0]).mean;
    for (const Point& p : x) best = std::max(best, f(p).mean);
  }
  while (out.size() < count) {
    Point unit;
    if (x.size() < first_points() && options_.fit != Fit::paper) {
      unit = spread(x.size());
    } else {
      const GaussianProcess f(options_.covariance, h, x, y);
      const auto improvement = [&](const Point& u) {
        const Point there = box_.unit(box_.values(u));  // where a whole dimension has values
        const auto p = f(there);
        return log_expected_improvement(p.mean, p.sd, best);
      };
      unit = maximise_direct(improvement, box_.size(), 400 + 300 * static_cast<int>(box_.size())).x;
    }
    out.push_back(box_.values(unit));
    x.push_back(box_.unit(out.back()));
    y.push_back(lie);
  }
  return out;
}

std::vector<std::size_t> resample(const std::vector<double>& log_weights, std::size_t count, std::uint64_t seed) {
  const double most = *std::max_element(log_weights.begin(), log_weights.end());
  std::vector<double> below;  // sums of the weights so far
  double total = 0;
  for (const double w : log_weights) below.push_back(total += std::exp(w - most));
  std::vector<std::size_t> out;
  for (std::size_t k = 0; k < count; ++k) {
    const double at = total * uniform(Rng{seed, 0, 0}, Purpose::proposal, static_cast<std::uint32_t>(k));
    const auto found = std::upper_bound(below.begin(), below.end() - 1, at);
    out.push_back(found - below.begin());
  }
  return out;
}

std::vector<Point> policy_of(const Tuner& tuner, std::size_t per_dimension, std::size_t count, std::uint64_t seed) {
  const std::vector<Point> grid = tuner.box().grid(per_dimension);
  const GaussianProcess f = tuner.posterior();
  std::vector<double> log_weights;
  for (const Point& p : grid) log_weights.push_back(f(tuner.box().unit(p)).mean);
  std::vector<Point> out;
  for (const std::size_t i : resample(log_weights, count, seed)) out.push_back(grid[i]);
  return out;
}

}  // namespace kilochain
