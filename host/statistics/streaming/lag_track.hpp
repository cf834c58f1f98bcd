// Autocovariances of one series as it goes by, in bounded memory: a multi-tau correlator over codes (score_map.hpp).
// Level 0 has lags 0 to 31 of the draws; level l >= 1 has lags 0 to 15 of means of 4^l neighbouring draws, which is the
// autocovariance near lag 4^l k averaged over lags (a triangle of that half width), up to lag 15 * 4^5 = 15 360.
// Draws wait until 64 are there and enter as a frame, so that nothing depends on how they were cut into windows; sums
// of products over series are integers, exact in any order. Cost: about 6 ns a draw for all four features with AVX-512,
// twice that with AVX2, 5 times without fused multiply-adds.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "host/statistics/streaming/score_map.hpp"

namespace kilochain {

inline constexpr int kFeatures = ScoreMap::kFeatures;
inline constexpr int kNearLags = 32, kFarLags = 16, kLevels = 5, kFrame = 64;
inline constexpr int kLagSlots = kNearLags + kLevels * kFarLags;

/// Sums over series and time of products, for every level and lag; [kNearLags | level 1 | level 2 | ...].
struct LagSums {
  std::array<std::int64_t, kLagSlots> pairs{};
  alignas(64)
      std::array<std::int64_t, kLagSlots * kFeatures> products{};  ///< in units of 2^-20; a level's longest lag first

  void add(const LagSums& other);
  /// Mean product of feature `feature` in slot `slot`.
  double mean(int slot, int feature) const;
};

/// Mean products at any lag: linear between those that were measured.
class LagCurve {
 public:
  LagCurve(const LagSums& sums, int feature);
  double at_zero() const { return values_.empty() ? 0 : values_[0]; }
  /// Lags beyond this are not known.
  std::int64_t last() const { return lags_.empty() ? -1 : lags_.back(); }
  double operator()(std::int64_t lag) const;

 private:
  std::vector<std::int64_t> lags_;
  std::vector<double> values_;
};

/// What one series leaves behind.
struct LagTrack {
  std::array<std::uint8_t, kNearLags + kFrame> codes;                            ///< past, then waiting
  std::array<std::array<std::int16_t, kFarLags * kFeatures>, kLevels> coarse{};  ///< latest means, newest last

  LagTrack() { reset(); }
  void reset();
  /// The codes [kNearLags, kNearLags + count) enter; `seen` draws (a multiple of kFrame) had entered before.
  /// A frame shorter than kFrame must be the last.
  void enter(int count, std::int64_t seen, const ScoreMap& map, LagSums& sums);
};

}  // namespace kilochain
