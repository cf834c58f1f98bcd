// Series for the tests of the diagnostics: deterministic ones, as tests/data/make_diagnostics_answers.py makes them,
// and AR(1) chains with a known answer.
#pragma once
#include <cmath>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "host/statistics/series.hpp"
#include "host/statistics/summary.hpp"

namespace kilochain::test {

/// Draws [chain][draw] and the view of them.
template <class T>
struct Draws {
  Draws(std::int64_t num_chains, std::int64_t num_draws)
      : chains(num_chains), draws(num_draws), values(num_chains * num_draws) {}
  Series series() const { return {values.data(), chains, draws}; }
  T& at(std::int64_t chain, std::int64_t draw) { return values[chain * draws + draw]; }

  std::int64_t chains, draws;
  std::vector<T> values;
};

// Figures that come from the ranks.
inline double ess_bulk(const Series& series) { return summarise("", series).ess_bulk; }
inline double ess_tail(const Series& series) { return summarise("", series).ess_tail; }
inline double mcse_mean(const Series& series) { return summarise("", series).mcse_mean; }
inline double rhat(const Series& series) { return summarise("", series).rhat; }

/// p = a p + sin(t^2), t = 1, 2, ..., cut into chains. Product and sum are rounded apart, never fused: the two draws
/// beside the median are equally far from it but for their last bit, which decides their folded ranks.
inline Draws<double> sine_walk(double a, std::int64_t chains, std::int64_t draws) {
  Draws<double> result(chains, draws);
  double p = 0;
  for (std::int64_t t = 1; t <= chains * draws; ++t) {
    const volatile double product = a * p;
    p = product + std::sin(static_cast<double>(t) * static_cast<double>(t));
    result.values[t - 1] = p;
  }
  return result;
}

inline Draws<double> mapped(Draws<double> x, const std::string& map) {
  const std::vector<double> path = x.values;
  for (std::int64_t t = 0; t < static_cast<std::int64_t>(path.size()); ++t) {
    double& value = x.values[t];
    if (map == "round") value = std::floor(2 * value + 0.5) / 2;
    if (map == "exp") value = std::exp(3 * value);
    if (map == "trend") value += 2 * static_cast<double>(t % x.draws) / static_cast<double>(x.draws);
    if (map == "shift") value += 0.5 * static_cast<double>(t / x.draws);
    if (map == "sticky") value = path[3 * (t / 3)];
  }
  return x;
}

/// Stationary x' = a x + sqrt(1 - a^2) N(0, 1): the integrated autocorrelation time of the mean is (1 + a) / (1 - a),
/// of the squared deviation (1 + a^2) / (1 - a^2).
inline Draws<double> autoregression(double a, std::int64_t chains, std::int64_t draws, unsigned seed) {
  Draws<double> result(chains, draws);
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  for (std::int64_t c = 0; c < chains; ++c) {
    double x = normal(engine);
    for (std::int64_t i = 0; i < draws; ++i) {
      result.at(c, i) = x;
      x = a * x + std::sqrt(1 - a * a) * normal(engine);
    }
  }
  return result;
}

/// A copy with every value through `map`.
template <class To, class T, class Map>
Draws<To> each(const Draws<T>& x, Map map) {
  Draws<To> result(x.chains, x.draws);
  for (std::size_t i = 0; i < x.values.size(); ++i) result.values[i] = static_cast<To>(map(x.values[i]));
  return result;
}

/// The list under `key`: "cases" or "normal_quantile"; throws when it is empty, so no test passes by checking nothing.
inline nlohmann::json known_answers(const std::string& key) {
  std::ifstream file(KILOCHAIN_SOURCE_DIR "/tests/data/diagnostics_answers.json");
  nlohmann::json list = nlohmann::json::parse(file).at(key);
  if (list.empty()) throw std::runtime_error("no known answers under " + key);
  return list;
}

inline Draws<double> series_of_case(const nlohmann::json& answer) {
  return mapped(sine_walk(answer["a"], answer["chains"], answer["draws"]), answer["map"]);
}

inline std::string name_of_case(const nlohmann::json& answer) {
  return answer["a"].dump() + " " + answer["chains"].dump() + "x" + answer["draws"].dump() + " " +
         answer["map"].get<std::string>();
}

/// Rounding: c n eps relative, c = 200 (sums of n terms, whose small differences 1 - rho the estimates divide by).
inline double rounding(std::int64_t n, double value) {
  return 200 * static_cast<double>(n) * 2.220446049250313e-16 * std::abs(value);
}

}  // namespace kilochain::test
