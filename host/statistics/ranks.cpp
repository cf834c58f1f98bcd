#include "host/statistics/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "host/statistics/normal_quantile.hpp"

namespace kilochain {
namespace {

constexpr std::int64_t most_parts = 1024, usual_part = 1024;
constexpr int low_bits = 16;  // of a key: what orders a part, and where in it a draw stood
constexpr std::int64_t most_in_part = std::int64_t(1) << low_bits;
constexpr double infinity = std::numeric_limits<double>::infinity();

constexpr std::int64_t most_scores = std::int64_t(1) << 22;  // 32 MB a thread; 64 MB more where many draws are equal
constexpr std::int64_t many_ties = 8;                        // one draw of so many: chains repeat one that they reject

double score_of(double rank, std::int64_t count) { return normal_quantile((rank - 0.375) / (count + 0.25)); }

/// Scores of the ranks 1 to `count`, by halves in steps of 1/2, which are the same for every parameter of a run: each
/// thread keeps the last count's. Null where they would take too much memory.
const double* scores_of(std::int64_t count, bool by_halves = false) {
  thread_local std::vector<double> kept[2];
  if (count > most_scores) return nullptr;
  std::vector<double>& scores = kept[by_halves];
  const std::int64_t wanted = by_halves ? 2 * count - 1 : count;
  if (std::ssize(scores) != wanted) {
    scores.resize(wanted);
    const double step = by_halves ? 0.5 : 1;
    for (std::int64_t i = 0; i < wanted; ++i) scores[i] = score_of(step * static_cast<double>(i) + 1, count);
  }
  return scores.data();
}

/// Linear interpolation between the order statistics at(k), k < n.
template <class At>
double quantile_among(std::int64_t n, double p, At&& at) {
  if (n < 1) return std::nan("");
  double position = (n - 1) * p;
  // 0.95 * 2000 is not an integer in floating point; an order statistic asked for exactly is given exactly.
  const double nearest = std::nearbyint(position);
  if (std::abs(position - nearest) <= 4e-16 * n) position = nearest;
  const auto below = std::clamp<std::int64_t>(position, 0, n - 1);
  const auto above = std::min(below + 1, n - 1);
  const double a = at(below), b = at(above);
  return a == b ? a : a + (position - below) * (b - a);
}

/// Calls f(i) where holds(v[i - 1], v[i]), which is seldom, and goes on behind what f returns.
template <class Holds, class F>
void each_neighbour(const double* v, std::int64_t count, Holds&& holds, F&& f) {
  constexpr std::int64_t block = 16;
  for (std::int64_t i = 1; i < count;) {
    const std::int64_t end = std::min(i + block, count);
    int any = 0;
    for (std::int64_t k = i; k < end; ++k) any |= holds(v[k - 1], v[k]);
    for (; any && i < end; ++i)
      if (holds(v[i - 1], v[i])) i = f(i);
    i = std::max(i, end);
  }
}

/// Calls f(i, the sum of the first and the last place of those that are equal to v[i]), from the last to the first,
/// without a branch.
template <class F>
void each_with_equals(const double* v, std::int64_t count, std::vector<std::uint32_t>& firsts, F&& f) {
  firsts.resize(count);
  std::int64_t first = 0, last = count - 1;
  for (std::int64_t i = 0; i < count; ++i) {
    first = i > 0 && v[i] == v[i - 1] ? first : i;
    firsts[i] = static_cast<std::uint32_t>(first);
  }
  for (std::int64_t i = count - 1; i >= 0; --i) {
    last = i + 1 < count && v[i] == v[i + 1] ? last : i;
    f(i, static_cast<std::int64_t>(firsts[i]) + last);
  }
}

std::int64_t ties_of(const double* v, std::int64_t count) {
  std::int64_t ties = 0;
  for (std::int64_t i = 1; i < count; ++i) ties += v[i] == v[i - 1];
  return ties;
}

/// Calls f(first, last) for runs of equal values.
template <class F>
void each_tie(const double* v, std::int64_t count, F&& f) {
  each_neighbour(
      v, count, [](double a, double b) { return a == b; },
      [&](std::int64_t i) {
        const std::int64_t first = i - 1;
        while (i + 1 < count && v[i + 1] == v[first]) ++i;
        f(first, i);
        return i;
      });
}

}  // namespace

double quantile_of_sorted(const double* sorted, std::int64_t n, double p) {
  return quantile_among(n, p, [&](std::int64_t k) { return sorted[k]; });
}

double RankedDraws::quantile(double p) const {
  const std::int64_t others = std::ssize(middle_);
  return quantile_among(size_ + others, p, [&](std::int64_t k) {
    std::int64_t few = std::max<std::int64_t>(0, k - size_), many = std::min(k, others);
    while (few < many) {  // how many of middle_ are before the k-th of all
      const std::int64_t j = (few + many) / 2;
      if (middle_[j] < sorted_[k - j - 1])
        few = j + 1;
      else
        many = j;
    }
    return std::min(few < others ? middle_[few] : infinity, k - few < size_ ? sorted_[k - few] : infinity);
  });
}

/// What the sorting of a part needs, kept from one to the next.
struct RankedDraws::Part {
  std::vector<std::uint32_t> items, others, rows;
  std::vector<double> values;
  std::vector<std::pair<double, std::uint32_t>> run;

