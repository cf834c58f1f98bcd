#include "host/tune/gaussian_process.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "host/tune/maximise.hpp"

namespace kilochain {
namespace {

double square(double v) { return v * v; }

double deviation(const std::vector<double>& y, double mean) {
  double sum = 0;
  for (const double v : y) sum += square(v - mean);
  return std::sqrt(sum / y.size());
}

}  // namespace

GaussianProcess::GaussianProcess(Covariance covariance, Hyperparameters hyperparameters, std::vector<Point> x,
                                 std::vector<double> y)
    : kind_(covariance), h_(std::move(hyperparameters)), x_(std::move(x)) {
  const auto n = static_cast<Eigen::Index>(x_.size());
  Eigen::MatrixXd k(n, n);
  // A little more than the noise: equal points without noise are still a matrix that has a factor.
  const double ridge = square(h_.noise) + 1e-10 * square(h_.signal);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j <= i; ++j) k(i, j) = this->covariance(x_[i], x_[j]) + (i == j) * ridge;
  if (n > 0) factor_.compute(k.selfadjointView<Eigen::Lower>());
  residual_ = Eigen::Map<const Eigen::VectorXd>(y.data(), n).array() - h_.mean;
  weights_ = n > 0 ? Eigen::VectorXd(factor_.solve(residual_)) : residual_;
}

double GaussianProcess::covariance(const Point& a, const Point& b) const {
  double r2 = 0;
  for (std::size_t j = 0; j < a.size(); ++j) r2 += square((a[j] - b[j]) / h_.lengths[j]);
  if (kind_ == Covariance::squared_exponential) return square(h_.signal) * std::exp(-0.5 * r2);
  const double r = std::sqrt(5 * r2);
  return square(h_.signal) * (1 + r + r * r / 3) * std::exp(-r);
}

GaussianProcess::Prediction GaussianProcess::operator()(const Point& x) const {
  Eigen::VectorXd k(residual_.size());
  for (Eigen::Index i = 0; i < k.size(); ++i) k[i] = covariance(x, x_[i]);
  const double mean = h_.mean + k.dot(weights_);
  if (k.size() > 0) factor_.matrixL().solveInPlace(k);
  return {mean, std::sqrt(std::max(0.0, square(h_.signal) - k.squaredNorm()))};
}

double GaussianProcess::log_likelihood() const {
  double log_determinant = 0;
  for (Eigen::Index i = 0; i < residual_.size(); ++i) log_determinant += std::log(factor_.matrixLLT()(i, i));
  return -0.5 * residual_.dot(weights_) - log_determinant - 0.5 * residual_.size() * std::log(2 * std::numbers::pi);
}

Hyperparameters likeliest(Covariance covariance, const std::vector<Point>& x, const std::vector<double>& y) {
  const std::size_t dim = x[0].size();
  double mean = 0;
  for (const double v : y) mean += v / y.size();
  const double sd = std::max(deviation(y, mean), 1e-8 * (1 + std::abs(mean)));
  // Logarithms: of the lengths, of signal/sd, of noise/sd. Each has a normal prior of deviation 1 about `middle`.
  Point middle(dim, std::log(0.3));
  middle.push_back(0), middle.push_back(std::log(0.2));
  const auto at = [&](const Point& p) {
    Hyperparameters h;
    for (std::size_t j = 0; j < dim; ++j) h.lengths.push_back(std::exp(p[j]));
    h.signal = sd * std::exp(p[dim]), h.noise = sd * std::exp(p[dim + 1]), h.mean = mean;
    return h;
  };
  const auto posterior = [&](const Point& p) {
    double value = GaussianProcess(covariance, at(p), x, y).log_likelihood();
    for (std::size_t j = 0; j < p.size(); ++j) value -= 0.5 * square(p[j] - middle[j]);
    return std::isfinite(value) ? value : -1e300;
  };
  Point low(dim + 2, std::log(0.02)), high(dim + 2, std::log(10.0));
  low[dim + 1] = std::log(1e-3), high[dim + 1] = std::log(2.0);
  Point rough = middle;  // a second start: short lengths, little noise
  for (std::size_t j = 0; j < dim; ++j) rough[j] = std::log(0.1);
  rough[dim + 1] = std::log(0.05);
  const int evaluations = 30 * static_cast<int>(dim + 2) / 2;
  const Maximum a = climb(posterior, middle, low, high, evaluations),
                b = climb(posterior, rough, low, high, evaluations);
  return at(a.value >= b.value ? a.x : b.x);
}

double log_expected_improvement(double mean, double sd, double best) {
  if (!(sd > 0)) return mean > best ? std::log(mean - best) : -std::numeric_limits<double>::infinity();
  const double z = (mean - best) / sd, log_phi = -0.5 * z * z - 0.5 * std::log(2 * std::numbers::pi);
  if (z > -1) return std::log(sd * (std::exp(log_phi) + z * 0.5 * std::erfc(-z / std::numbers::sqrt2)));
  double c = 0;
  for (int k = 120; k >= 1; --k) c = k / (c - z);
  return std::log(sd) + log_phi + std::log(c / (c - z));
}

}  // namespace kilochain
