// What a file of draws consists of: its groups, dimensions, variables and the attributes known before the first draw.
#include "host/draws/draws_groups.hpp"

#include <fmt/chrono.h>

#include <algorithm>
#include <ctime>
#include <map>

#include "base/error.hpp"
#include "base/version.hpp"
#include "host/draws/draws_chunks.hpp"
#include "host/draws/draws_file.hpp"
#include "host/draws/netcdf.hpp"

namespace kilochain {

using draws_detail::define_group;
using netcdf::check;
using netcdf::define_dim;
using netcdf::put_indices;
using netcdf::put_labels;

namespace {

/// The attributes of the file and every group that say what made it.
void put_origin(int group) {
  netcdf::put_attribute(group, "created_at",
                        fmt::format("{:%Y-%m-%dT%H:%M:%S+00:00}", fmt::gmtime(std::time(nullptr))));
  netcdf::put_attribute(group, "inference_library", "kilochain");
  netcdf::put_attribute(group, "inference_library_version", version());
}

void put_header(int group, const DrawsHeader& header) {
  if (header.config.is_object()) {
    for (const auto& [name, value] : header.config.items()) netcdf::put_attribute(group, name, value);
  }
  const nlohmann::json facts = {{"target", header.target},
                                {"sampler", header.sampler},
                                {"num_chains", header.num_chains},
                                {"num_warmup", header.num_warmup},
                                {"num_samples", header.num_samples},
                                {"thin", header.thin},
                                {"seed", header.seed},
                                {"real", name_of(header.real)},
                                {"variable", header.variable},
                                {"variables", nlohmann::json(header.variables).dump()},
                                {"configuration", header.config.dump()}};
  for (const auto& [name, value] : facts.items()) netcdf::put_attribute(group, name, value);
}

/// A variable over chain, draw (and parameter) whose missing part reads as NaN.
template <class Real>
int define_real(int group, const std::string& name, const std::vector<int>& dims, const ChunkShape& shape) {
  const Real missing = missing_value<Real>();
  const int variable = netcdf::define_chunked(group, name, std::is_same_v<Real, float> ? NC_FLOAT : NC_DOUBLE, dims,
                                              {shape.chains, shape.draws, shape.parameters});
  check(nc_def_var_fill(group, variable, NC_FILL, &missing));
  return variable;
}

/// "age" of "w[age]": ArviZ puts the variable and the brackets around a label itself. Other names stay.
std::vector<std::string> without_variable(const std::string& variable, std::vector<std::string> names) {
  const std::string begin = variable + '[';
  const auto is_inside = [&](const std::string& name) { return name.starts_with(begin) && name.ends_with(']'); };
  if (std::all_of(names.begin(), names.end(), is_inside))
    for (std::string& name : names) name = name.substr(begin.size(), name.size() - begin.size() - 1);
  return names;
}

bool are_indices(const std::vector<std::string>& labels) {
  for (std::size_t k = 0; k < labels.size(); ++k)
    if (labels[k] != std::to_string(k)) return false;
  return true;
}

}  // namespace

namespace draws_detail {

void require_header(const std::string& path, const DrawsHeader& h) {
  const auto wrong = [&](bool ok, const std::string& what, const std::string& where, const std::string& fix) {
    require(ok, ExitStatus::usage, path + ": " + what, where, fix);
  };
  wrong(h.num_chains > 0, "no chains to write", "num_chains " + std::to_string(h.num_chains), "Set --num-chains?");
  wrong(h.num_samples > 0, "no draws to write", "num_samples " + std::to_string(h.num_samples), "Set --num-samples?");
  wrong(!h.names.empty(), "no coordinates to write", "0 names", "Is the target's dimension 0?");
  std::int64_t of_variables = 0;
  for (const auto& [name, size] : h.variables) of_variables += std::max<std::int64_t>(size, 1);
  wrong(h.variables.empty() || of_variables == std::ssize(h.names), "variables and names do not go together",
        std::to_string(of_variables) + " values of variables, " + std::to_string(h.names.size()) + " names",
        "Does the target name every recorded value?");
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < h.names.size(); ++i) {
    const auto [first, added] = seen.emplace(h.names[i], i);
    wrong(added, "two coordinates have the name \"" + h.names[i] + "\"",
          "coordinates " + std::to_string(first->second) + " and " + std::to_string(i), "Rename one of the columns?");
  }
}

std::string header_hash(const nlohmann::json& attributes, const std::vector<std::string>& names) {
  nlohmann::json of = names;
  for (const char* key : {"target", "sampler", "num_chains", "thin", "seed", "real", "variable", "variables",
                          "configuration", "kept_draws", "stats", "inputs", "groups"})
    if (attributes.contains(key)) of.push_back(attributes.at(key));
  return hash_text(of.dump());
}

int define_group(int file, const std::string& name) {
  int group = -1;
  check(nc_def_grp(file, name.c_str(), &group));
  put_origin(group);
  return group;
}

}  // namespace draws_detail

