// The last draws of a warm-up that was stopped: written once, read in place of draws. Group warmup_posterior has the
// attributes last_of_warmup, their first and last iteration, and of_scouts.
#include <algorithm>

#include "base/error.hpp"
#include "host/draws/draws_chunks.hpp"
#include "host/draws/draws_groups.hpp"
#include "host/draws/draws_guarded.hpp"

namespace kilochain {

using netcdf::check;
using netcdf::find_group;
using netcdf::find_variable;

namespace {
constexpr const char* kPosterior = "warmup_posterior";
constexpr const char* kStats = "warmup_sample_stats";
}  // namespace

template <class Real>
void DrawsWriter::write_last_of_warmup(const Window<Real>& window, const std::vector<std::int64_t>& iterations,
                                       const LastOfWarmup& which) {
  DrawsHeader h = header_;
  h.num_chains = window.lp.rows, h.draws_per_append = h.num_samples = window.count;
  const std::int64_t values = std::ssize(header_.names);
  reserve(2 * h.num_chains * window.count * (values * static_cast<std::int64_t>(sizeof(Real)) + 12), 0, 0);
  guarded("the last draws of the warm-up", [&] {
    const std::vector<long long> numbers(iterations.begin(), iterations.end());
    const std::size_t start = 0, count = numbers.size();
    const auto group_of_last = [&](const char* name, int dims[2]) {
      const int group = draws_detail::define_group(file_, name);
      const int draw = define_chain_and_draw(group, dims, h.num_chains);
      check(nc_put_vara_longlong(group, draw, &start, &count, numbers.data()));
      return group;
    };
    int dims[3];
    const int group = group_of_last(kPosterior, dims);
    netcdf::put_attribute(group, "last_of_warmup", {which.from, which.to});
    netcdf::put_attribute(group, "of_scouts", which.of_scouts);
    for (DrawsVariable& v : variables_of(h)) {
      if (v.group != draws_group(h)) continue;
      define_variable(v, group, dims);
      put_window(ChunkedVariable{group, v.id, h.num_chains, v.size, v.chunk}, window.draws.data + v.first, values,
                 window.capacity(), 0, window.count, scratch_);
    }
    if (!header_.save_warmup_stats) {
      const int stats = group_of_last(kStats, dims);
      const ChunkShape chunk = stats_chunk_shape(h);
      const auto put = [&](const char* name, nc_type type, const auto* from) {
        const int id = netcdf::define_chunked(stats, name, type, {dims[0], dims[1]}, {chunk.chains, chunk.draws});
        put_window(ChunkedVariable{stats, id, h.num_chains, 1, chunk}, from, 1, window.capacity(), 0, window.count,
                   scratch_);
      };
      put("lp", NC_DOUBLE, window.lp.data);
      put("acceptance_rate", NC_FLOAT, window.acceptance_rate.data);
    }
    check(nc_sync(file_));
  });
}

/// Their statistics are among those of all iterations, or have a group of their own.
void DrawsReader::take_last_of_warmup() {
  const int group = find_group(file_, kPosterior), stats = find_group(file_, kStats);
  if (group < 0 || stats < 0) return;
  const auto size = [](int of) { return netcdf::shape_of(of, find_variable(of, "draw")).at(0); };
  iterations_.resize(static_cast<std::size_t>(size(group)));
  check(nc_get_var_longlong(group, find_variable(group, "draw"), iterations_.data()));
  const bool own = size(stats) == std::ssize(iterations_);
  const auto attributes = netcdf::read_attributes(group);
  const auto [from, to] = attributes.at("last_of_warmup").get<std::array<std::int64_t, 2>>();
  if (!own && size(stats) <= to) return;
  last_of_warmup_ = LastOfWarmup{from, to, std::ssize(iterations_), attributes.at("of_scouts").get<int>() != 0};
  header_.names.resize(static_cast<std::size_t>(posterior_values(header_)));
  std::erase_if(header_.variables, [&](const auto& v) { return header_.groups.contains(v.first); });
  header_.groups.clear(), header_.stats.clear(), header_.spins.clear();
  header_.thin = 1;
  header_.num_chains = netcdf::shape_of(group, find_variable(group, "chain")).at(0);
  posterior_ = group, sample_stats_ = stats;
  if (own) iterations_.clear();
}

template void DrawsWriter::write_last_of_warmup(const Window<float>&, const std::vector<std::int64_t>&,
                                                const LastOfWarmup&);
template void DrawsWriter::write_last_of_warmup(const Window<double>&, const std::vector<std::int64_t>&,
                                                const LastOfWarmup&);

}  // namespace kilochain
