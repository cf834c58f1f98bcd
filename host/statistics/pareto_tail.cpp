#include "host/statistics/pareto_tail.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace kilochain {
namespace {

/// Mean of log(1 - b x), the shape that belongs to b.
double shape_of(const std::vector<double>& x, double b) {
  double sum = 0;
  for (const double v : x) sum += std::log1p(-b * v);
  return sum / static_cast<double>(x.size());
}

/// Of exceedances, ascending: b by its mean over a grid, weighted by the profile likelihood.
double shape_of(const std::vector<double>& x) {
  const auto n = static_cast<double>(x.size());
  const int grid = 30 + static_cast<int>(std::sqrt(n));
  const double quarter = x[static_cast<std::size_t>(n / 4 + 0.5) - 1];
  std::vector<double> b, heights;
  for (int j = 0; j < grid; ++j) {
    b.push_back(1 / x.back() + (1 - std::sqrt(grid / (j + 0.5))) / (3 * quarter));
    const double k = shape_of(x, b.back());
    heights.push_back(n * (std::log(-b.back() / k) - k - 1));
  }
  const double top = std::ranges::max(heights);
  double mean = 0, all = 0;
  for (std::size_t j = 0; j < b.size(); ++j) {
    const double weight = std::exp(heights[j] - top);
    mean += weight * b[j], all += weight;
  }
  return (n * shape_of(x, mean / all) + 5) / (n + 10);  // 10 observations of k = 1/2 for a prior
}

}  // namespace

double pareto_tail(std::vector<double> log_weights) {
  const auto size = static_cast<double>(log_weights.size());
  if (size < 25 || std::ranges::any_of(log_weights, [](double w) { return !(w < INFINITY); })) return INFINITY;
  const auto tail = static_cast<std::ptrdiff_t>(std::min(size / 5, 3 * std::sqrt(size)));
  std::ranges::partial_sort(log_weights, log_weights.begin() + tail + 1, std::greater());
  const double top = log_weights[0], bar = std::exp(log_weights[static_cast<std::size_t>(tail)] - top);
  if (!(top > -INFINITY)) return INFINITY;
  std::vector<double> x;
  for (auto k = static_cast<std::size_t>(tail); k-- > 0;) x.push_back(std::exp(log_weights[k] - top) - bar);
  if (!(x.front() > 0)) std::erase_if(x, [](double v) { return !(v > 0); });
  return x.size() < 5 ? -INFINITY : shape_of(x);  // all alike
}

}  // namespace kilochain
