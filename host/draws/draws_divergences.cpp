// The points where trajectories diverged, beside the statistics of the draws: variables over a dimension of their own,
// made with the first of them.
#include <algorithm>

#include "host/draws/draws_guarded.hpp"

namespace kilochain {

using netcdf::check;
using netcdf::define_dim;
using netcdf::find_variable;
using netcdf::shape_of;

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
    const int group = sample_stats_;
    if (group < 0 || !netcdf::has_variable(group, "divergence_chain")) return out;
    const int chain = find_variable(group, "divergence_chain"), draw = find_variable(group, "divergence_draw"),
              point = find_variable(group, "divergence_point");
    const std::int64_t count = shape_of(group, chain).at(0), width = std::ssize(header_.names);
    if (shape_of(group, draw) != std::vector{count} || shape_of(group, point) != std::vector{count, width})
      throw netcdf::Failure{NC_EDIMSIZE};
    std::vector<long long> chains(count), draws(count);
    std::vector<double> points(count * width);
    check(nc_get_var_longlong(group, chain, chains.data()));
    check(nc_get_var_longlong(group, draw, draws.data()));
    check(nc_get_var_double(group, point, points.data()));
    for (std::int64_t k = 0; k < std::ssize(draws); ++k) {
      const auto first = points.begin() + k * width;
      if (draws[k] < written_)  // a killed run may have left points of draws that are not in the file
        out.push_back({chains[k], draws[k], {first, first + width}});
    }
    return out;
  });
}

}  // namespace kilochain
