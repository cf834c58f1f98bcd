// Bayesian optimisation of a noisy function over a box: ask where to look, tell what was seen (Mahendran 2011).
//   A Gaussian process is fitted to all that was told; the next point maximises its expected improvement by DIRECT.
//   Several points at once: each is taken for told with the mean of all scores before the next is chosen (constant
//   liar, Ginsbourger, Le Riche & Carraro 2010), so that they spread.
//   The first few points fill the box evenly (a Kronecker sequence), unless the fit is the paper's.
// Promise: what is asked depends on the options and on what was told, in its order, alone: not on time or threads.
// Cost at n told points: two fits of 15 (d + 2) n^3/3 each, and DIRECT's evaluations at n^2.
#pragma once
#include <cstdint>
#include <limits>

#include "host/tune/gaussian_process.hpp"

namespace kilochain {

/// paper: zero mean, unit signal, lengths 0.1 of each range, noise variance 0.1 (Mahendran 2011, section 4.2.1), for
/// scores in [0, 1]. likelihood: `likeliest`, for scores of any scale.
enum class Fit { paper, likelihood };
inline constexpr const char* fit_names[] = {"paper", "likelihood"};

struct TunerOptions {
  Covariance covariance = Covariance::squared_exponential;
  Fit fit = Fit::likelihood;
  /// Scores lower than the best by more than this count as lower by this: how bad the worst are is not worth a model.
  double worst_below_best = std::numeric_limits<double>::infinity();
  std::uint64_t seed = 1;  ///< of the first points
};

class Tuner {
 public:
  /// A point that was looked at, and its score: the larger the better.
  struct Told {
    Point values;
    double score;
  };

  Tuner(Box box, TunerOptions options);
  /// `count` points to look at together, as values in the box.
  std::vector<Point> ask(std::size_t count = 1) const;
  /// Throws Error (usage) for a score that is not finite and for values of another dimension.
  void tell(Point values, double score);

  const Box& box() const { return box_; }
  const std::vector<Told>& told() const { return told_; }
  /// The model of all that was told, in coordinates of the cube.
  GaussianProcess posterior() const;
  /// The told point where the posterior mean is largest: noise may flatter the point with the best score. Needs one.
  const Told& best() const;

 private:
  Hyperparameters fit(const std::vector<Point>& x, const std::vector<double>& y) const;
  std::vector<double> scores() const;
  std::vector<Point> points() const;
  std::size_t first_points() const { return options_.fit == Fit::paper ? 1 : 4 + 2 * box_.size(); }
  Point spread(std::size_t k) const;

  Box box_;
  TunerOptions options_;
  std::vector<Told> told_;
};

/// Indices of `count` independent draws with replacement; the probability of i is proportional to exp(log_weight_i).
std::vector<std::size_t> resample(const std::vector<double>& log_weights, std::size_t count, std::uint64_t seed);

/// The randomised policy of Mahendran 2011, section 3.3: `count` points of box.grid(per_dimension), as values,
/// resampled by exp(tuner's posterior mean). Settings drawn from them anew at every step make a mixture of kernels:
/// each leaves the law unchanged, and which comes next does not depend on the state, so the mixture does too.
std::vector<Point> policy_of(const Tuner& tuner, std::size_t per_dimension, std::size_t count, std::uint64_t seed);

}  // namespace kilochain
