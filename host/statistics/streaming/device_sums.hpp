// The sums of a streaming summary on a CUDA device: the same cells, tracks, counts and lags as on the host, in the same
// layout, and draws are added to them where they lie. A (chain, parameter) pair adds its draws one after another in one
// thread, so its floating sums are the host's bits; what is summed over chains are integers, the same in any order.
// Memory: 96 bytes a chain and parameter, 864 a tracked one. Work is queued; only what the host asks for is waited for.
#pragma once
#include <memory>
#include <vector>

#include "host/statistics/streaming/cells.hpp"
#include "kernels/device/context.hpp"

namespace kilochain {

/// Of one parameter.
struct StreamedParameter {
  ScoreMap map;
  ScoreMap::Counts counts{};
  LagSums lags;
  std::int64_t start = 0;  ///< the draw from which scores, blocks and lags are taken
};

/// Where a stretch of draws stands.
struct NewDraws {
  std::int64_t first_chain;      ///< of the batch
  std::int64_t count;            ///< draws of each chain
  std::int64_t before;           ///< draws of each chain that came before
  int block;                     ///< the block that they belong to
  const std::uint8_t* excluded;  ///< of each chain of the batch, on the device: its draws are not added
};

class DeviceSums {
 public:
  virtual ~DeviceSums() = default;
  virtual void upload(const std::vector<Cell>& cells, const std::vector<Track>& tracks,
                      const std::vector<StreamedParameter>& parameters) = 0;
  /// Waits for what is queued. What the host alone has (the maps) stays.
  virtual void download(std::vector<Cell>& cells, std::vector<Track>& tracks,
                        std::vector<StreamedParameter>& parameters) const = 0;
  /// The counts alone: 2 KB a parameter.
  virtual void download_counts(std::vector<StreamedParameter>& parameters) const = 0;
  /// draws(chain of the batch, 0 .. count - 1, parameter), on the device.
  virtual void add(View3<const float> draws, const NewDraws& which) = 0;
  virtual void add(View3<const double> draws, const NewDraws& which) = 0;
  virtual void join(const BlockPlaces& place) = 0;

  static std::size_t bytes(std::int64_t num_chains, std::int64_t dim, std::int64_t tracked);
};

/// tracked: the chains whose lags are followed. Throws Error (device) where there is no room.
std::unique_ptr<DeviceSums> make_device_sums(const Place& place, std::int64_t num_chains, std::int64_t dim,
                                             const std::vector<std::int64_t>& tracked);

}  // namespace kilochain
