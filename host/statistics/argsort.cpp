#include "host/statistics/argsort.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"

namespace kilochain {
namespace {

/// A key in the upper, an index in the lower 32 bits.
using Packed = std::uint64_t;
constexpr int kDigits = 3, kBits = 11, kBuckets = 1 << kBits;
using Histograms = std::array<std::array<std::uint32_t, kBuckets>, kDigits>;

std::uint32_t digit(Packed packed, int which) { return (packed >> (32 + which * kBits)) & (kBuckets - 1); }

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

}  // namespace

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

}  // namespace kilochain
