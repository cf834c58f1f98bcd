#include "host/statistics/streaming/blocks.hpp"

#include <algorithm>
#include <cmath>

namespace kilochain {

std::int64_t Blocks::end() const {
  const std::int64_t begin = begin_[last()], end = begin + draws_, half = expected_ / 2;
  return begin < half && half < end ? half : end;
}

void Blocks::open(std::int64_t now) {
  begin_[count_++] = now;
  begin_[count_] = now;
}

BlockPlaces Blocks::join(std::int64_t now) {
  // The middle only moves on: blocks before it can be one. When there are none, neighbours join.
  int before = 0;
  while (before < count_ && begin_[before + 1] <= now / 2) ++before;
  const bool pairs = before < 2;
  if (pairs) draws_ *= 2;
  BlockPlaces place{};
  int kept = 0;
  for (int k = 0; k < count_; ++kept) {
    int last = !pairs && k < before ? before - 1 : k;
    if (pairs && k > 0 && k + 1 < count_ && begin_[k + 1] != expected_ / 2) last = k + 1;
    for (; k <= last; ++k) place[k] = kept;
  }
  const auto begin = begin_;
  for (int k = count_ - 1; k >= 0; --k) begin_[place[k]] = begin[k];
  count_ = kept;
  begin_[count_] = now;
  return place;
}

Halves Blocks::halves(std::int64_t start, std::int64_t now) const {
  Halves halves;
  const std::int64_t length = halves.length = (now - start) / 2;
  double lost = 0;  // of the variance of the difference of the halves' sums, in draws
  for (int k = 0; k < count_; ++k) {
    const std::int64_t end = k < last() ? begin_[k + 1] : now;
    const std::int64_t from = std::max(start, begin_[k]), to = std::min(now, end);
    if (to <= from) continue;
    const double draws = to - from;
    const auto share = [&](std::int64_t first, std::int64_t last) {
      return std::max<std::int64_t>(0, std::min(to, last) - std::max(from, first)) / draws;
    };
    halves.share[0][k] = share(start, start + length);
    halves.share[1][k] = share(now - length, now);
    lost += 4 * halves.share[0][k] * halves.share[1][k] * draws;
  }
  const double draws = 2 * length;
  halves.stretch = lost < 0.5 * draws ? std::sqrt(draws / (draws - lost)) : 1;
  return halves;
}

}  // namespace kilochain
