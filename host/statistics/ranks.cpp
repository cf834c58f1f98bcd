#include "host/statistics/ranks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "host/statistics/normal_quantile.hpp"

namespace kilochain {
namespace {

/// A key in the upper, an index in the lower 32 bits.
using Packed = std::uint64_t;
constexpr int kDigits = 3, kBits = 11, kBuckets = 1 << kBits;
using Histograms = std::array<std::array<std::uint32_t, kBuckets>, kDigits>;

std::uint32_t digit(Packed packed, int which) { return (packed >> (32 + which * kBits)) & (kBuckets - 1); }

/// Centre and inverse width of the bulk, from a sample: only speed depends on them.
std::pair<double, double> bulk_of(const double* values, std::int64_t n) {
  const std::int64_t count = std::min<std::int64_t>(n, 1021), stride = n / count;
  std::vector<double> sample(count);
  for (std::int64_t i = 0; i < count; ++i) sample[i] = values[i * stride];
  std::sort(sample.begin(), sample.end());
  double width = sample[count - 1 - count / 4] - sample[count / 4];
  if (!(width > 0)) width = sample[count - 1] - sample[0];
  const double inverse = 1 / width;
  return {sample[count / 2], std::isfinite(inverse) && inverse > 0 ? inverse : 1.0};
}

std::uint32_t key_of(double x, double centre, double inverse) {
  const double t = (x - centre) * inverse;
  const double u = std::copysign(1 - 1 / (1 + std::abs(t)), t);
  return static_cast<std::uint32_t>(static_cast<std::int64_t>((u + 1) * 2147483647.5));
}

void pack(const double* values, std::int64_t n, Packed* packed) {
  const auto [centre, inverse] = bulk_of(values, n);
  for (std::int64_t i = 0; i < n; ++i) {
    packed[i] = Packed{key_of(values[i], centre, inverse)} << 32 | i;
  }
}

/// Least significant digit first; leaves the result in `packed`, uses `scratch`.
void radix_sort(Scratch<Packed>& packed, Scratch<Packed>& scratch, std::int64_t n) {
  auto histograms = std::make_unique<Histograms>();
  for (auto& histogram : *histograms) histogram.fill(0);
  for (std::int64_t i = 0; i < n; ++i) {
    for (int d = 0; d < kDigits; ++d) ++(*histograms)[d][digit(packed[i], d)];
  }
  for (int d = 0; d < kDigits; ++d) {
    auto& next = (*histograms)[d];
    std::uint32_t start = 0;
    for (auto& bucket : next) start += std::exchange(bucket, start);
    const Packed* from = packed.get();
    Packed* to = scratch.get();
    for (std::int64_t i = 0; i < n; ++i) to[next[digit(from[i], d)]++] = from[i];
    packed.swap(scratch);
  }
}

/// Runs of equal keys may still hold different values: order those.
void order_runs(const Packed* packed, std::int64_t n, Sorted& sorted) {
  std::vector<std::pair<double, std::uint32_t>> run;
  for (std::int64_t first = 0, last; first < n; first = last) {
    const std::uint32_t key = packed[first] >> 32;
    last = first + 1;
    while (last < n && packed[last] >> 32 == key) ++last;
    double* values = sorted.values.get();
    if (last - first == 1 || std::is_sorted(values + first, values + last)) continue;
    run.clear();
    for (std::int64_t i = first; i < last; ++i) run.emplace_back(values[i], sorted.index[i]);
    std::sort(run.begin(), run.end());
    for (std::int64_t i = first; i < last; ++i) std::tie(values[i], sorted.index[i]) = run[i - first];
  }
}

constexpr std::int64_t most_scores = std::int64_t(1) << 22;  // 32 MB a thread

double score_of(double rank, std::int64_t count) { return normal_quantile((rank - 0.375) / (count + 0.25)); }

/// Scores of the ranks 1 to `count`, which are the same for every parameter of a run: each thread keeps the last
/// count's. Null where they would take too much memory.
const double* scores_of(std::int64_t count) {
  thread_local std::vector<double> scores;
  if (count > most_scores) return nullptr;
  if (std::ssize(scores) != count) {
    scores.resize(count);
    for (std::int64_t i = 0; i < count; ++i) scores[i] = score_of(i + 1, count);
  }
  return scores.data();
}

}  // namespace

Sorted argsort(const double* values, std::int64_t n) {
  require(n < (std::int64_t(1) << 32), ExitStatus::usage, "too many draws of one parameter to rank",
          std::to_string(n) + " draws, at most 4294967295", "Keep fewer draws with --thin?");
  Sorted sorted{make_scratch<double>(n), make_scratch<std::uint32_t>(n)};
  if (n == 0) return sorted;
  auto packed = make_scratch<Packed>(n);
  pack(values, n, packed.get());
  if (n < kBuckets / 4) {  // fewer than counters have to be cleared for
    std::sort(packed.get(), packed.get() + n);
  } else {
    auto scratch = make_scratch<Packed>(n);
    radix_sort(packed, scratch, n);
  }
  for (std::int64_t i = 0; i < n; ++i) sorted.index[i] = static_cast<std::uint32_t>(packed[i]);
  for (std::int64_t i = 0; i < n; ++i) sorted.values[i] = values[sorted.index[i]];
  order_runs(packed.get(), n, sorted);
  return sorted;
}

double quantile_of_sorted(const double* sorted, std::int64_t n, double p) {
  if (n < 1) return std::nan("");
  double position = (n - 1) * p;
  // 0.95 * 2000 is not an integer in floating point; an order statistic asked for exactly is given exactly.
  const double nearest = std::nearbyint(position);
  if (std::abs(position - nearest) <= 4e-16 * n) position = nearest;
  const auto below = std::clamp<std::int64_t>(position, 0, n - 1);
  const auto above = std::min(below + 1, n - 1);
  const double a = sorted[below], b = sorted[above];
  return a == b ? a : a + (position - below) * (b - a);
}

RankedDraws::RankedDraws(const Series& series)
    : chains_(series.chains),
      draws_(series.draws),
      half_(series.draws / 2),
      all_(argsort(series.values, series.size())),
      split_size_(2 * series.chains * half_) {
  if (draws_ % 2 == 0 || draws_ < 2) {
    split_values_ = all_.values.get();
    split_place_ = all_.index.get();
    return;
  }
  without_middle_ = {make_scratch<double>(split_size_), make_scratch<std::uint32_t>(split_size_)};
  const std::uint32_t draws_of_chain = draws_;  // 32 bits divide faster than 64
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < series.size(); ++i) {
    const std::uint32_t chain = all_.index[i] / draws_of_chain;
    const std::int64_t draw = all_.index[i] - chain * draws_;
    if (draw == half_) continue;
    without_middle_.values[kept] = all_.values[i];
    without_middle_.index[kept++] = all_.index[i] - chain - (draw > half_);
  }
  split_values_ = without_middle_.values.get();
  split_place_ = without_middle_.index.get();
}

