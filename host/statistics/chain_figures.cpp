#include "host/statistics/chain_figures.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "host/statistics/ranks.hpp"
#include "host/statistics/scratch.hpp"

namespace kilochain {

double median_of(std::vector<double> values) {
  std::erase_if(values, [](double x) { return !std::isfinite(x); });
  if (values.empty()) return std::nan("");
  std::sort(values.begin(), values.end());
  return quantile_of_sorted(values.data(), std::ssize(values), 0.5);
}

Places places_of(const Series& series) {
  Places p;
  if (!has_diagnostics(series)) return p;
  const ScratchReuse reuse;
  const std::int64_t half = series.draws / 2;
  const auto z = make_scratch<double>(2 * series.chains * half);
  RankedDraws(series).normal_scores(z.get());
  std::vector<double> between;
  for (std::int64_t c = 0; c < series.chains; ++c) {
    double h[2];
    for (int k = 0; k < 2; ++k) {
      const double* row = z.get() + (2 * c + k) * half;
      h[k] = std::accumulate(row, row + half, 0.0) / static_cast<double>(half);
    }
    p.at.push_back((h[0] + h[1]) / 2);
    between.push_back(std::abs(h[0] - h[1]) / 2);
  }
  p.centre = median_of(p.at);
  const double few =
      1 + 10 / static_cast<double>(series.chains);           // they know it badly: as Student's law has wider tails
  p.se = std::max(1.4826 * few * median_of(between), 1e-3);  // of chains that stand still: as of a million draws
  return p;
}

std::vector<int> groups_of(const Places& places) {
  std::vector<std::size_t> order(places.at.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return places.at[a] < places.at[b]; });
  std::vector<int> group(order.size());
  for (std::size_t k = 1; k < order.size(); ++k)
    group[order[k]] =
        group[order[k - 1]] + (places.at[order[k]] - places.at[order[k - 1]] > far_out * places.se ? 1 : 0);
  return group;
}

template <class Real>
double steps_over_variance(const Real* values, std::int64_t count) {
  double mean = 0, steps = 0, squares = 0;
  for (std::int64_t t = 0; t < count; ++t) mean += double{values[t]} / static_cast<double>(count);
  for (std::int64_t t = 0; t < count; ++t) {
    if (t > 0) steps += (double{values[t]} - values[t - 1]) * (double{values[t]} - values[t - 1]);
    squares += (values[t] - mean) * (values[t] - mean);
  }
  return count >= kFewestDraws && squares > 0 ? steps / squares : std::nan("");
}
template double steps_over_variance(const float*, std::int64_t);
template double steps_over_variance(const double*, std::int64_t);

std::vector<double> block_means(const Series& series, std::int64_t blocks) {
  const std::int64_t length = series.draws / blocks, skipped = series.draws - length * blocks;
  std::vector<double> means;
  for (std::int64_t c = 0; c < series.chains; ++c)
    for (std::int64_t b = 0; b < blocks; ++b) {
      const double* from = series.values + c * series.draws + skipped + b * length;
      means.push_back(std::accumulate(from, from + length, 0.0) / static_cast<double>(length));
    }
  return means;
}

std::vector<double> rank_ecdf_differences(const Series& series, std::int64_t points) {
  const ScratchReuse reuse;
  const Sorted sorted = argsort(series.values, series.size());
  std::vector<double> out(static_cast<std::size_t>(series.chains * points));
  std::vector<std::int64_t> below(static_cast<std::size_t>(series.chains));
  for (std::int64_t k = 0, i = 0; k < points; ++k) {
    const double u = static_cast<double>(k + 1) / static_cast<double>(points + 1);
    for (; static_cast<double>(i) < u * static_cast<double>(series.size()); ++i)
      ++below[sorted.index[i] / series.draws];
    for (std::int64_t c = 0; c < series.chains; ++c)
      out[c * points + k] = static_cast<double>(below[c]) / static_cast<double>(series.draws) - u;
  }
  return out;
}

}  // namespace kilochain
