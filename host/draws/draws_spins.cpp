// The variable `spins` of the posterior: int8 over chain, draw and the axes of a spin model.
#include <algorithm>

#include "host/draws/draws_file.hpp"
#include "host/draws/netcdf.hpp"

namespace kilochain {

using netcdf::check;
using netcdf::define_dim;

/// A variable of bytes whose chunks are some draws of one chain, whole states, about 1 MiB.
void DrawsWriter::define_spins(const int* chain_and_draw) {
  std::vector<int> dims(chain_and_draw, chain_and_draw + 2);
  std::int64_t n = 1;
  for (std::size_t k = 0; k < header_.spins.size(); ++k) {
    n *= header_.spins[k];
    dims.push_back(define_dim(posterior_, "spins_dim_" + std::to_string(k), header_.spins[k]));
  }
  std::vector<std::int64_t> chunk = {1, std::clamp<std::int64_t>((1 << 20) / n, 1, header_.draws_per_append)};
  chunk.insert(chunk.end(), header_.spins.begin(), header_.spins.end());
  spins_ = netcdf::define_chunked(posterior_, "spins", NC_BYTE, dims, chunk);
}

void DrawsWriter::put_spins(std::int64_t first_draw, std::int64_t count, View3<const std::int8_t> spins) {
  std::vector<std::size_t> start(2 + header_.spins.size()), size = {1, static_cast<std::size_t>(count)};
  size.insert(size.end(), header_.spins.begin(), header_.spins.end());
  start[1] = first_draw;
  for (Count c = 0; c < spins.planes; ++c) {
    start[0] = c;
    check(nc_put_vara_schar(posterior_, spins_, start.data(), size.data(),
                            reinterpret_cast<const signed char*>(spins.row(c, 0).data)));
  }
}

}  // namespace kilochain
