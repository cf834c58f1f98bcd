// Ranks, quantiles and normal scores of one parameter from a single sort.
// Score of rank r among S draws: z = Phi^-1((r - 3/8) / (S + 1/4)), equal draws share their average rank (Vehtari,
// Gelman, Simpson, Carpenter, Buerkner 2021). Ranks run over the split halves (without the middle draw of odd chains),
// quantiles over all draws. Folded draws |x - median| are ranked by merging outwards from the median: no second sort.
#pragma once
#include <cstdint>

#include "host/statistics/scratch.hpp"
#include "host/statistics/series.hpp"

namespace kilochain {

/// The draws of one parameter in order, for ranks and quantiles; exact, and linear in time for usual draws.
/// Each value becomes a 32-bit key: t = (x - centre) / scale, u = t / (1 + |t|), key = floor((u + 1) 2^31), monotone in
/// floating point because every step is. Radix sort of key and index, then the few runs of equal keys are put in order
/// by their values, so the result does not depend on how good centre and scale (from a sample) are.
/// Cost: about 20 ns per draw for 2e7 draws; memory 16 n bytes of scratch beside the result.
struct Sorted {
  Scratch<double> values;        ///< [n] ascending
  Scratch<std::uint32_t> index;  ///< [n] where each came from; equal values in no promised order
};

/// Sorts n finite values (a NaN has no place in an order: check first). Throws Error for n >= 2^32.
Sorted argsort(const double* values, std::int64_t n);

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
  std::vector<Sums> folded_sums() const;
  template <class Visit>
  void each_score(Visit visit) const;
  template <class Visit>
  void each_folded_score(Visit visit) const;

  std::int64_t chains_, draws_, half_;
  Sorted all_, without_middle_;
  const double* split_values_;        // ascending, those in the halves
  const std::uint32_t* split_place_;  // where in [2 * chains][half] each belongs
  std::int64_t split_size_;
};

/// Linear interpolation in n ascending values; the quantile rule of RankedDraws.
double quantile_of_sorted(const double* sorted, std::int64_t n, double p);

}  // namespace kilochain
