// The NetCDF C library as this project uses it: checked calls, and attributes <-> JSON.
// The library is not thread-safe: who calls it is alone() with it. Statuses are NetCDF's (0 is NC_NOERR).
#pragma once
#include <netcdf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kilochain::netcdf {

/// While it lives no other thread has one: runs of one process write their files side by side. A thread may have
/// several.
std::unique_lock<std::recursive_mutex> alone();

/// nc_open. Returns its status, of damaged files too: HDF5 1.10 frees what a refused table of links has left unset, so
/// memory comes as zeros meanwhile, where the C library can do that.
int open(const std::string& path, int mode, int* file);

/// What a status means: the system's words, or `refused` where the library itself found something wrong.
std::string reason(int status, const char* refused = "the file or the disk is damaged");

/// A failed call of the library, before anybody has said what it means for the user.
struct Failure {
  int status;
};

/// Throws Failure unless `status` is NC_NOERR.
inline void check(int status) {
  if (status != NC_NOERR) throw Failure{status};
}

/// Writes `value` as attribute `name` of a group: integers as int64 (uint64 beyond), floats as double, booleans as 0/1,
/// text as text, arrays of one of these as arrays, objects as one attribute per leaf ("adapt.scope"), null not at all,
/// anything else, empty arrays and those beyond 500 elements as JSON text. Text beyond 1 kB leaves the object header,
/// which HDF5 limits to 64 kB.
void put_attribute(int group, const std::string& name, const nlohmann::json& value);

/// All attributes of a group as one flat object. One-element arrays come back as scalars.
nlohmann::json read_attributes(int group);

/// Places and extents as the library takes them.
template <std::size_t N>
std::array<std::size_t, N> sizes(const std::array<std::int64_t, N>& counts) {
  std::array<std::size_t, N> out;
  std::copy(counts.begin(), counts.end(), out.begin());
  return out;
}

/// A group and a variable by name; of a group that is not there -1, of a variable a Failure.
int find_group(int file, const std::string& name);
int find_variable(int group, const std::string& name);
bool has_variable(int group, const char* name);
std::vector<std::int64_t> shape_of(int group, int variable);

/// A new dimension (NC_UNLIMITED: one that grows).
int define_dim(int group, const std::string& name, std::int64_t size);
/// A new variable over `dims`, in chunks of that shape (what `chunk` has beyond them does not count), with checksums:
/// bytes that changed on the disk are an error of whoever reads them.
int define_chunked(int group, const std::string& name, nc_type type, const std::vector<int>& dims,
                   const std::vector<std::int64_t>& chunk);
/// A variable of one number with a checksum, which a scalar cannot have.
int define_number(int group, const std::string& name, nc_type type);
/// A variable of a dimension's name that labels it, by 0 .. size - 1 or by names.
void put_indices(int group, int dim, const std::string& name, std::int64_t size);
void put_labels(int group, int dim, const std::string& name, const std::vector<std::string>& labels);

/// Writes `text` whatever its length as one string attribute of a variable or group (`variable` NC_GLOBAL).
void put_text(int group, int variable, const std::string& name, const std::string& text);

}  // namespace kilochain::netcdf
