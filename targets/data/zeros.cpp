#include "targets/data/zeros.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kilochain {
namespace {

/// The features in which each observation is not 0.
struct Patterns {
  explicit Patterns(const Design& design) : columns(design.columns), begin{0} {
    for (std::size_t i = 0; i < design.rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j)
        if (design.x[i * columns + j] != 0) features.push_back(static_cast<std::int32_t>(j));
      begin.push_back(features.size());
    }
  }
  /// sum over the observation's features of v.
  double along(std::size_t i, const std::vector<double>& v) const {
    double sum = 0;
    for (std::size_t k = begin[i]; k < begin[i + 1]; ++k) sum += v[features[k]];
    return sum;
  }
  void add(std::size_t i, double factor, std::vector<double>& to) const {
    for (std::size_t k = begin[i]; k < begin[i + 1]; ++k) to[features[k]] += factor;
  }
  std::size_t columns;
  std::vector<std::size_t> begin;
  std::vector<std::int32_t> features;
};

/// Halves order[first, last) at a whole number of blocks, then each half.
void divide(const Patterns& patterns, std::size_t rows, std::size_t first, std::size_t last,
            std::vector<std::size_t>& order) {
  const std::size_t count = last - first;
  if (count <= rows) return;
  std::vector<double> mean(patterns.columns, 0.0), direction(patterns.columns), place(count);
  for (std::size_t k = first; k < last; ++k) patterns.add(order[k], 1.0 / count, mean);
  std::size_t farthest = first;
  double most = -1;
  for (std::size_t k = first; k < last; ++k) {
    const std::size_t i = order[k], ones = patterns.begin[i + 1] - patterns.begin[i];
    const double distance = ones - 2 * patterns.along(i, mean);  // |row - mean|^2 - |mean|^2
    if (distance > most || k == first) most = distance, farthest = i;
  }
  for (std::size_t j = 0; j < patterns.columns; ++j) direction[j] = -mean[j];
  patterns.add(farthest, 1.0, direction);
  const auto project = [&] {
    double centre = 0;
    for (std::size_t j = 0; j < patterns.columns; ++j) centre += mean[j] * direction[j];
    for (std::size_t k = 0; k < count; ++k) place[k] = patterns.along(order[first + k], direction) - centre;
  };
  project();
  for (int iteration = 0; iteration < 3; ++iteration) {
    std::fill(direction.begin(), direction.end(), 0.0);
    double size = 0;
    for (std::size_t k = 0; k < count; ++k) size = std::max(size, std::abs(place[k]));
    if (size == 0) break;  // all alike
    // The places sum to 0, so the rows need no centring here.
    for (std::size_t k = 0; k < count; ++k) patterns.add(order[first + k], place[k] / size, direction);
    project();
  }
  std::vector<std::size_t> by_place(count);
  for (std::size_t k = 0; k < count; ++k) by_place[k] = k;
  std::stable_sort(by_place.begin(), by_place.end(), [&](std::size_t a, std::size_t b) { return place[a] < place[b]; });
  const std::vector<std::size_t> before(order.begin() + first, order.begin() + last);
  for (std::size_t k = 0; k < count; ++k) order[first + k] = before[by_place[k]];
  const std::size_t middle = first + (count / 2 + rows - 1) / rows * rows;
  divide(patterns, rows, first, middle, order);
  divide(patterns, rows, middle, last, order);
}

}  // namespace

double density(const Design& design) {
  const auto zeros = std::count(design.x.begin(), design.x.end(), 0.0);
  return 1 - static_cast<double>(zeros) / design.x.size();
}

double byte_unit(const Design& design) {
  double unit = std::numeric_limits<double>::infinity();
  for (const double x : design.x) {
    if (x < 0) return 0;
    if (x > 0 && x < unit) unit = x;
  }
  for (const double x : design.x) {
    const double level = std::round(x / unit);
    if (level > 255 || std::abs(level * unit - x) > 2 * std::numeric_limits<double>::epsilon() * x) return 0;
  }
  return std::isfinite(unit) ? unit : 0;
}

Panels find_panels(const Design& design, std::size_t rows) {
  const Patterns patterns(design);
  Panels panels;
  panels.order.resize(design.rows);
  for (std::size_t i = 0; i < design.rows; ++i) panels.order[i] = i;
  divide(patterns, rows, 0, design.rows, panels.order);
  std::vector<char> seen(design.columns);
  panels.begin.push_back(0);
  for (std::size_t first = 0; first < design.rows; first += rows) {
    std::fill(seen.begin(), seen.end(), 0);
    for (std::size_t k = first; k < std::min(design.rows, first + rows); ++k)
      for (std::size_t p = patterns.begin[panels.order[k]]; p < patterns.begin[panels.order[k] + 1]; ++p)
        seen[patterns.features[p]] = 1;
    for (std::size_t j = 0; j < design.columns; ++j)
      if (seen[j]) panels.features.push_back(static_cast<std::int32_t>(j));
    panels.begin.push_back(panels.features.size());
  }
  return panels;
}

}  // namespace kilochain
