// The points where trajectories diverged, beside the statistics of the draws: variables over a dimension of their own,
// made with the first of them.
#include <algorithm>

#include "host/draws/draws_guarded.hpp"

namespace kilochain {

using netcdf::check;
using netcdf::define_dim;

void DrawsWriter::put_divergences(const std::vector<Divergence>& divergences) {
  const int group = sample_stats_.group;
  const std::int64_t width = std::ssize(header_.names);
  DivergenceVariables& to = divergence_;
  if (to.chain < 0) {
    const int dims[2] = {define_dim(group, "divergence", NC_UNLIMITED),
                         define_dim(group, "divergence_point_dim", width)};
    netcdf::put_labels(group, dims[1], "divergence_point_dim", header_.names);
    to.chain = netcdf::define_chunked(group, "divergence_chain", NC_INT64, {dims[0]}, {256});
    to.draw = netcdf::define_chunked(group, "divergence_draw", NC_INT64, {dims[0]}, {256});
    to.point = netcdf::define_chunked(group, "divergence_point", NC_DOUBLE, {dims[0], dims[1]},
                                      {std::max<std::int64_t>(1, 8192 / width), width});
  }
  std::vector<long long> chains, draws;
  std::vector<double> points;
  for (const Divergence& d : divergences) {
    chains.push_back(d.chain), draws.push_back(d.draw);
    points.insert(points.end(), d.point.begin(), d.point.end());
  }
  const std::size_t start[2] = {to.written, 0}, count[2] = {divergences.size(), header_.names.size()};
  check(nc_put_vara_longlong(group, to.chain, start, count, chains.data()));
  check(nc_put_vara_longlong(group, to.draw, start, count, draws.data()));
  check(nc_put_vara_double(group, to.point, start, count, points.data()));
  to.written += divergences.size();
}

std::vector<Divergence> DrawsReader::divergences() const {
  return guarded("the divergences", [&] {
    std::vector<Divergence> out;
    int chain = -1, draw = -1, point = -1, dim = -1;
    if (sample_stats_ < 0 || nc_inq_varid(sample_stats_, "divergence_chain", &chain) != NC_NOERR) return out;
    check(nc_inq_varid(sample_stats_, "divergence_draw", &draw));
    check(nc_inq_varid(sample_stats_, "divergence_point", &point));
    std::size_t count = 0;
    check(nc_inq_dimid(sample_stats_, "divergence", &dim));
    check(nc_inq_dimlen(sample_stats_, dim, &count));
    const std::int64_t width = std::ssize(header_.names);
    std::vector<long long> chains(count), draws(count);
    std::vector<double> points(count * width);
    check(nc_get_var_longlong(sample_stats_, chain, chains.data()));
    check(nc_get_var_longlong(sample_stats_, draw, draws.data()));
    check(nc_get_var_double(sample_stats_, point, points.data()));
    for (std::int64_t k = 0; k < std::ssize(draws); ++k) {
      const auto first = points.begin() + k * width;
      if (draws[k] < written_)  // a killed run may have left points of draws that are not in the file
        out.push_back({chains[k], draws[k], {first, first + width}});
    }
    return out;
  });
}

}  // namespace kilochain
