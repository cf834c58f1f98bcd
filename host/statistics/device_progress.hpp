// The sums of ProgressStatistic on a CUDA device: the bodies of progress_sums.hpp in kernels.
#pragma once
#include <memory>
#include <vector>

#include "host/statistics/progress_sums.hpp"
#include "kernels/device/context.hpp"

namespace kilochain {

/// Work is queued; nothing is waited for.
class DeviceProgress {
 public:
  virtual ~DeviceProgress() = default;
  /// draws(chain of the batch that begins with first_chain, draw, parameter); a chain with excluded[chain of the batch] does
  /// not count any more.
  virtual void add(View3<const float> draws, std::int64_t first_chain, std::int64_t count, const ProgressClock& at,
                   const std::uint8_t* excluded) = 0;
  virtual void add(View3<const double> draws, std::int64_t first_chain, std::int64_t count, const ProgressClock& at,
                   const std::uint8_t* excluded) = 0;
  /// Leaves the figures of each parameter at `to`, on the device.
  virtual void figures(const ProgressClock& at, ProgressFigures* to) = 0;
};

/// shift: of each parameter.
std::unique_ptr<DeviceProgress> make_device_progress(const Place& place, const std::vector<ProgressChain>& chains,
                                                     const std::vector<std::int64_t>& parameters, const double* shift);

}  // namespace kilochain