void DrawsWriter::define() {
  check(nc_set_fill(file_, NC_FILL, nullptr));
  put_origin(file_);
  put_header(file_, header_);
  netcdf::put_attribute(file_, "kilochain_draws_format", 1);
  if (header_.inputs) netcdf::put_attribute(file_, "inputs", nlohmann::json(*header_.inputs).dump());
  if (!header_.groups.empty()) netcdf::put_attribute(file_, "groups", nlohmann::json(header_.groups).dump());
  netcdf::put_attribute(file_, "kept_draws", name_of(header_.kept));
  if (!header_.stats.empty()) netcdf::put_attribute(file_, "stats", nlohmann::json(header_.stats).dump());
  put_labels(file_, define_dim(file_, "parameter", std::ssize(header_.names)), "parameter", header_.names);
  // Names and long texts are where HDF5 has no checksums.
  netcdf::put_attribute(file_, "header_hash", draws_detail::header_hash(netcdf::read_attributes(file_), header_.names));
  written_variable_ = netcdf::define_number(file_, "draws_written", NC_INT64);
  const long long none = 0;
  check(nc_put_var_longlong(file_, written_variable_, &none));
  if (header_.kept != KeptDraws::moments) {
    define_posterior();
    sample_stats_ = define_stats(stats_group(header_));
  }
  if (header_.save_warmup_stats) warmup_stats_ = define_stats("warmup_sample_stats");
}

int DrawsWriter::define_chain_and_draw(int group, int dims[2], std::int64_t num_chains) {
  dims[0] = define_dim(group, "chain", num_chains);
  dims[1] = define_dim(group, "draw", NC_UNLIMITED);
  put_indices(group, dims[0], "chain", num_chains);
  return netcdf::define_chunked(group, "draw", NC_INT64, {dims[1]}, {1024});
}

void DrawsWriter::define_posterior() {
  posterior_ = define_group(file_, draws_group(header_));
  put_header(posterior_, header_);
  int dims[3];
  draw_ = define_chain_and_draw(posterior_, dims, header_.num_chains);
  for (auto& v : variables_) {
    if (v.group == draws_group(header_)) {
      define_variable(v, posterior_, dims);
      continue;
    }
    Apart& apart = apart_[v.group];
    if (apart.group < 0) {
      apart.group = define_group(file_, v.group);
      apart.draw = define_chain_and_draw(apart.group, apart.dims, header_.num_chains);
    }
    define_variable(v, apart.group, apart.dims);
  }
  if (!header_.spins.empty()) define_spins(dims);
}

/// dims: chain and draw, and room for one more.
void DrawsWriter::define_variable(DrawsVariable& v, int group, int dims[3]) {
  if (!v.scalar) {
    const std::string dim = v.name + "_dim";
    dims[2] = define_dim(group, dim, v.size);
    const auto labels =
        without_variable(v.name, {header_.names.begin() + v.first, header_.names.begin() + v.first + v.size});
    if (are_indices(labels))
      put_indices(group, dims[2], dim, v.size);
    else
      put_labels(group, dims[2], dim, labels);
  }
  v.in = group;
  v.id = in_precision(header_.real, [&](auto of) {
    return define_real<decltype(of)>(group, v.name, {dims, dims + (v.scalar ? 2 : 3)}, v.chunk);
  });
}

DrawsWriter::StatsGroup DrawsWriter::define_stats(const std::string& name) {
  StatsGroup out;
  out.chunk = stats_chunk_shape(header_);
  out.group = define_group(file_, name);
  std::vector<int> dims(2);
  out.draw = define_chain_and_draw(out.group, dims.data(), header_.num_chains);
  out.lp = define_real<double>(out.group, "lp", dims, out.chunk);
  out.acceptance_rate = define_real<float>(out.group, "acceptance_rate", dims, out.chunk);
  for (const auto& stat : header_.stats) out.stats.push_back(define_real<float>(out.group, stat, dims, out.chunk));
  out.diverging = netcdf::define_chunked(out.group, "diverging", NC_BYTE, dims, {out.chunk.chains, out.chunk.draws});
  check(nc_put_att_text(out.group, out.diverging, "dtype", 4, "bool"));  // xarray's sign for a boolean
  return out;
}

}  // namespace kilochain
