#include "host/statistics/ranks.hpp"

#include <algorithm>
#include <cmath>

#include "host/statistics/normal_quantile.hpp"

namespace kilochain {
namespace {

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

RowVariances RankedDraws::folded_variances() const {
  const std::int64_t rows = 2 * chains_;
  const double n = half_, count = rows;
  struct Sums {
    double first = 0, second = 0;
  };
  std::vector<Sums> sums(rows);
  const std::uint32_t draws_of_row = half_;
  each_folded_score([&](std::uint32_t place, double z) {
    Sums& row = sums[place / draws_of_row];
    row.first += z;
    row.second += z * z;
  });
  double within = 0, total = 0, between = 0;
  for (const Sums& row : sums) {
    within += std::max(0.0, row.second - row.first * row.first / n) / (n - 1);
    total += row.first / n;
  }
  for (const Sums& row : sums) between += (row.first / n - total / count) * (row.first / n - total / count);
  return {rows, half_, within / count, between / (count - 1)};
}

}  // namespace kilochain
