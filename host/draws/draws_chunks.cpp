#include "host/draws/draws_chunks.hpp"

namespace kilochain {
namespace {

constexpr std::int64_t kChunkBytes = 1 << 20;
constexpr std::int64_t kMostParameters = 16;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The largest part of at most `most` that splits `total` into nearly equal parts: HDF5 stores the last chunk whole.
std::int64_t even_part(std::int64_t total, std::int64_t most) {
  return ceil_div(total, ceil_div(total, std::clamp<std::int64_t>(most, 1, total)));
}

/// The number of parameters of a chunk: up to kMostParameters, whichever pads the last chunk least.
std::int64_t parameters_of_chunk(std::int64_t dim) {
  if (dim <= kMostParameters) return dim;
  std::int64_t best = kMostParameters;
  for (std::int64_t size = kMostParameters; size >= kMostParameters / 4; --size) {
    if (ceil_div(dim, size) * size < ceil_div(dim, best) * best) best = size;
  }
  return best;
}

std::int64_t draws_of_chunk(const DrawsHeader& header, std::int64_t bytes_of_draw) {
  const std::int64_t window =
      std::clamp<std::int64_t>(header.draws_per_append, 1, std::max<std::int64_t>(1, header.num_samples));
  return even_part(window, kChunkBytes / bytes_of_draw);  // parts of the window, so that no chunk waits for the next
}

}  // namespace

ChunkShape chunk_shape(const DrawsHeader& header, std::int64_t size) {
  const auto bytes = static_cast<std::int64_t>(bytes_of(header.real));
  const std::int64_t parameters = parameters_of_chunk(size);
  const std::int64_t draws = draws_of_chunk(header, bytes * parameters);
  return {even_part(header.num_chains, kChunkBytes / (bytes * parameters * draws)), draws, parameters};
}

ChunkShape stats_chunk_shape(const DrawsHeader& header) {
  const std::int64_t bytes = sizeof(double);
  const std::int64_t draws = draws_of_chunk(header, bytes);
  return {even_part(header.num_chains, kChunkBytes / (bytes * draws)), draws, 1};
}

ChunkShape read_chunk(int group, int variable, std::int64_t num_chains) {
  std::size_t chunk[NC_MAX_VAR_DIMS] = {1, 1, 1};
  int storage = NC_CHUNKED;
  netcdf::check(nc_inq_var_chunking(group, variable, &storage, chunk));
  if (storage != NC_CHUNKED) throw netcdf::Failure{NC_EBADCHUNK};
  const std::int64_t chains = chunk[0], draws = chunk[1], parameters = chunk[2];
  return {std::min(chains, num_chains), draws, netcdf::shape_of(group, variable).size() > 2 ? parameters : 1};
}

std::int64_t touched_elements(const ChunkShape& chunk, std::int64_t num_chains, std::int64_t dim, std::int64_t first,
                              std::int64_t count) {
  const std::int64_t along_draws = (first + count - 1) / chunk.draws - first / chunk.draws + 1;
  return ceil_div(num_chains, chunk.chains) * along_draws * ceil_div(dim, chunk.parameters) * chunk.elements();
}

std::vector<DrawsVariable> variables_of(const DrawsHeader& header) {
  std::vector<DrawsVariable> out;
  const auto add = [&](const std::string& name, bool scalar, std::int64_t first, std::int64_t size) {
    out.push_back({name, scalar, first, size, -1, chunk_shape(header, size), draws_group(header)});
    if (const auto at = header.groups.find(name); at != header.groups.end()) out.back().group = at->second;
  };
  if (header.variables.empty()) add(header.variable, false, 0, std::ssize(header.names));
  std::int64_t first = 0;
  for (const auto& [name, size] : header.variables) {
    add(name, size == 0, first, std::max<std::int64_t>(size, 1));
    first += out.back().size;
  }
  return out;
}

std::int64_t posterior_values(const DrawsHeader& header) {
  std::int64_t count = 0;
  for (const DrawsVariable& v : variables_of(header)) count += v.group == draws_group(header) ? v.size : 0;
  return count;
}

}  // namespace kilochain
