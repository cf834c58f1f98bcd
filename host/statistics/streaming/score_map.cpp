#include "host/statistics/streaming/score_map.hpp"

#include "host/statistics/normal_quantile.hpp"
#include "host/statistics/ranks.hpp"

namespace kilochain {
namespace {

constexpr double kQuartiles = 1.3489795003921634;  // between the quartiles of a standard normal
constexpr double kFarthest = 10;

double t_of_u(double u) { return u / (1 - std::abs(u)); }
double u_of_t(double t) { return t / (1 + std::abs(t)); }

double total_of(const ScoreMap::Counts& counts) {
  std::uint64_t total = 0;
  for (int i = 0; i < kBins; ++i) total += counts[i];
  return total;
}

/// Where in u the fraction p of counts is reached.
double quantile_in_u(const ScoreMap::Counts& counts, double p) {
  const double wanted = p * total_of(counts);
  double below = 0;
  for (int i = 0; i < kBins; ++i) {
    const double here = counts[i];
    if (here > 0 && below + here >= wanted) {
      // A bin alone among empty ones is one value of few: it may lie anywhere in the bin, so take the middle.
      const double near = (i > 0 ? counts[i - 1] : 0) + (i + 1 < kBins ? counts[i + 1] : 0);
      const double share = near < 0.01 * here ? 0.5 : (wanted - below) / here;
      return ScoreMap::u_of_edge(i) + share / (kBins / 2);
    }
    below += here;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// Normal score of the middle rank of `here` draws above `below` others, of `total`; never infinite.
std::int32_t score(double below, double here, double total) {
  const double p = std::clamp((below + 0.5 * here) / total, 0.5 / total, 1 - 0.5 / total);
  return std::lround(std::clamp(normal_quantile(p), -5.0, 5.0) / kScoreUnit);
}

/// A width that is never zero: draws that are all equal still need bins.
float inverse_of(double unit, double centre) {
  if (!(unit > 0)) unit = centre == 0 ? 1 : 1e-3 * std::abs(centre);
  return std::clamp(1 / unit, 1e-30, 1e30);
}

}  // namespace

void ScoreMap::place(std::vector<double>& sample) {
  centre = 0;
  inverse_unit = 1;
  if (sample.empty()) return;
  std::sort(sample.begin(), sample.end());
  const auto at = [&](double p) { return quantile_of_sorted(sample.data(), std::ssize(sample), p); };
  const double limit = std::numeric_limits<float>::max();
  centre = std::clamp(at(0.5), -limit, limit);
  double unit = (at(0.75) - at(0.25)) / kQuartiles;
  if (!(unit > 0)) unit = (at(0.99) - at(0.01)) / 4;
  inverse_unit = inverse_of(unit, centre);
}

void ScoreMap::place_again(Counts& counts) {
  const Counts old = counts;
  const ScoreMap before = *this;
  const double middle = before.quantile(old, 0.5);
  const double unit = (before.quantile(old, 0.75) - before.quantile(old, 0.25)) / kQuartiles;
  if (!std::isfinite(middle) || !std::isfinite(unit)) return;
  centre = middle;
  inverse_unit = inverse_of(unit, centre);
  // Each new edge is a place among the old bins; the counts below it, rounded down, keep the total exact.
  std::uint64_t below_old = 0, below_new = 0;
  int i = 0;
  for (int edge = 1; edge <= kBins; ++edge) {
    const double u =
        edge == kBins ? 1.0 : u_of_t((value_of(t_of_u(u_of_edge(edge))) - before.centre) * before.inverse_unit);
    while (i < kBins && u_of_edge(i + 1) <= u) below_old += old[i++];
    std::uint64_t below = below_old;
    if (i < kBins) {
      below += static_cast<std::uint64_t>(old[i] * std::clamp((u - u_of_edge(i)) * (kBins / 2), 0.0, 1.0));
    }
    below = std::max(below, below_new);
    counts[edge - 1] = below - below_new;
    below_new = below;
  }
}

void ScoreMap::learn(const Counts& counts) {
  const double total = std::max(total_of(counts), 1.0);
  std::array<double, kBins / 2> fold_below{}, fold_here{};
  double below = 0;
  for (int k = 0; k < kBins / 2; ++k) {
    fold_here[k] = counts[kBins / 2 + k] + counts[kBins / 2 - 1 - k];
    fold_below[k] = below;
    below += fold_here[k];
  }
  below = 0;
  lower = upper = -1;
  // The bin where p is reached; or the one before, if nearer and the step is small (a larger one is a value by itself).
  const auto ends_tail = [](int& end, int i, double fraction, double step, double p) {
    if (end < 0 && fraction >= p)
      end = step < 0.02 && fraction - step > 0 && p - (fraction - step) < fraction - p ? i - 1 : i;
  };
  std::array<std::int32_t, kBins> bulk;
  for (int i = 0; i < kBins; ++i) {
    const double here = counts[i];
    const int k = i >= kBins / 2 ? i - kBins / 2 : kBins / 2 - 1 - i;
    bulk[i] = score(below, here, total);
    const std::int32_t folded = score(fold_below[k], fold_here[k], total);
    scores[i] = static_cast<std::uint16_t>(bulk[i]) | static_cast<std::uint32_t>(folded) << 16;
    below += here;
    ends_tail(lower, i, below / total, here / total, 0.05);
    ends_tail(upper, i, below / total, here / total, 0.95);
  }
  for (int i = 0; i < kBins; ++i) {
    float* feature = &features[i * kFeatures];
    const double u = u_of_edge(i) + 0.5 / (kBins / 2);
    feature[0] = std::clamp(t_of_u(u), -kFarthest, kFarthest);
    feature[1] = bulk[i] * kScoreUnit;
    feature[2] = (i <= lower ? 1.0f : 0.0f) - 0.05f;
    feature[3] = (i <= upper ? 1.0f : 0.0f) - 0.95f;
  }
  for (int i = kBins; i < kCodes; ++i) {
    scores[i] = 0;
    for (int k = 0; k < kFeatures; ++k) features[i * kFeatures + k] = 0;
  }
  learnt = shape_of(counts);
}

ScoreMap::Shape ScoreMap::shape_of(const Counts& counts) const {
  Shape shape;
  const double total = std::max(total_of(counts), 1.0);
  double below = 0;
  for (int i = 0; i < kBins; ++i) {
    below += counts[i];
    if (i == lower) shape.lower = below / total;
    if (i == kBins / 2 - 1) shape.middle = below / total;
    if (i == upper) shape.upper = below / total;
  }
  shape.width = (t_of_u(quantile_in_u(counts, 0.75)) - t_of_u(quantile_in_u(counts, 0.25))) / kQuartiles;
  return shape;
}

bool ScoreMap::outdated(const Counts& counts) const {
  const Shape now = shape_of(counts);
  const auto moved = [](double fraction, double before, double by) { return std::abs(fraction - before) > by; };
  // Changes, not distances from 5 %, 50 % and 95 %: a parameter with few values may have no bin there.
  return moved(now.lower, learnt.lower, 0.02) || moved(now.upper, learnt.upper, 0.02) ||
         moved(now.middle, learnt.middle, 0.12) || now.width < 0.25 * learnt.width || now.width > 4 * learnt.width;
}

double ScoreMap::quantile(const Counts& counts, double p) const { return value_of(t_of_u(quantile_in_u(counts, p))); }

}  // namespace kilochain
