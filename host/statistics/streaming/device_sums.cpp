#include "host/statistics/streaming/device_sums.hpp"

namespace kilochain {

std::size_t DeviceSums::bytes(std::int64_t num_chains, std::int64_t dim, std::int64_t tracked) {
  const Tile last = tile_at(num_tiles(dim) - 1, num_chains, dim);
  const auto count = [](std::int64_t of, std::size_t one) { return static_cast<std::size_t>(of) * one; };
  return count(last.first_cell + last.num_cells, sizeof(Cell)) + count(tracked * dim, sizeof(Track)) +
         count(dim, sizeof(ScoreMap) + sizeof(ScoreMap::Counts) + sizeof(LagSums));
}

#if !defined(KILOCHAIN_HAS_CUDA)
std::unique_ptr<DeviceSums> make_device_sums(const Place&, std::int64_t, std::int64_t,
                                             const std::vector<std::int64_t>&) {
  throw Error(ExitStatus::usage, "no CUDA device", cuda_unavailable(), "Run with --device cpu?");
}
#endif

}  // namespace kilochain
