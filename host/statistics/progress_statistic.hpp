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
#include <memory>
#include <vector>

#include "host/statistics/device_progress.hpp"

namespace kilochain {

class ProgressStatistic {
 public:
  ProgressStatistic(std::int64_t num_chains, std::int64_t dim);

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

  /// From now on draws are added on a device, batch by batch of chains; not before some were added here.
  void move_to(const Place& place);
  template <class Real>
  void add_on_device(View3<const Real> draws, std::int64_t first_chain, std::int64_t count,
                     const std::uint8_t* excluded);
  /// All chains have `count` draws more. Leaves what worst_of makes figures of at `to`, on the device.
  void end_stretch(std::int64_t count, ProgressFigures* to);
  /// of[k]: the parameter k that is followed; `draws` of each chain so far.
  Worst worst_of(const ProgressFigures* of, std::int64_t draws) const;

 private:
  template <class Real>
  void add_to_chain(ProgressChain& chain, View3<const Real> draws, std::int64_t count) const;

  std::int64_t num_chains_, num_excluded_ = 0, num_draws_ = 0;
  std::vector<char> excluded_;
  std::vector<ProgressChain> chains_;
  std::vector<std::int64_t> parameters_;
  double shift_[kProgressParameters] = {};  ///< the first draw: squares of what varies, not of where it lies
  ProgressClock clock_;
  std::unique_ptr<DeviceProgress> device_;
};

}  // namespace kilochain