double RankedDraws::quantile(double p) const { return quantile_of_sorted(all_.values.get(), chains_ * draws_, p); }

template <class Visit>
void RankedDraws::each_score(Visit visit) const {
  const double* const scores = scores_of(split_size_);
  for (std::int64_t first = 0, last; first < split_size_; first = last) {
    last = first + 1;
    while (last < split_size_ && split_values_[last] == split_values_[first]) ++last;
    const double z = scores && last == first + 1 ? scores[first] : score_of(0.5 * (first + 1 + last), split_size_);
    for (std::int64_t i = first; i < last; ++i) visit(split_place_[i], z);
  }
}

template <class Visit>
void RankedDraws::each_folded_score(Visit visit) const {
  // The number of split draws is even: the median lies between the two middle ones.
  std::int64_t left = split_size_ / 2 - 1, right = split_size_ / 2;
  const double median = (double{split_values_[left]} + split_values_[right]) / 2;
  const double infinity = std::numeric_limits<double>::infinity();
  const auto left_distance = [&] { return left >= 0 ? median - split_values_[left] : infinity; };
  const auto right_distance = [&] { return right < split_size_ ? split_values_[right] - median : infinity; };
  double to_left = left_distance(), to_right = right_distance();
  const double* const scores = scores_of(split_size_);
  for (std::int64_t ranked = 0; ranked < split_size_;) {
    const double distance = std::min(to_left, to_right);
    const std::int64_t first_left = left, first_right = right;
    while (left >= 0 && to_left == distance) --left, to_left = left_distance();
    while (right < split_size_ && to_right == distance) ++right, to_right = right_distance();
    const std::int64_t tied = (first_left - left) + (right - first_right);
    const double z = scores && tied == 1 ? scores[ranked] : score_of(ranked + 0.5 * (tied + 1), split_size_);
    for (std::int64_t i = first_left; i > left; --i) visit(split_place_[i], z);
    for (std::int64_t i = first_right; i < right; ++i) visit(split_place_[i], z);
    ranked += tied;
  }
}

void RankedDraws::normal_scores(double* z) const {
  each_score([z](std::uint32_t place, double score) { z[place] = score; });
}

std::vector<RankedDraws::Sums> RankedDraws::folded_sums() const {
  std::vector<Sums> sums(2 * chains_);
  const std::uint32_t draws_of_row = half_;
  each_folded_score([&](std::uint32_t place, double z) {
    Sums& row = sums[place / draws_of_row];
    row.first += z;
    row.second += z * z;
  });
  return sums;
}

std::vector<double> RankedDraws::folded_means(double& mean_square) const {
  std::vector<double> means;
  const auto n = static_cast<double>(half_);
  mean_square = 0;
  for (const Sums& row : folded_sums()) {
    means.push_back(row.first / n);
    mean_square += row.second / n / static_cast<double>(2 * chains_);
  }
  return means;
}

RowVariances RankedDraws::folded_variances() const {
  const std::int64_t rows = 2 * chains_;
  const double n = half_, count = rows;
  const std::vector<Sums> sums = folded_sums();
  double within = 0, total = 0, between = 0;
  for (const Sums& row : sums) {
    within += std::max(0.0, row.second - row.first * row.first / n) / (n - 1);
    total += row.first / n;
  }
  for (const Sums& row : sums) between += (row.first / n - total / count) * (row.first / n - total / count);
  return {rows, half_, within / count, between / (count - 1)};
}

}  // namespace kilochain
