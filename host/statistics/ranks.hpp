// Ranks, quantiles and normal scores of one parameter.
// Score of rank r among S draws: z = Phi^-1((r - 3/8) / (S + 1/4)), equal draws share their average rank (Vehtari,
// Gelman, Simpson, Carpenter, Buerkner 2021). Ranks run over the split halves (without the middle draw of odd chains),
// quantiles over all draws. Folded draws |x - median| are ranked by merging outwards from the median: no second sort.
// A million draws do not fit into a cache: they are dealt into up to 1024 parts by their size, in the order in which
// they came, sorted part by part, and their scores go back the same way, so that nothing is read or written at random
// places beyond a part. Cost: 10 ns a draw of 3e5, 35 of 2e7; memory 34 n bytes.
#pragma once
#include <cstdint>
#include <vector>

#include "host/statistics/argsort.hpp"
#include "host/statistics/series.hpp"

namespace kilochain {

/// Mean over rows of the variance within (divisor n - 1), and the variance of the row means (divisor rows - 1).
struct RowVariances {
  std::int64_t rows, length;
  double within, between;
};

class RankedDraws {
 public:
  /// Sorts; the series must satisfy has_diagnostics, except that fewer draws than 4 still have quantiles.
  explicit RankedDraws(const Series& series);

  /// Linear interpolation between order statistics ("type 7", as R, NumPy and ArviZ); 0 <= p <= 1.
  double quantile(double p) const;
  /// Normal scores of the split draws into z[2 * chains][draws / 2].
  void normal_scores(double* z) const;
  /// Row variances of the normal scores of |x - median|; the scores themselves are not stored.
  RowVariances folded_variances() const;
  /// Their means, and the mean square of all.
  std::vector<double> folded_means(double& mean_square) const;

 private:
  struct Sums {
    double first = 0, second = 0;
  };
  struct Part;
  void deal(const SplitRows& split);
  void order(Part& part, std::int64_t first, std::int64_t last);
  void score_in_order(const Part& part, std::int64_t first);
  std::int32_t key_of(double x) const;
  std::vector<Sums> folded_sums() const;

  std::int64_t rows_, half_, size_;     ///< size_: draws in the halves
  std::int64_t tied_ = 0;               ///< of these, such as are equal to the one before
  double centre_ = 0, inverse_ = 1;     ///< of the bulk
  float scale_ = 0;                     ///< of keys
  std::int32_t most_ = 0;               ///< the largest key
  std::vector<std::uint32_t> starts_;   ///< of the parts, and their end
  Scratch<std::uint16_t> part_;         ///< [size_] of each draw, in their order
  Scratch<double> with_ends_, scores_;  ///< ascending, between infinities; part by part, in the draws' order there
  Scratch<std::uint32_t> row_;          ///< of the ascending ones
  double* sorted_ = nullptr;            ///< behind the first infinity
  std::vector<double> middle_;          ///< the draws in no half, ascending
};

/// Linear interpolation in n ascending values; the quantile rule of RankedDraws.
double quantile_of_sorted(const double* sorted, std::int64_t n, double p);

}  // namespace kilochain
