// Gaussian-process regression on the unit cube (Rasmussen & Williams 2006, chapters 2 and 5).
//   y_i = f(x_i) + e_i, e ~ N(0, noise^2);  f ~ GP(mean, k);  r^2 = sum_j ((a_j - b_j) / length_j)^2
//   k = signal^2 exp(-r^2/2)  or  signal^2 (1 + sqrt(5) r + 5 r^2/3) exp(-sqrt(5) r)   (Matern 5/2)
//   posterior: mean + k^T (K + noise^2 I)^-1 (y - mean), variance k(x, x) - k^T (K + noise^2 I)^-1 k
// Cost for n observations: n^3/3 to make, n^2 a prediction.
#pragma once
#include <Eigen/Cholesky>

#include "host/tune/box.hpp"

namespace kilochain {

enum class Covariance { squared_exponential, matern52 };
inline constexpr const char* covariance_names[] = {"squared_exponential", "matern52"};

struct Hyperparameters {
  std::vector<double> lengths;  ///< one for each dimension, in units of the cube
  double signal = 1;            ///< standard deviation of f
  double noise = 1;             ///< standard deviation of an observation about f
  double mean = 0;              ///< of f
};

class GaussianProcess {
 public:
  /// x: points of the cube, y: what was observed there; none is allowed: then predictions are the prior's.
  GaussianProcess(Covariance covariance, Hyperparameters hyperparameters, std::vector<Point> x, std::vector<double> y);
  struct Prediction {
    double mean, sd;  ///< of f, without the noise of an observation
  };
  Prediction operator()(const Point& x) const;
  /// log p(y | x, hyperparameters).
  double log_likelihood() const;
  const Hyperparameters& hyperparameters() const { return h_; }
  const std::vector<Point>& points() const { return x_; }

 private:
  double covariance(const Point& a, const Point& b) const;

  Covariance kind_;
  Hyperparameters h_;
  std::vector<Point> x_;
  Eigen::LLT<Eigen::MatrixXd> factor_;
  Eigen::VectorXd residual_, weights_;
};

/// The hyperparameters that make the observations likeliest, with a prior that keeps them sensible where data are few:
/// log lengths N(log 0.3, 1), log (noise/sd of y) N(log 0.2, 1), log (signal/sd of y) N(0, 1). The mean is that of y.
/// By BOBYQA from two starts. y must not be empty.
Hyperparameters likeliest(Covariance covariance, const std::vector<Point>& x, const std::vector<double>& y);

/// Expected improvement of an unknown f ~ N(mean, sd^2) over a value that is had already (Schonlau,
/// Welch & Jones 1998).
///   EI = E max(0, f - best) = sd (phi(z) + z Phi(z)),  z = (mean - best)/sd
/// Its logarithm is computed without cancellation, so that far from every promise it still says which way to go:
///   phi(z) + z Phi(z) = phi(z) c/(t + c), t = -z, c = 1/(t + 2/(t + 3/(t + ...)))   (Mills' ratio)
/// log EI; minus infinity where EI is 0 exactly (sd = 0 and mean <= best).
double log_expected_improvement(double mean, double sd, double best);

}  // namespace kilochain
