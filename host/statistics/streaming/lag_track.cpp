#include "host/statistics/streaming/lag_track.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace kilochain {
namespace {

constexpr double kProductsPerUnit = 1 << 20;
constexpr float kMeanUnit = 1.0f / 2048;  // of the stored means: features stay within +-10

// Sixteen: four values of four features, with
//   plus_product(c, a, b) c + a b of each
//   shifted<s>(a, b)      16 from place s of a and b
// Vector types of GCC and Clang, because neither keeps the sums of an ordinary loop in registers (20 times slower), nor
// those of a vector that no register holds (AVX2: 30 times).
#if defined(__FMA__) && !defined(__AVX512F__)
using Eight = float __attribute__((vector_size(32)));
struct Sixteen {
  Eight low, high;
  Sixteen& operator+=(const Sixteen& b) {
    low += b.low, high += b.high;
    return *this;
  }
};
inline Sixteen plus_product(const Sixteen& c, const Sixteen& a, const Sixteen& b) {
  return {c.low + a.low * b.low, c.high + a.high * b.high};
}
template <int s>
inline Sixteen shifted(const Sixteen& a, const Sixteen& b) {
  static_assert(s == 4 || s == 8 || s == 12 || s == 16);
  const auto middle = [](Eight l, Eight h) { return __builtin_shufflevector(l, h, 4, 5, 6, 7, 8, 9, 10, 11); };
  if constexpr (s == 4) return {middle(a.low, a.high), middle(a.high, b.low)};
  if constexpr (s == 8) return {a.high, b.low};
  if constexpr (s == 12) return {middle(a.high, b.low), middle(b.low, b.high)};
  return b;
}
#else
using Sixteen = float __attribute__((vector_size(64)));
inline Sixteen plus_product(Sixteen c, Sixteen a, Sixteen b) { return c + a * b; }
template <int s>
inline Sixteen shifted(Sixteen a, Sixteen b) {
  return __builtin_shufflevector(a, b, s, s + 1, s + 2, s + 3, s + 4, s + 5, s + 6, s + 7, s + 8, s + 9, s + 10, s + 11,
                                 s + 12, s + 13, s + 14, s + 15);
}
#endif

/// `count` values came after `before` others: how many pairs that many places apart are new.
std::int64_t new_pairs(std::int64_t count, std::int64_t before, std::int64_t places) {
  return std::max<std::int64_t>(0, count - std::max<std::int64_t>(0, places - before));
}

/// Part of sum_products: the values i = kResidue, kResidue + 4, ..., which meet blocks of four values at aligned
/// addresses. Block v, place j has lag kLags + kResidue - 4 v - j, so that the sums are shifted by places at the end.
template <int kLags, int kResidue>
inline void sum_residue(const float* values, const float* newest, int count, Sixteen* total) {
  constexpr int kVectors = kLags / 4;
  Sixteen sum[kVectors + 1] = {};
  for (int i = kResidue; i < count; i += 4) {
    Sixteen repeated, before;
    std::memcpy(&repeated, newest + 16 * i, sizeof(repeated));
    for (int v = 0; v <= kVectors; ++v) {
      std::memcpy(&before, values + (i - kResidue + 4 * v) * kFeatures, sizeof(before));
      sum[v] = plus_product(sum[v], before, repeated);
    }
  }
  for (int v = 0; v < kVectors; ++v) total[v] += shifted<4 * (kResidue + 1)>(sum[v], sum[v + 1]);
}

/// sums[(kLags - 1 - k) * kFeatures + f] = sum over `count` values from values + kLags * kFeatures on, of
/// value[f] * (value k places before it)[f]. Four more values must be readable.
template <int kLags>
inline void sum_products(const float* values, int count, float* sums) {
  static_assert(kFeatures == 4);
  // Every value four times, written well before it is read: a shuffle of 16 bytes would go through memory and stall.
  alignas(64) float newest[kFrame * 16];
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < 4; ++j) {
      std::memcpy(newest + 16 * i + 4 * j, values + (kLags + i) * kFeatures, sizeof(float) * kFeatures);
    }
  }
  Sixteen total[kLags / 4] = {};
  sum_residue<kLags, 0>(values, newest, count, total);
  sum_residue<kLags, 1>(values, newest, count, total);
  sum_residue<kLags, 2>(values, newest, count, total);
  sum_residue<kLags, 3>(values, newest, count, total);
  std::memcpy(sums, total, sizeof(total));
}

/// Adds float sums to the integers; towards zero, by at most 2^-20 for 64 products.
template <int kLags>
inline void store(const float* sums, std::int64_t* total) {
#pragma omp simd
  for (int i = 0; i < kLags * kFeatures; ++i) {
    total[i] += static_cast<std::int64_t>(sums[i] * kProductsPerUnit);
  }
}

}  // namespace

void LagSums::add(const LagSums& other) {
  for (int i = 0; i < kLagSlots; ++i) pairs[i] += other.pairs[i];
  for (int i = 0; i < kLagSlots * kFeatures; ++i) products[i] += other.products[i];
}

