// What a progress line says about draws as they come: the worst split R-hat and effective sample size so far.
// Of at most 8 parameters and 256 chains, evenly spread, sums of x and x^2 in blocks of 1, 2, 4, ... draws: at most 32
// blocks of each chain, and when all are full neighbours join and blocks become twice as long.
// R-hat: the classic one of split chains (rhat_split), exact, over complete blocks; the last draws, at most one in nine
// once there are 16, wait until theirs are. ESS: S var(x) / (b var(means of b draws)), batch means of at least 64
// batches over all chains where there are as many; standard deviation near 18 %, too large while b is not far beyond
// the autocorrelation time, which R-hat then shows.
// Cost: at most 8 values of each draw are read and added twice, whatever the dimension (about 1 ns each); memory 1 MiB.
#pragma once
#include <cstdint>
#include <vector>

#include "host/statistics/ranks.hpp"
#include "kernels/device/view.hpp"

namespace kilochain {

class ProgressStatistic {
 public:
  ProgressStatistic(std::int64_t num_chains, std::int64_t dim, std::int64_t superchains = 0);

  /// The next `count` draws of every chain: draws(chain, 0 .. count - 1, parameter). `threads` as in OpenMP.
  /// Figures depend neither on threads nor on how draws were cut into windows.
  template <class Real>
  void add(View3<const Real> draws, std::int64_t count, int threads);
  /// The chain, its past included, does not count any more: it is quarantined.
  void exclude(std::int64_t chain);

  struct Worst {
    double rhat_max, ess_min;  ///< ESS in draws of all chains; NaN while a parameter has none
  };
  /// Over the parameters that are followed. Tens of microseconds.
  Worst worst() const;

 private:
  static constexpr int most_parameters = 8, most_blocks = 32, most_chains = 256;
  struct Sums {
    double x = 0, square = 0;  ///< of x - shift and its square
  };
  struct Chain {
    std::int64_t number;
    bool excluded = false;
    Sums blocks[most_blocks][most_parameters];
  };

  template <class Real>
  void add_to_block(Chain& chain, View3<const Real> draws, std::int64_t first, std::int64_t count) const;
  void join_blocks();
  struct Rows {
    std::vector<double> means;
    std::int64_t length;
    double mean_square;
  };
  Rows rows(int parameter, int blocks_of_row, int rows_of_chain) const;

  std::int64_t superchains_, num_chains_, num_excluded_ = 0, num_draws_ = 0;
  std::vector<char> excluded_;
  std::vector<Chain> chains_;
  std::vector<std::int64_t> parameters_;
  double shift_[most_parameters] = {};         ///< the first draw: squares of what varies, not of where it lies
  int complete_ = 0;                           ///< blocks
  std::int64_t block_draws_ = 1, filled_ = 0;  ///< draws of a block; of the one after the complete ones
};

}  // namespace kilochain