  /// Equal keys around `at` may hold different values: orders those, and returns the last of them.
  std::int64_t mend(std::int64_t at) {
    std::int64_t first = at - 1, last = at + 1;
    const std::uint32_t key = items[at] >> low_bits;
    while (first > 0 && items[first - 1] >> low_bits == key) --first;
    while (last < std::ssize(values) && items[last] >> low_bits == key) ++last;
    run.clear();
    for (std::int64_t i = first; i < last; ++i) run.emplace_back(values[i], items[i]);
    std::sort(run.begin(), run.end());
    for (std::int64_t i = first; i < last; ++i) std::tie(values[i], items[i]) = run[i - first];
    return last - 1;
  }
};

/// Monotone in x: as the keys of argsort, in single precision, which is enough to deal by.
std::int32_t RankedDraws::key_of(double x) const {
  const auto t = static_cast<float>((x - centre_) * inverse_);
  const float u = std::copysign(1 - 1 / (1 + std::abs(t)), t);
  const auto key = static_cast<std::int32_t>((u + 1) * scale_);
  return key < most_ ? key : most_;
}

RankedDraws::RankedDraws(const Series& series)
    : rows_(2 * series.chains), half_(series.draws / 2), size_(rows_ * half_) {
  require(series.size() < (std::int64_t(1) << 32), ExitStatus::usage, "too many draws of one parameter to rank",
          std::to_string(series.size()) + " draws, at most 4294967295", "Keep fewer draws with --thin?");
  if (series.draws % 2 == 1)
    for (std::int64_t c = 0; c < series.chains; ++c) middle_.push_back(series.values[c * series.draws + half_]);
  std::sort(middle_.begin(), middle_.end());
  with_ends_ = make_scratch<double>(size_ + 2);
  sorted_ = with_ends_.get() + 1;
  sorted_[-1] = -infinity, sorted_[size_] = infinity;
  if (size_ == 0) return;
  std::tie(centre_, inverse_) = bulk_of(series.values, series.size());
  deal(SplitRows(series));
  scores_ = make_scratch<double>(size_);
  Part part;
  for (std::size_t p = 0; p + 1 < starts_.size(); ++p)
    if (starts_[p] < starts_[p + 1]) order(part, starts_[p], starts_[p + 1]);
}

void RankedDraws::deal(const SplitRows& split) {
  std::int64_t parts = 1;
  while (parts < most_parts && size_ > usual_part * parts) parts *= 2;
  scale_ = static_cast<float>(parts << (low_bits - 1));
  most_ = static_cast<std::int32_t>((parts << low_bits) - 1);
  part_ = make_scratch<std::uint16_t>(size_);
  row_ = make_scratch<std::uint32_t>(size_);
  std::vector<std::uint32_t> even(parts), odd(parts);  // two counters of a part: neighbours do not wait for each other
  for (std::int64_t r = 0; r < rows_; ++r) {
    const double* const x = split.row(r);
    std::uint16_t* const to = part_.get() + r * half_;
    for (std::int64_t i = 0; i < half_; ++i) to[i] = static_cast<std::uint16_t>(key_of(x[i]) >> low_bits);
    for (std::int64_t i = 0; i + 1 < half_; i += 2) ++even[to[i]], ++odd[to[i + 1]];
    if (half_ % 2 == 1) ++even[to[half_ - 1]];
  }
  starts_.assign(parts + 1, 0);
  for (std::int64_t p = 0; p < parts; ++p) starts_[p + 1] = starts_[p] + even[p] + odd[p];
  std::vector<std::uint32_t> next(starts_.begin(), starts_.end() - 1);
  for (std::int64_t r = 0; r < rows_; ++r) {
    const double* const x = split.row(r);
    const std::uint16_t* const of = part_.get() + r * half_;
    for (std::int64_t i = 0; i < half_; ++i) {
      const std::uint32_t at = next[of[i]]++;
      sorted_[at] = x[i], row_[at] = static_cast<std::uint32_t>(r);
    }
  }
}

/// Puts a part in order, its rows with it, and leaves the scores where its draws stood.
void RankedDraws::order(Part& part, std::int64_t first, std::int64_t last) {
  const std::int64_t count = last - first;
  double* const x = sorted_ + first;
  std::uint32_t* const rows = row_.get() + first;
  part.items.resize(count), part.values.resize(count), part.rows.assign(rows, rows + count);
  if (std::all_of(x, x + count, [x](double v) { return v == x[0]; })) {
    std::iota(part.items.begin(), part.items.end(), 0u);
    std::fill(part.values.begin(), part.values.end(), x[0]);
  } else if (count > most_in_part) {
    const Sorted sorted = argsort(x, count);
    std::copy_n(sorted.values.get(), count, part.values.data());
    std::copy_n(sorted.index.get(), count, part.items.data());
  } else {
    constexpr std::uint32_t digit = 255, places = most_in_part - 1;
    std::uint32_t low[digit + 1] = {}, high[digit + 1] = {};
    part.others.resize(count);
    std::uint32_t *const items = part.items.data(), *const others = part.others.data();
    for (std::int64_t i = 0; i < count; ++i)
      items[i] = static_cast<std::uint32_t>(key_of(x[i])) << low_bits | static_cast<std::uint32_t>(i);
    for (std::int64_t i = 0; i < count; ++i) ++low[items[i] >> 16 & digit], ++high[items[i] >> 24];
    std::uint32_t lower = 0, higher = 0;
    for (auto& n : low) lower += std::exchange(n, lower);
    for (auto& n : high) higher += std::exchange(n, higher);
    for (std::int64_t i = 0; i < count; ++i) others[low[items[i] >> 16 & digit]++] = items[i];
    for (std::int64_t i = 0; i < count; ++i) items[high[others[i] >> 24]++] = others[i];
    double* const values = part.values.data();
    for (std::int64_t i = 0; i < count; ++i) values[i] = x[items[i] & places];
    each_neighbour(
        values, count, [](double a, double b) { return a > b; }, [&](std::int64_t i) { return part.mend(i); });
    for (std::int64_t i = 0; i < count; ++i) items[i] &= places;
  }
  const std::uint32_t* const stood = part.items.data();
  double* const z = scores_.get() + first;
  const std::int64_t ties = ties_of(part.values.data(), count);
  tied_ += ties;
  if (const double* const shared = ties > count / many_ties ? scores_of(size_, true) : nullptr)
    each_with_equals(part.values.data(), count, part.others,
                     [&](std::int64_t i, std::int64_t both) { z[stood[i]] = shared[2 * first + both]; });
  else
    score_in_order(part, first);
  for (std::int64_t i = 0; i < count; ++i) x[i] = part.values[i], rows[i] = part.rows[stood[i]];
}

/// Where few draws are equal, or scores are not kept.
void RankedDraws::score_in_order(const Part& part, std::int64_t first) {
  const auto count = std::ssize(part.values);
  const std::uint32_t* const stood = part.items.data();
  double* const z = scores_.get() + first;
  if (const double* const scores = scores_of(size_))
    for (std::int64_t i = 0; i < count; ++i) z[stood[i]] = scores[first + i];
  else
    for (std::int64_t i = 0; i < count; ++i) z[stood[i]] = score_of(first + i + 1, size_);
  each_tie(part.values.data(), count, [&](std::int64_t from, std::int64_t to) {
    const double score = score_of(static_cast<double>(first) + 0.5 * (from + to) + 1, size_);
    for (std::int64_t k = from; k <= to; ++k) z[stood[k]] = score;
  });
}

void RankedDraws::normal_scores(double* z) const {
  std::vector<std::uint32_t> next(starts_.begin(), starts_.end() - 1);
  for (std::int64_t i = 0; i < size_; ++i) z[i] = scores_[next[part_[i]]++];
}

/// By distance from the median, from four ranks on at a time: each step waits for the one before, and four such waits
/// fit into one.
std::vector<RankedDraws::Sums> RankedDraws::folded_sums() const {
  // The number of split draws is even: the median lies between the two middle ones.
  const std::int64_t middle = size_ / 2;
  const double median = (sorted_[middle - 1] + sorted_[middle]) / 2;
  const auto distances = make_scratch<double>(size_);
  const auto rows = make_scratch<std::uint32_t>(size_);
  struct Lane {
    std::int64_t left, right, rank, end;  ///< the next ones to both sides; ranks from 0
  };
  constexpr int lanes = 4;
  Lane lane[lanes];
  for (int k = 0; k < lanes; ++k) {
    const std::int64_t rank = size_ * k / lanes;
    std::int64_t few = std::max<std::int64_t>(0, rank - (size_ - middle)), many = std::min(rank, middle);
    while (few < many) {  // how many of the nearest `rank` are to the left
      const std::int64_t i = (few + many) / 2;
      if (median - sorted_[middle - 1 - i] < sorted_[middle + rank - i - 1] - median)
        few = i + 1;
      else
        many = i;
    }
    lane[k] = {middle - 1 - few, middle + rank - few, rank, size_ * (k + 1) / lanes};
  }
  const double* const sorted = sorted_;
  const std::uint32_t* const row = row_.get();
  const auto step = [&](Lane & q) __attribute__((always_inline)) {
    const double to_left = median - sorted[q.left], to_right = sorted[q.right] - median;
    const std::int64_t goes_left = -std::int64_t(to_left < to_right);  // -1 or 0: a branch would often be mistaken
    distances[q.rank] = std::min(to_left, to_right);
    rows[q.rank] = row[q.right ^ ((q.left ^ q.right) & goes_left)];
    q.left += goes_left, q.right += 1 + goes_left, ++q.rank;
  };
  for (std::int64_t i = 0; i < size_ / lanes; ++i)
    for (Lane& q : lane) step(q);
  for (Lane& q : lane)
    while (q.rank < q.end) step(q);

  std::vector<Sums> sums(rows_);
  if (const double* const shared = tied_ > size_ / many_ties ? scores_of(size_, true) : nullptr) {
    std::vector<std::uint32_t> firsts;
    each_with_equals(distances.get(), size_, firsts, [&](std::int64_t k, std::int64_t both) {
      const double z = shared[both];
      sums[rows[k]].first += z, sums[rows[k]].second += z * z;
    });
    return sums;
  }
  const double* const scores = scores_of(size_);
  const auto of_rank = [&](std::int64_t k) { return scores ? scores[k] : score_of(k + 1, size_); };
  for (std::int64_t k = 0; k < size_; ++k) {
    const double z = of_rank(k);
    sums[rows[k]].first += z, sums[rows[k]].second += z * z;
  }
  each_tie(distances.get(), size_, [&](std::int64_t first, std::int64_t last) {
    const double shared = score_of(0.5 * double(first + last) + 1, size_);
    for (std::int64_t k = first; k <= last; ++k) {
      const double z = of_rank(k);
      sums[rows[k]].first += shared - z, sums[rows[k]].second += shared * shared - z * z;
    }
  });
  return sums;
}

std::vector<double> RankedDraws::folded_means(double& mean_square) const {
  std::vector<double> means;
  const auto n = static_cast<double>(half_);
  mean_square = 0;
  for (const Sums& row : folded_sums()) {
    means.push_back(row.first / n);
    mean_square += row.second / n / static_cast<double>(rows_);
  }
  return means;
}

RowVariances RankedDraws::folded_variances() const {
  const double n = half_, count = rows_;
  const std::vector<Sums> sums = folded_sums();
  double within = 0, total = 0, between = 0;
  for (const Sums& row : sums) {
    within += std::max(0.0, row.second - row.first * row.first / n) / (n - 1);
    total += row.first / n;
  }
  for (const Sums& row : sums) between += (row.first / n - total / count) * (row.first / n - total / count);
  return {rows_, half_, within / count, between / (count - 1)};
}

}  // namespace kilochain