double LagSums::mean(int slot, int feature) const {
  const int level = slot < kNearLags ? -1 : (slot - kNearLags) / kFarLags;
  const int first = level < 0 ? 0 : kNearLags + level * kFarLags, lags = level < 0 ? kNearLags : kFarLags;
  const int place = first + lags - 1 - (slot - first);  // stored the longest lag first
  return products[place * kFeatures + feature] / kProductsPerUnit / pairs[slot];
}

void LagTrack::reset() {
  codes.fill(kNowhere);
  for (auto& level : coarse) level.fill(0);
}

void LagTrack::enter(int count, std::int64_t seen, const ScoreMap& map, LagSums& sums) {
  // Level 0. Codes that are not there have features of zero: they add nothing.
  alignas(64) float values[(kNearLags + kFrame + 4) * kFeatures];
  std::fill_n(values + (kNearLags + count) * kFeatures, 4 * kFeatures, 0.0f);
  for (int i = 0; i < kNearLags + count; ++i) {
    std::memcpy(values + i * kFeatures, &map.features[codes[i] * kFeatures], sizeof(float) * kFeatures);
  }
  {
    alignas(64) float products[kNearLags * kFeatures];
    sum_products<kNearLags>(values, count, products);
    store<kNearLags>(products, sums.products.data());
    for (int k = 0; k < kNearLags; ++k) sums.pairs[k] += new_pairs(count, seen, k);
  }
  // Level l >= 1: means of four of the level below, when four are complete.
  alignas(64) float below[kFrame * kFeatures];
  std::copy_n(values + kNearLags * kFeatures, count * kFeatures, below);
  std::int64_t before = seen;  // values of the level below that had entered
  int fresh = count;           // and those in `below` now, the last ones
  for (int level = 0; level < kLevels; ++level) {
    // From level 3 on a frame brings at most one value, and four of them are found in what is kept.
    alignas(64) float window[(kFarLags + kFrame / 4) * kFeatures] = {};
    auto& kept = coarse[level];
    int made = 0;
    if (fresh >= 4) {
      made = fresh / 4;
      for (int j = 0; j < made; ++j) {
        for (int f = 0; f < kFeatures; ++f) {
          const float* four = below + 4 * j * kFeatures + f;
          window[(kFarLags + j) * kFeatures + f] =
              0.25f * ((four[0] + four[kFeatures]) + (four[2 * kFeatures] + four[3 * kFeatures]));
        }
      }
    } else if (fresh == 1 && level > 0 && (before + 1) % 4 == 0) {
      made = 1;
      const auto& last = coarse[level - 1];
      for (int f = 0; f < kFeatures; ++f) {
        int sum = 0;
        for (int j = 1; j <= 4; ++j) sum += last[(kFarLags - j) * kFeatures + f];
        window[kFarLags * kFeatures + f] = 0.25f * kMeanUnit * sum;
      }
    }
    if (made == 0) break;
    for (int i = 0; i < kFarLags * kFeatures; ++i) window[i] = kMeanUnit * kept[i];
    for (int i = kFarLags * kFeatures; i < (kFarLags + made) * kFeatures; ++i) {  // as it will be kept
      window[i] = kMeanUnit * std::nearbyint(window[i] / kMeanUnit);
    }
    alignas(64) float products[kFarLags * kFeatures];
    sum_products<kFarLags>(window, made, products);
    const int slot = kNearLags + level * kFarLags;
    store<kFarLags>(products, sums.products.data() + slot * kFeatures);
    before /= 4;
    for (int k = 0; k < kFarLags; ++k) sums.pairs[slot + k] += new_pairs(made, before, k);
    for (int i = 0; i < kFarLags * kFeatures; ++i) {
      kept[i] = window[made * kFeatures + i] / kMeanUnit;
    }
    std::copy_n(window + kFarLags * kFeatures, made * kFeatures, below);
    fresh = made;
  }
  std::copy_n(codes.begin() + count, kNearLags, codes.begin());
}

LagCurve::LagCurve(const LagSums& sums, int feature) {
  const auto append = [&](int slot, std::int64_t lag) {
    if (sums.pairs[slot] == 0) return false;
    lags_.push_back(lag);
    values_.push_back(sums.mean(slot, feature));
    return true;
  };
  for (int k = 0; k < kNearLags; ++k) {
    if (!append(k, k)) return;
  }
  std::int64_t step = 1;
  for (int level = 0; level < kLevels; ++level) {
    step *= 4;
    const int reached = level == 0 ? kNearLags / 4 : kFarLags / 4;  // lags below are known from the level before
    for (int k = reached; k < kFarLags; ++k) {
      if (!append(kNearLags + level * kFarLags + k, k * step)) return;
    }
  }
}

double LagCurve::operator()(std::int64_t lag) const {
  if (lag < kNearLags) return values_[lag];
  const auto after = std::lower_bound(lags_.begin(), lags_.end(), lag) - lags_.begin();
  const double past = lag - lags_[after - 1], share = past / (lags_[after] - lags_[after - 1]);
  return values_[after - 1] + share * (values_[after] - values_[after - 1]);
}

}  // namespace kilochain
