// A parameter's line cut into 254 bins, and a score for each bin, so that a draw becomes one byte.
// With t = (x - centre) / unit and u = t / (1 + |t|), bins are equal in u in (-1, 1): the whole line, fine where the
// draws are. A bin's scores stand for the ranks that a draw in it would have among all draws: Phi^-1 of the fraction
// below (bulk) and of the fraction with smaller |t| (folded), in integers of 1/512, so that sums of them are exact
// whatever their order. Quantiles come from counts per bin, linearly in u: error below 0.002 sd for unit near sd.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace kilochain {

inline constexpr int kBins = 254;       ///< codes 0 to 253
inline constexpr int kNowhere = kBins;  ///< code of a draw that is not finite, or not there
inline constexpr int kCodes = 256;      ///< entries of every table over codes
inline constexpr double kScoreUnit = 1.0 / 512;

/// Tables of one parameter.
struct ScoreMap {
  /// What the autocovariances are taken of, by code: value (t, at most 10 away from 0), bulk score, and the indicators
  /// of the lower and upper tail less 0.05 and 0.95. Zero for kNowhere.
  static constexpr int kFeatures = 4;

  float centre = 0, inverse_unit = 1;
  int lower = 0, upper = 0;  ///< codes <= lower are (nearly) 5 % of the draws, codes <= upper 95 %
  alignas(64) std::array<std::uint32_t, kCodes> scores{};  ///< bulk in the low 16 bits, folded in the high ones
  alignas(64) std::array<float, kCodes * kFeatures> features{};

  using Counts = std::array<std::uint64_t, kCodes>;

  /// Centre and unit from a sample (finite values; sorted here): its median and quartiles.
  void place(std::vector<double>& sample);
  /// Centre and unit from counts made under this map; `counts` are moved to the new bins.
  void place_again(Counts& counts);
  /// Scores, tails and features from counts made under this map.
  void learn(const Counts& counts);
  /// Whether counts have moved away from what the map was learnt from.
  bool outdated(const Counts& counts) const;

  /// Linear interpolation; NaN without counts.
  double quantile(const Counts& counts, double p) const;
  double value_of(double t) const { return centre + t / inverse_unit; }
  /// The bin of a finite value.
  int code_of(double x) const {
    const double t = (x - centre) * inverse_unit, u = t / (1 + std::abs(t));
    if (!std::isfinite(u)) return t < 0 ? 0 : kBins - 1;
    return std::clamp(static_cast<int>((u + 1) * (kBins / 2)), 0, kBins - 1);
  }

  struct Shape {
    double lower = 0, middle = 0, upper = 0;  ///< fractions of the draws up to the tails' ends and the centre
    double width = 0;                         ///< between the quartiles, in units
  };
  Shape shape_of(const Counts& counts) const;
  Shape learnt;

  static double u_of_edge(int edge) { return edge / (0.5 * kBins) - 1; }
};

}  // namespace kilochain
