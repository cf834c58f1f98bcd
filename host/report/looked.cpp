#include "host/report/looked.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "host/statistics/chain_figures.hpp"
#include "host/statistics/ess.hpp"
#include "host/statistics/ranks.hpp"

namespace kilochain {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t most_blocks = 60, ecdf_points = 39, cells = 48;

/// Effective draws that a chain has in the middle of 64: its own, whatever the others do.
double effective_of_a_chain(const Series& series) {
  std::vector<double> sizes;
  for (std::int64_t c = 0; c < series.chains; c += std::max<std::int64_t>(1, series.chains / 64))
    sizes.push_back(ess_mean({series.values + c * series.draws, 1, series.draws}));
  return median_of(sizes);
}

/// 0 .. 63 as a character.
char level(double x) { return static_cast<char>('0' + static_cast<int>(std::clamp(x, 0.0, 1.0) * 63 + 0.5)); }

Json rounded(const std::vector<double>& values, double unit = 1e-4) {
  Json out = Json::array();
  for (const double x : values) out.push_back(number_or_null(std::round(x / unit) * unit));
  return out;
}

Json heat_of(const Series& series, const Diagnosis& d, const std::vector<std::size_t>& shown) {
  const std::int64_t blocks = std::min(most_blocks, series.draws);
  const std::vector<double> means = block_means(series, blocks);
  const double centre = median_of(means);
  std::vector<double> away;
  for (const double mean : means) away.push_back(std::abs(mean - centre));
  double scale = 1.4826 * median_of(away);
  if (!(scale > 0)) scale = std::max(moments_of(series).sd, 1e-300);
  Json numbers = Json::array();
  std::string levels;
  for (const std::size_t c : shown) {
    numbers.push_back(d.chains[c].number);
    for (std::int64_t b = 0; b < blocks; ++b)
      levels += level(0.5 + (means[static_cast<std::int64_t>(c) * blocks + b] - centre) / scale / 8);
  }
  return {{"chains", numbers}, {"blocks", blocks}, {"centre", centre}, {"scale", scale}, {"levels", levels}};
}

Json ecdf_of(const Series& series, const Diagnosis& d) {
  const std::vector<double> all = rank_ecdf_differences(series, ecdf_points);
  Json bands = Json::array(), farthest = Json::array();
  for (const double p : {0.0, 0.01, 0.25, 0.5, 0.75, 0.99, 1.0}) {
    std::vector<double> band, column(static_cast<std::size_t>(series.chains));
    for (std::int64_t k = 0; k < ecdf_points; ++k) {
      for (std::int64_t c = 0; c < series.chains; ++c) column[c] = all[c * ecdf_points + k];
      std::sort(column.begin(), column.end());
      band.push_back(quantile_of_sorted(column.data(), series.chains, p));
    }
    bands.push_back(rounded(band));
  }
  std::vector<std::size_t> order(static_cast<std::size_t>(series.chains));
  std::iota(order.begin(), order.end(), 0);
  const auto row = [&](std::size_t c) { return all.begin() + static_cast<std::int64_t>(c) * ecdf_points; };
  const auto size = [&](std::size_t c) {
    return std::accumulate(row(c), row(c) + ecdf_points, 0.0,
                           [](double a, double x) { return std::max(a, std::abs(x)); });
  };
  const auto few = std::min<std::int64_t>(3, series.chains);
  std::partial_sort(order.begin(), order.begin() + few, order.end(), [&](auto a, auto b) { return size(a) > size(b); });
  for (std::int64_t k = 0; k < few; ++k)
    farthest.push_back(
        {{"chain", d.chains[order[k]].number}, {"y", rounded({row(order[k]), row(order[k]) + ecdf_points})}});
  return {{"bands", bands}, {"farthest", farthest}, {"effective", number_or_null(effective_of_a_chain(series))}};
}

/// Figures of the first draws of each chain: 1/32, 1/16, ... of them, and all, whose figures may be known already.
Json growth_of(const Series& series, const Diagnosis& d, const ParameterSummary* known) {
  std::vector<std::int64_t> numbers;
  for (const ChainFigures& c : d.chains) numbers.push_back(c.number);
  std::vector<std::int64_t> draws;
  for (std::int64_t part = 32; part > 0; part /= 2)
    if (series.draws / part >= kFewestDraws) draws.push_back(series.draws / part);
  Json out = {{"draws", draws}, {"rhat", Json::array()}, {"ess_bulk", Json::array()}, {"ess_tail", Json::array()}};
  for (const std::int64_t count : draws) {
    ParameterSummary f;
    if (known && count == series.draws) {
      f = *known;
    } else {
      std::vector<double> values;
      for (std::int64_t c = 0; c < series.chains; ++c)
        values.insert(values.end(), series.values + c * series.draws, series.values + c * series.draws + count);
      f = summarise("", {values.data(), series.chains, count}, {numbers, d.run.superchains});
    }
    out["rhat"].push_back(number_or_null(f.rhat));
    out["ess_bulk"].push_back(number_or_null(f.ess_bulk));
    out["ess_tail"].push_back(number_or_null(f.ess_tail));
  }
  return out;
}

std::array<double, 2> range_of_most(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double low = quantile_of_sorted(values.data(), std::ssize(values), 0.002),
               high = quantile_of_sorted(values.data(), std::ssize(values), 0.998), room = 0.05 * (high - low);
  return {low - room, high + room};
}

}  // namespace

std::vector<std::size_t> chains_shown(const Diagnosis& d, std::size_t most) {
  std::vector<std::size_t> order(d.chains.size()), out;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return d.chains[a].out > d.chains[b].out; });
  if (order.size() <= most) return order;
  out.assign(order.begin(), order.begin() + static_cast<std::int64_t>(most / 2));
  for (std::size_t k = 0; k < most - most / 2; ++k)
    out.push_back(order[most / 2 + k * (order.size() - most / 2) / (most - most / 2)]);
  return out;
}

Json looked_at(const std::string& name, const Series& series, const Diagnosis& d, const std::vector<std::size_t>& shown,
               const ParameterSummary* known) {
  return {{"name", name},
          {"heat", heat_of(series, d, shown)},
          {"ecdf", ecdf_of(series, d)},
          {"growth", growth_of(series, d, known)}};
}

Json pair_of(const std::string& x_name, const std::vector<double>& x, const std::string& y_name,
             const std::vector<double>& y, const std::vector<std::array<double, 2>>& divergences) {
  const auto xs = range_of_most(x), ys = range_of_most(y);
  std::vector<double> counts(cells * cells);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double a = (x[i] - xs[0]) / (xs[1] - xs[0]) * cells, b = (y[i] - ys[0]) / (ys[1] - ys[0]) * cells;
    if (a >= 0 && a < cells && b >= 0 && b < cells)
      ++counts[static_cast<std::size_t>(b) * cells + static_cast<std::size_t>(a)];
  }
  const double most = *std::max_element(counts.begin(), counts.end());
  std::string levels;
  for (const double n : counts) levels += n > 0 ? std::max('1', level(std::log1p(n) / std::log1p(most))) : '0';
  Json points = Json::array();
  for (const auto& [a, b] : divergences)
    if (std::isfinite(a) && std::isfinite(b)) points.push_back({a, b});
  return {{"x", x_name},    {"y", y_name},      {"x_range", xs},        {"y_range", ys},
          {"cells", cells}, {"levels", levels}, {"divergences", points}};
}

}  // namespace kilochain
