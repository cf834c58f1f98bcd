#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "host/draws/disk_space.hpp"
#include "host/draws/draws_chunks.hpp"
#include "host/draws/draws_file.hpp"
#include "host/draws/draws_groups.hpp"
#include "host/draws/draws_guarded.hpp"
#include "host/draws/journal.hpp"
#include "host/draws/unbroken.hpp"

namespace kilochain {
namespace {

using netcdf::check;
using netcdf::define_dim;
using netcdf::put_labels;

constexpr const char* unreadable = "it cannot be read";
constexpr std::int64_t kMargin = 1 << 18;  // kept free for HDF5's own tables and the closing attributes

/// Of one draw of one chain: lp, a flag, and floats; with some room.
std::int64_t bytes_of_stats(const DrawsHeader& header) {
  return 9 + (2 + std::ssize(header.stats)) * std::int64_t{sizeof(float)};
}

/// What would be lost with a file of draws, in words; empty: nothing. Throws where another program made the file.
std::string lost_with(const std::string& path) {
  int file = -1, id = -1;
  std::error_code none;
  if (std::filesystem::file_size(path, none) == 0 || none) return "";
  if (netcdf::open(path, NC_NOWRITE, &file) != NC_NOERR) return unreadable;
  const bool ours = nc_inq_attid(file, NC_GLOBAL, "kilochain_draws_format", &id) == NC_NOERR,
             summary = netcdf::find_group(file, "summary") >= 0;
  long long draws = 0;
  if (nc_inq_varid(file, "draws_written", &id) == NC_NOERR) nc_get_var_longlong(file, id, &draws);
  nc_close(file);
  require(ours, ExitStatus::usage, path + ": the draws cannot be written there",
          "the file is there already and another program made it", "Choose another --output?");
  return draws > 0 ? std::to_string(draws) + " draws of each chain" : summary ? "a summary" : "";
}

/// Bytes of the names and of what each chain has before the first draw, with some room.
std::int64_t bytes_of_header(const DrawsHeader& header) {
  std::int64_t bytes = 64 * header.num_chains;
  for (const std::string& name : header.names) bytes += 4 * (std::ssize(name) + 16);
  return bytes;
}

}  // namespace

DrawsWriter::DrawsWriter(std::string path, DrawsHeader header, bool overwrite)
    : path_(std::move(path)), header_(std::move(header)) {
  const auto lock = netcdf::alone();
  draws_detail::require_header(path_, header_);
  variables_ = variables_of(header_);
  const std::string place = followed(path_), made = place + "." + std::to_string(::getpid()) + ".new";
  const auto require_writable = [&](const std::string& why) {
    require(why.empty(), ExitStatus::usage, path_ + ": the draws cannot be written there", why,
            "Choose another --output?");
  };
  require_writable(why_not_writable(place));
  require_writable(is_open_elsewhere(place) ? "another program has it open" : "");
  roll_back(place);
  const std::string lost = lost_with(place);
  require(overwrite || lost.empty(), ExitStatus::usage, path_ + ": a file of draws is there already", lost,
          (lost == unreadable ? "R" : "Go on with it by `kilochain resume " + path_ + "`, or r") +
              "eplace it with --overwrite?");
  const Unbroken unbroken;
  try {
    std::ofstream(made).close();
    reserve_at(made, bytes_of_header(header_), 0, 0);
    check(nc_create(made.c_str(), NC_NETCDF4, &file_));
    identity_ = identity_of(made);
    define();
    check(nc_sync(file_));
    reserve_at(made, 0, 0, 0);
    require_writable(rename_unlocked(made, place));
    journal_ = std::make_unique<Journal>(place);
  } catch (...) {
    if (file_ >= 0) nc_close(file_);
    ::unlink(made.c_str());
    try {
      throw;
    } catch (const netcdf::Failure& failure) {
      throw Error(ExitStatus::usage, path_ + ": the file of draws cannot be made", netcdf::reason(failure.status),
                  "Choose another --output, or close the program that has it open?");
    }
  }
}

DrawsWriter::~DrawsWriter() {
  if (file_ < 0) return;
  const auto lock = netcdf::alone();
  const Unbroken unbroken;
  close();
  if (identity_of(path_) == identity_) release_disk_space(path_);
}

/// After a write that failed the file is brought back to what it was before.
int DrawsWriter::close() {
  const int status = nc_close(std::exchange(file_, -1));
  if (journal_ && status == NC_NOERR && !lost_) journal_->commit();
  journal_.reset();
  return status;
}

void DrawsWriter::require_there() const {
  require(identity_of(path_) == identity_, ExitStatus::output, path_ + ": the file of draws is gone",
          "another program has removed it, or put another in its place, while " + std::to_string(written_) +
              " draws of each chain were written",
          "Does another run have the same --output?");
}

/// Throws unless `bytes` and the margin fit on the disk. HDF5 leaves a file that it cannot extend half changed, so it
/// is never asked to.
void DrawsWriter::reserve(std::int64_t bytes, std::int64_t first_draw, std::int64_t count) {
  require_there();
  reserve_at(path_, bytes, first_draw, count);
}

void DrawsWriter::reserve_at(const std::string& place, std::int64_t bytes, std::int64_t first_draw,
                             std::int64_t count) const {
  const std::int64_t room = bytes + bytes / 16 + kMargin;
  std::string why = reserve_disk_space(place, room);
  if (why.empty() && journal_)
    why = reserve_disk_space(journal_->path(), room);  // for windows that do not fit the chunks
  if (why.empty()) return;
  const std::string what = count == 0 ? "the file of draws"
                                      : "draws " + std::to_string(first_draw) + " to " +
                                            std::to_string(first_draw + count - 1) + " of each chain";
  throw Error(ExitStatus::output, path_ + ": " + what + " could not be written",
              why + " for " + std::to_string(bytes) + " bytes more; " + std::to_string(std::max(written_, on_disk_)) +
                  " draws of each chain are safely in the file",
              "Free some space, choose another --output, or keep fewer draws with --thin or --draws moments?");
}

template <class Real>
void DrawsWriter::append(const Window<Real>& window) {
  const std::int64_t first_draw = window.first, count = window.count;
  KC_CHECK(header_.real == window.precision && window.draws.columns == std::ssize(header_.names));
  require(posterior_ >= 0 && first_draw == written_ && count >= 0, ExitStatus::output,
          path_ + ": draws out of order, or of a run that keeps moments only",
          "draws from " + std::to_string(first_draw) + ", the file has " + std::to_string(written_),
          "Is this a mistake of the program? Please report it");
  if (count == 0) return;
  const std::int64_t sizes = bytes_of_stats(header_);
  std::int64_t elements = 0;
  for (const auto& v : variables_) elements += touched_elements(v.chunk, header_.num_chains, v.size, first_draw, count);
  const std::int64_t spins = window.spins.columns * header_.num_chains * count;
  reserve(spins + std::ssize(window.divergences) * 8 * (std::ssize(header_.names) + 2) +
              elements * static_cast<std::int64_t>(bytes_of(header_.real)) +
              touched_elements(sample_stats_.chunk, header_.num_chains, 1, first_draw, count) * sizes,
          first_draw, count);
  guarded("draws " + std::to_string(first_draw) + " to " + std::to_string(first_draw + count - 1), [&] {
    put_draws(window);
    put_stats(sample_stats_, window);
    if (!window.divergences.empty()) put_divergences(window.divergences);
    check(nc_sync(file_));
    // Only now, and in a flush of its own: a killed process must not leave a count that is ahead of its draws.
    written_ = first_draw + count;
    const long long written = on_disk_ = std::max(on_disk_, written_);
    check(nc_put_var_longlong(file_, written_variable_, &written));
    check(nc_sync(file_));
  });
}

/// From 0 on again, too: of a warm-up that began anew; or farther on, of one that was resumed.
template <class Real>
void DrawsWriter::append_warmup_stats(const Window<Real>& window) {
  const std::int64_t first_draw = window.first, count = window.count;
  require(warmup_stats_.group >= 0 && (first_draw >= warmup_stats_.written || first_draw == 0), ExitStatus::output,
          path_ + ": warm-up statistics out of order, or not asked for",
          "iterations from " + std::to_string(first_draw) + ", the file has " + std::to_string(warmup_stats_.written),
          "Is this a mistake of the program? Please report it");
  if (count == 0) return;
  const std::int64_t sizes = bytes_of_stats(header_);
  reserve(touched_elements(warmup_stats_.chunk, header_.num_chains, 1, first_draw, count) * sizes, first_draw, count);
  guarded("warm-up statistics", [&] {
    put_stats(warmup_stats_, window);
    check(nc_sync(file_));
    warmup_stats_.written = first_draw + count;
  });
}

template <class Real>
void DrawsWriter::put_draws(const Window<Real>& window) {
  const std::int64_t first_draw = window.first, count = window.count;
  put_draw_index(posterior_, draw_, first_draw, count);
  for (const auto& [name, apart] : apart_) put_draw_index(apart.group, apart.draw, first_draw, count);
  if (spins_ >= 0) put_spins(first_draw, count, window.spins);
  const std::int64_t row = std::ssize(header_.names);
  for (const auto& v : variables_) {
    const ChunkedVariable variable{v.in, v.id, header_.num_chains, v.size, v.chunk};
    put_window(variable, window.draws.data + v.first, row, window.capacity(), first_draw, count, scratch_);
  }
}

template <class Real>
void DrawsWriter::put_stats(StatsGroup& to, const Window<Real>& window) {
  const std::int64_t first_draw = window.first, count = window.count;
  const auto put = [&](int variable, const auto* source) {
    const ChunkedVariable where{to.group, variable, header_.num_chains, 1, to.chunk};
    put_window(where, source, 1, window.capacity(), first_draw, count, scratch_);
  };
  put_draw_index(to.group, to.draw, first_draw, count);
  put(to.lp, window.lp.data);
  put(to.acceptance_rate, window.acceptance_rate.data);
  put(to.diverging, window.diverging.data);
  for (std::size_t i = 0; i < to.stats.size(); ++i) {
    put(to.stats[i], window.stats.plane(static_cast<Count>(i)).data);
  }
}

void DrawsWriter::put_draw_index(int group, int variable, std::int64_t first_draw, std::int64_t count) {
  std::vector<long long> index(count);
  std::iota(index.begin(), index.end(), first_draw);
  const std::size_t start = first_draw, size = count;
  check(nc_put_vara_longlong(group, variable, &start, &size, index.data()));
}

void DrawsWriter::add_constant_data(const std::string& name,
                                    const std::vector<std::pair<std::string, std::int64_t>>& dims,
                                    const std::vector<double>& values, const std::string& group) {
  reserve(std::ssize(values) * 8, 0, 0);
  guarded("constant data " + name, [&] {
    int to = netcdf::find_group(file_, group);
    if (to < 0) to = draws_detail::define_group(file_, group);
    std::vector<int> ids;
    for (const auto& [dim, size] : dims) {
      int id = -1;
      // Defined first: inq_dimid alone would also find those of the root, such as parameter, which mean something else.
      const int status = nc_def_dim(to, dim.c_str(), size, &id);
      check(status == NC_ENAMEINUSE ? nc_inq_dimid(to, dim.c_str(), &id) : status);
      ids.push_back(id);
    }
    int variable = -1;
    check(nc_def_var(to, name.c_str(), NC_DOUBLE, std::ssize(ids), ids.data(), &variable));
    check(nc_put_var_double(to, variable, values.data()));
    check(nc_sync(file_));
  });
}

void DrawsWriter::write_summary(const std::vector<ParameterSummary>& parameters,
                                const std::vector<double>& acceptance_rates) {
  reserve(8 * (std::ssize(parameters) * (std::ssize(summary_columns) + 4) + std::ssize(acceptance_rates)), 0, 0);
  guarded("the summary", [&] {
    const int group = draws_detail::define_group(file_, "summary");
    const auto put = [group](const char* name, int dim, const std::vector<double>& values) {
      int variable = -1;
      check(nc_def_var(group, name, NC_DOUBLE, 1, &dim, &variable));
      check(nc_put_var_double(group, variable, values.data()));
    };
    std::vector<std::string> names;
    for (const ParameterSummary& parameter : parameters) names.push_back(parameter.name);
    const int parameter_dim = define_dim(group, "parameter", std::ssize(names));
    put_labels(group, parameter_dim, "parameter", names);
    for (const SummaryColumn& column : summary_columns) {
      std::vector<double> values;
      for (const ParameterSummary& parameter : parameters) values.push_back(parameter.*column.figure);
      put(column.name, parameter_dim, values);
    }
    put("acceptance_rate", define_dim(group, "chain", std::ssize(acceptance_rates)), acceptance_rates);
    check(nc_sync(file_));
  });
}

void DrawsWriter::add_attributes(const nlohmann::json& attributes) {
  guarded("attributes", [&] {
    for (const auto& [name, value] : attributes.items()) {
      netcdf::put_attribute(file_, name, value);
      if (posterior_ >= 0) netcdf::put_attribute(posterior_, name, value);
    }
    check(nc_sync(file_));
  });
}

void DrawsWriter::finish() {
  if (file_ < 0) return;
  const auto lock = netcdf::alone();
  const Unbroken unbroken;
  const int status = close();
  require_there();
  release_disk_space(path_);
  if (status != NC_NOERR) {
    throw Error(ExitStatus::output, path_ + ": the file of draws could not be closed",
                netcdf::reason(status) + "; " + std::to_string(written_) + " draws of each chain were written before",
                "Is the disk still there, and not full?");
  }
}

template void DrawsWriter::append(const Window<float>&);
template void DrawsWriter::append(const Window<double>&);
template void DrawsWriter::append_warmup_stats(const Window<float>&);
template void DrawsWriter::append_warmup_stats(const Window<double>&);

}  // namespace kilochain
