#include "host/statistics/ess.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "host/statistics/geyer.hpp"
#include "host/statistics/moments.hpp"
#include "host/statistics/ranks.hpp"

namespace kilochain {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Loads rows of the split series, each value through `map`.
template <class T, class Map>
RowLoader loader(const SplitRows<T>& split, Map map) {
  return [split, map](std::int64_t r, double* out) {
    const T* row = split.row(r);
    for (std::int64_t i = 0; i < split.length; ++i) out[i] = map(row[i]);
  };
}

/// The bits x <= threshold of the split series, as BitAutocovariance wants them.
template <class T>
std::vector<std::uint64_t> indicator_bits(const SplitRows<T>& split, double threshold) {
  const std::int64_t words = BitAutocovariance::words_per_row(split.length);
  std::vector<std::uint64_t> bits(split.rows * words);
  for (std::int64_t r = 0; r < split.rows; ++r) {
    const T* row = split.row(r);
    std::uint64_t* out = bits.data() + r * words;
    for (std::int64_t first = 0; first < split.length; first += 64) {
      const std::int64_t count = std::min<std::int64_t>(64, split.length - first);
      std::uint64_t word = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        word |= std::uint64_t{row[first + i] <= threshold} << i;
      }
      out[first / 64] = word;
    }
  }
  return bits;
}

}  // namespace

template <class T>
double ess_below(const BasicSeries<T>& series, double threshold) {
  const SplitRows<T> split(series);
  BitAutocovariance covariance(split.rows, split.length, indicator_bits(split, threshold));
  return covariance.constant() ? series.size() : ess_of_rows(covariance);
}

template <class T>
double ess_mean(const BasicSeries<T>& series) {
  if (!has_diagnostics(series)) return kNaN;
  const SplitRows<T> split(series);
  RealAutocovariance covariance(split.rows, split.length, loader(split, [](double x) { return x; }));
  return ess_of_rows(covariance);
}

template <class T>
double ess_square(const BasicSeries<T>& series) {
  if (!has_diagnostics(series)) return kNaN;
  const SplitRows<T> split(series);
  const double mean = moments_of(series).mean;
  RealAutocovariance covariance(split.rows, split.length,
                                loader(split, [mean](double x) { return (x - mean) * (x - mean); }));
  return ess_of_rows(covariance);
}

template <class T>
double ess_bulk(const BasicSeries<T>& series) {
  if (!has_diagnostics(series)) return kNaN;
  const SplitRows<T> split(series);
  const auto z = make_scratch<double>(split.rows * split.length);
  RankedDraws<T>(series).normal_scores(z.get());
  RealAutocovariance covariance(split.rows, split.length, [&](std::int64_t r, double* out) {
    std::copy_n(z.get() + r * split.length, split.length, out);
  });
  return ess_of_rows(covariance);
}

template <class T>
double ess_quantile(const BasicSeries<T>& series, double p) {
  if (!has_diagnostics(series)) return kNaN;
  return ess_below(series, RankedDraws<T>(series).quantile(p));
}

template <class T>
double ess_tail(const BasicSeries<T>& series) {
  if (!has_diagnostics(series)) return kNaN;
  const RankedDraws<T> ranked(series);
  return std::min(ess_below(series, ranked.quantile(0.05)), ess_below(series, ranked.quantile(0.95)));
}

template <class T>
double mcse_mean(const BasicSeries<T>& series) {
  return moments_of(series).sd / std::sqrt(ess_mean(series));
}

template <class T>
double ess_paper(const T* x, std::int64_t n) {
  const Extent range = range_of(BasicSeries<T>{x, 1, n});
  if (n < 2 || !range.finite || range.constant()) return kNaN;
  RealAutocovariance covariance(1, n, [x, n](std::int64_t, double* out) { std::copy_n(x, n, out); });
  return ess_of_one_row(covariance);
}

#define KILOCHAIN_INSTANTIATE(T)                               \
  template double ess_mean(const BasicSeries<T>&);             \
  template double ess_bulk(const BasicSeries<T>&);             \
  template double ess_tail(const BasicSeries<T>&);             \
  template double ess_square(const BasicSeries<T>&);           \
  template double ess_quantile(const BasicSeries<T>&, double); \
  template double ess_below(const BasicSeries<T>&, double);    \
  template double mcse_mean(const BasicSeries<T>&);            \
  template double ess_paper(const T*, std::int64_t);
KILOCHAIN_INSTANTIATE(float)
KILOCHAIN_INSTANTIATE(double)
#undef KILOCHAIN_INSTANTIATE

}  // namespace kilochain
