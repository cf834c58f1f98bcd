// Chunks of the variables over [chain][draw] and [chain][draw][parameter]: their shape, and whole chunks in and out.
// A whole chunk to or from contiguous memory is the one case in which HDF5 neither gathers nor reads before it writes,
// so the gathering is done here, one chunk at a time. Figures: docs/decisions/0003-draws-on-disk.md.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

#include "host/draws/draws_file.hpp"
#include "host/draws/netcdf.hpp"

namespace kilochain {

/// Shape of the chunks of a variable of `size` parameters: about 1 MiB, the draws of one append, few parameters.
ChunkShape chunk_shape(const DrawsHeader& header, std::int64_t size);
/// Shape of the chunks of a statistic; its parameters are 1.
ChunkShape stats_chunk_shape(const DrawsHeader& header);
/// Shape of the chunks that a file has.
ChunkShape read_chunk(int group, int variable, std::int64_t num_chains);
/// Elements of all chunks that draws first .. first + count - 1 touch.
std::int64_t touched_elements(const ChunkShape& chunk, std::int64_t num_chains, std::int64_t dim, std::int64_t first,
                              std::int64_t count);

/// What stands where nothing was written: a NaN that no arithmetic makes, NetCDF's own for flags.
template <class Value>
constexpr Value missing_value() {
  if constexpr (std::is_same_v<Value, double>) return std::bit_cast<double>(std::uint64_t{0x7ff86d697373696e});
  if constexpr (std::is_same_v<Value, float>) return std::bit_cast<float>(std::uint32_t{0x7fc06d69});
  if constexpr (std::is_same_v<Value, std::int8_t>) return NC_FILL_BYTE;
}

/// A variable over [chain][draw][parameter], or over [chain][draw] when dim is 1 and the chunk's parameters are 1.
struct ChunkedVariable {
  int group, variable;
  std::int64_t num_chains, dim;
  ChunkShape chunk;
};

/// Calls body(start, count) for each chunk, or part of one, within draws [t0, t1) and parameters [p0, p1).
template <class Body>
void for_each_chunk(const ChunkedVariable& v, std::int64_t t0, std::int64_t t1, std::int64_t p0, std::int64_t p1,
                    Body body) {
  const auto end = [](std::int64_t at, std::int64_t step, std::int64_t limit) {
    return std::min((at / step + 1) * step, limit);
  };
  for (std::int64_t c = 0, c_end = 0; c < v.num_chains; c = c_end) {
    c_end = end(c, v.chunk.chains, v.num_chains);
    for (std::int64_t t = t0, t_end = 0; t < t1; t = t_end) {
      t_end = end(t, v.chunk.draws, t1);
      for (std::int64_t p = p0, p_end = 0; p < p1; p = p_end) {
        p_end = end(p, v.chunk.parameters, p1);
        body(std::array{c, t, p}, std::array{c_end - c, t_end - t, p_end - p});
      }
    }
  }
}

/// Writes source[chain][capacity][row], the first v.dim of each row, as draws first .. first + count - 1.
template <class Value>
void put_window(const ChunkedVariable& v, const Value* source, std::int64_t row, std::int64_t capacity,
                std::int64_t first, std::int64_t count, std::vector<std::byte>& scratch) {
  scratch.resize(v.chunk.elements() * sizeof(Value));
  auto* const packed = reinterpret_cast<Value*>(scratch.data());
  for_each_chunk(v, first, first + count, 0, v.dim, [&](const auto& start, const auto& size) {
    Value* to = packed;
    for (std::int64_t c = 0; c < size[0]; ++c) {
      const Value* from = source + ((start[0] + c) * capacity + start[1] - first) * row + start[2];
      for (std::int64_t t = 0; t < size[1]; ++t, from += row) to = std::copy(from, from + size[2], to);
    }
    netcdf::check(nc_put_vara(v.group, v.variable, netcdf::sizes(start).data(), netcdf::sizes(size).data(), packed));
  });
}

/// Converts where the file has another type: a call without a type would write past `to`.
inline int get_part(int group, int variable, const std::size_t* start, const std::size_t* size, double* to) {
  return nc_get_vara_double(group, variable, start, size, to);
}
inline int get_part(int group, int variable, const std::size_t* start, const std::size_t* size, float* to) {
  return nc_get_vara_float(group, variable, start, size, to);
}
inline int get_part(int group, int variable, const std::size_t* start, const std::size_t* size, std::int8_t* to) {
  return nc_get_vara_schar(group, variable, start, size, to);
}

/// Reads parameters [p0, p1) of draws [0, num_draws) into out[parameter - p0][chain][draw].
template <class Value, class Out>
void get_transposed(const ChunkedVariable& v, std::int64_t num_draws, std::int64_t p0, std::int64_t p1, Out* out) {
  std::vector<Value> packed(v.chunk.elements());
  for_each_chunk(v, 0, num_draws, p0, p1, [&](const auto& start, const auto& size) {
    netcdf::check(
        get_part(v.group, v.variable, netcdf::sizes(start).data(), netcdf::sizes(size).data(), packed.data()));
    constexpr Value missing = missing_value<Value>();  // an index of chunks that is damaged loses chunks silently
    if (std::memcmp(packed.data(), &missing, sizeof missing) == 0) throw netcdf::Failure{NC_EHDFERR};
    for (std::int64_t p = 0; p < size[2]; ++p) {
      for (std::int64_t c = 0; c < size[0]; ++c) {
        const Value* from = packed.data() + c * size[1] * size[2] + p;
        Out* to = out + ((start[2] - p0 + p) * v.num_chains + start[0] + c) * num_draws + start[1];
        for (std::int64_t t = 0; t < size[1]; ++t) to[t] = from[t * size[2]];
      }
    }
  });
}

}  // namespace kilochain
