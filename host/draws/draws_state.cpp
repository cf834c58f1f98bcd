// Resuming: opening a file again, and the state of the run in it. This is written in turn to one of two variables of
// the root, and only then named the latest: a killed process leaves the one before.
#include <algorithm>
#include <filesystem>

#include "host/draws/disk_space.hpp"
#include "host/draws/draws_chunks.hpp"
#include "host/draws/draws_guarded.hpp"

namespace kilochain {

using netcdf::check;
using netcdf::define_dim;
using netcdf::find_group;
using netcdf::find_variable;
using netcdf::has_variable;

namespace {

constexpr const char* kBytes[2] = {"run_state_0", "run_state_1"};
constexpr const char* kSize[2] = {"run_state_0_size", "run_state_1_size"};
constexpr const char* kLatest = "run_state_latest";

void delete_attribute(int group, const char* name) {
  if (const int status = nc_del_att(group, NC_GLOBAL, name); status != NC_ENOTATT) check(status);
}

void open_all(int group) {
  int count = 0;
  check(nc_inq_nvars(group, &count));
  for (int variable = 0; variable < count; ++variable) netcdf::shape_of(group, variable);
}

}  // namespace

DrawsWriter::DrawsWriter(std::string path, std::int64_t draws_written)
    : path_(std::move(path)), identity_(identity_of(path_)), written_(draws_written) {
  const auto lock = netcdf::alone();
  {
    const DrawsReader reader(path_);  // and closed again: HDF5 locks a file that is read
    header_ = reader.header();
    require(reader.has_draws() && draws_written <= reader.draws_written(), ExitStatus::usage,
            path_ + ": the file has fewer draws than the state of its chains says",
            std::to_string(reader.draws_written()) + " of " + std::to_string(draws_written),
            "Was the file changed by another program?");
    on_disk_ = reader.draws_written();
  }
  variables_ = variables_of(header_);
  const std::string why = is_open_elsewhere(path_) ? "another program has it open" : why_not_writable(path_);
  require(why.empty(), ExitStatus::usage, path_ + ": no draws can be added to it", why,
          "May it be written, and is it closed everywhere else?");
  reserve(0, 0, 0);  // what cannot grow is not touched
  try {
    check(netcdf::open(path_, NC_WRITE, &file_));
    journal_ = std::make_unique<Journal>(followed(path_));
    find();
    // A run that is resumed has not ended: should it be killed, only the draws say how far it came.
    for (const int group : {file_, posterior_}) delete_attribute(group, "interrupted");
    check(nc_sync(file_));
    journal_->commit();
  } catch (const netcdf::Failure& failure) {
    lost_ = true;
    if (file_ >= 0) close();
    throw Error(ExitStatus::usage, path_ + ": no draws can be added to it", netcdf::reason(failure.status),
                "Is it open in another program?");
  }
}

/// The ids of what another writer has defined. All variables are opened here: windows are written by other threads,
/// where the library prints what it does not find when it opens one.
void DrawsWriter::find() {
  written_variable_ = find_variable(file_, "draws_written");
  posterior_ = find_group(file_, draws_group(header_));
  draw_ = find_variable(posterior_, "draw");
  for (auto& v : variables_) {
    v.in = find_group(file_, v.group);
    v.id = find_variable(v.in, v.name);
    v.chunk = read_chunk(v.in, v.id, header_.num_chains);
    if (v.group != draws_group(header_))
      apart_[v.group].group = v.in, apart_[v.group].draw = find_variable(v.in, "draw");
  }
  if (!header_.spins.empty()) spins_ = find_variable(posterior_, "spins");
  StatsGroup& s = sample_stats_;
  s.group = find_group(file_, stats_group(header_));
  s.draw = find_variable(s.group, "draw");
  s.lp = find_variable(s.group, "lp");
  s.acceptance_rate = find_variable(s.group, "acceptance_rate");
  s.diverging = find_variable(s.group, "diverging");
  for (const auto& stat : header_.stats) s.stats.push_back(find_variable(s.group, stat));
  s.chunk = read_chunk(s.group, s.lp, header_.num_chains);
  if (has_variable(s.group, "divergence_chain")) {
    DivergenceVariables& d = divergence_;
    d.chain = find_variable(s.group, "divergence_chain");
    d.draw = find_variable(s.group, "divergence_draw");
    d.point = find_variable(s.group, "divergence_point");
    std::vector<long long> draws(netcdf::shape_of(s.group, d.draw).at(0));
    if (!draws.empty()) check(nc_get_var_longlong(s.group, d.draw, draws.data()));
    d.written = std::count_if(draws.begin(), draws.end(), [&](long long draw) { return draw < written_; });
  }
  for (const int group : {file_, posterior_, sample_stats_.group}) open_all(group);
  for (const auto& [name, apart] : apart_) open_all(apart.group);
  if (!has_variable(file_, kLatest)) return;
  for (int k = 0; k < 2; ++k) {
    state_.bytes[k] = find_variable(file_, kBytes[k]);
    state_.size[k] = find_variable(file_, kSize[k]);
  }
  state_.latest = find_variable(file_, kLatest);
  check(nc_get_var_int(file_, state_.latest, &state_.now));
}

bool DrawsWriter::save_state(const std::vector<char>& bytes) {
  const std::int64_t chunk = 1 << 16;
  if (!reserve_disk_space(path_, (std::ssize(bytes) / chunk + 2) * chunk).empty()) return false;
  guarded("the state of the chains", [&] {
    StateVariables& s = state_;
    if (s.latest < 0) {
      for (int k = 0; k < 2; ++k) {
        const int dim = define_dim(file_, std::string(kBytes[k]) + "_byte", NC_UNLIMITED);
        s.bytes[k] = netcdf::define_chunked(file_, kBytes[k], NC_BYTE, {dim}, {chunk});
        s.size[k] = netcdf::define_number(file_, kSize[k], NC_INT64);
      }
      s.latest = netcdf::define_number(file_, kLatest, NC_INT);
      check(nc_put_var_int(file_, s.latest, &s.now));
    }
    const int next = s.now == 0 ? 1 : 0;
    const std::size_t start = 0, count = bytes.size();
    check(nc_put_vara_schar(file_, s.bytes[next], &start, &count, reinterpret_cast<const signed char*>(bytes.data())));
    const long long size = std::ssize(bytes);
    check(nc_put_var_longlong(file_, s.size[next], &size));
    check(nc_sync(file_));
    check(nc_put_var_int(file_, s.latest, &next));
    check(nc_sync(file_));
    s.now = next;
  });
  return true;
}

std::vector<char> DrawsReader::state() const {
  return guarded("the state of the chains", [&] {
    std::vector<char> bytes;
    if (!has_variable(file_, kLatest)) return bytes;
    int latest = -1;
    check(nc_get_var_int(file_, find_variable(file_, kLatest), &latest));
    if (latest == -1) return bytes;
    require_whole(latest == 0 || latest == 1, std::string(kLatest) + " = " + std::to_string(latest) + ", not 0 or 1");
    long long size = 0;
    check(nc_get_var_longlong(file_, find_variable(file_, kSize[latest]), &size));
    const std::int64_t there = netcdf::shape_of(file_, find_variable(file_, kBytes[latest])).at(0);
    require_whole(size >= 0 && size <= there, std::string(kSize[latest]) + " = " + std::to_string(size) + " of " +
                                                  std::to_string(there) + " bytes");
    const std::size_t start = 0, count = size;
    bytes.resize(count);
    check(nc_get_vara_schar(file_, find_variable(file_, kBytes[latest]), &start, &count,
                            reinterpret_cast<signed char*>(bytes.data())));
    return bytes;
  });
}

}  // namespace kilochain
