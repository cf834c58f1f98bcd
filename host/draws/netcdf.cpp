#include "host/draws/netcdf.hpp"

#include <hdf5.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

namespace kilochain::netcdf {
namespace {

using nlohmann::json;

constexpr std::size_t kHeaderText = 1000;  // bytes of text kept in the object header
constexpr std::size_t kHeaderArray = 500;  // elements of an array kept in the object header

template <class Value>
std::vector<Value> elements(const json& array) {
  std::vector<Value> out;
  for (const auto& element : array) out.push_back(element.get<Value>());  // booleans become 0 and 1
  return out;
}

bool all(const json& array, bool (*is)(const json&)) { return std::all_of(array.begin(), array.end(), is); }
bool is_whole(const json& value) { return value.is_boolean() || value.is_number_integer(); }
bool is_number(const json& value) { return value.is_boolean() || value.is_number(); }
bool is_beyond_int64(const json& value) {
  return value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX};
}

void put_array(int group, const std::string& name, const json& array) {
  if (array.empty() || array.size() > kHeaderArray) return put_text(group, NC_GLOBAL, name, array.dump());
  const char* key = name.c_str();
  if (all(array, is_whole) && std::none_of(array.begin(), array.end(), is_beyond_int64)) {
    const auto values = elements<long long>(array);
    check(nc_put_att_longlong(group, NC_GLOBAL, key, NC_INT64, values.size(), values.data()));
  } else if (all(array, is_whole) &&
             std::all_of(array.begin(), array.end(), [](const json& v) { return v.is_number_unsigned(); })) {
    const auto values = elements<unsigned long long>(array);
    check(nc_put_att_ulonglong(group, NC_GLOBAL, key, NC_UINT64, values.size(), values.data()));
  } else if (all(array, is_number)) {
    const auto values = elements<double>(array);
    check(nc_put_att_double(group, NC_GLOBAL, key, NC_DOUBLE, values.size(), values.data()));
  } else if (all(array, [](const json& value) { return value.is_string(); })) {
    const auto texts = elements<std::string>(array);
    std::vector<const char*> pointers;
    for (const auto& text : texts) pointers.push_back(text.c_str());
    check(nc_put_att_string(group, NC_GLOBAL, key, pointers.size(), pointers.data()));
  } else {
    put_text(group, NC_GLOBAL, name, array.dump());
  }
}

template <class Value, class Read>
json numbers(int group, const char* key, std::size_t length, Read read) {
  std::vector<Value> values(length);
  if (length > 0) check(read(group, NC_GLOBAL, key, values.data()));
  return length == 1 ? json(values[0]) : json(values);
}

json texts(int group, const char* key, std::size_t length) {
  std::vector<char*> pointers(length, nullptr);
  if (length > 0) check(nc_get_att_string(group, NC_GLOBAL, key, pointers.data()));
  std::vector<std::string> values;
  for (const char* pointer : pointers) values.emplace_back(pointer == nullptr ? "" : pointer);
  nc_free_string(length, pointers.data());
  return length == 1 ? json(values[0]) : json(values);
}

}  // namespace

std::unique_lock<std::recursive_mutex> alone() {
  static std::recursive_mutex mutex;
  std::unique_lock lock(mutex);
  // HDF5 prints what it does not find, which NetCDF silences for the thread that called it first.
  thread_local const herr_t silent = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  static_cast<void>(silent);
  return lock;
}

int open(const std::string& path, int mode, int* file) {
#ifdef __GLIBC__
  mallopt(M_PERTURB, 0xff);  // its complement fills what is allocated
  const int status = nc_open(path.c_str(), mode, file);
  mallopt(M_PERTURB, 0);
  return status;
#else
  return nc_open(path.c_str(), mode, file);
#endif
}

std::string reason(int status, const char* refused) {
  return status > 0 ? std::strerror(status) : refused + (", NetCDF status " + std::to_string(status));
}

void put_text(int group, int variable, const std::string& name, const std::string& text) {
  if (text.size() <= kHeaderText) {
    check(nc_put_att_text(group, variable, name.c_str(), text.size(), text.c_str()));
  } else {
    const char* pointer = text.c_str();
    check(nc_put_att_string(group, variable, name.c_str(), 1, &pointer));
  }
}

void put_attribute(int group, const std::string& name, const json& value) {
  std::string key = name;
  std::replace(key.begin(), key.end(), '/', '.');  // the only character that a NetCDF name cannot hold
  if (value.is_null()) return;
  if (value.is_object()) {
    for (const auto& [inner, leaf] : value.items()) put_attribute(group, key + "." + inner, leaf);
  } else if (value.is_string()) {
    put_text(group, NC_GLOBAL, key, value.get<std::string>());
  } else if (value.is_array()) {
    put_array(group, key, value);
  } else {
    put_array(group, key, json::array({value}));
  }
}

json read_attributes(int group) {
  json out = json::object();
  int count = 0;
  check(nc_inq_natts(group, &count));
  for (int i = 0; i < count; ++i) {
    char key[NC_MAX_NAME + 1];
    nc_type type = NC_NAT;
    std::size_t length = 0;
    check(nc_inq_attname(group, NC_GLOBAL, i, key));
    check(nc_inq_att(group, NC_GLOBAL, key, &type, &length));
    if (type == NC_CHAR) {
      std::string text(length, '\0');
      if (length > 0) check(nc_get_att_text(group, NC_GLOBAL, key, text.data()));
      out[key] = text.substr(0, text.find('\0'));  // as C has texts, and messages
    } else if (type == NC_STRING) {
      out[key] = texts(group, key, length);
    } else if (type == NC_FLOAT || type == NC_DOUBLE) {
      out[key] = numbers<double>(group, key, length, nc_get_att_double);
    } else if (type == NC_UINT64) {
      out[key] = numbers<unsigned long long>(group, key, length, nc_get_att_ulonglong);
    } else {
      out[key] = numbers<long long>(group, key, length, nc_get_att_longlong);
    }
  }
  return out;
}

int find_group(int file, const std::string& name) {
  int group = -1;
  return nc_inq_grp_ncid(file, name.c_str(), &group) == NC_NOERR ? group : -1;
}

int find_variable(int group, const std::string& name) {
  int variable = -1;
  check(nc_inq_varid(group, name.c_str(), &variable));
  return variable;
}

bool has_variable(int group, const char* name) {
  int variable = -1;
  return nc_inq_varid(group, name, &variable) == NC_NOERR;
}

std::vector<std::int64_t> shape_of(int group, int variable) {
  int rank = 0;
  check(nc_inq_varndims(group, variable, &rank));
  std::vector<int> dims(rank);
  check(nc_inq_vardimid(group, variable, dims.data()));
  std::vector<std::size_t> shape(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) check(nc_inq_dimlen(group, dims[i], &shape[i]));
  return {shape.begin(), shape.end()};
}

int define_dim(int group, const std::string& name, std::int64_t size) {
  int dim = -1;
  check(nc_def_dim(group, name.c_str(), size, &dim));
  return dim;
}

int define_chunked(int group, const std::string& name, nc_type type, const std::vector<int>& dims,
                   const std::vector<std::int64_t>& chunk) {
  int variable = -1;
  const std::vector<std::size_t> sizes(chunk.begin(), chunk.end());
  check(nc_def_var(group, name.c_str(), type, static_cast<int>(dims.size()), dims.data(), &variable));
  check(nc_def_var_chunking(group, variable, NC_CHUNKED, sizes.data()));
  check(nc_def_var_fletcher32(group, variable, NC_FLETCHER32));
  return variable;
}

int define_number(int group, const std::string& name, nc_type type) {
  int one = -1;
  if (nc_inq_dimid(group, "one", &one) != NC_NOERR) one = define_dim(group, "one", 1);
  return define_chunked(group, name, type, {one}, {1});
}

void put_indices(int group, int dim, const std::string& name, std::int64_t size) {
  int variable = -1;
  std::vector<long long> numbers(size);
  std::iota(numbers.begin(), numbers.end(), 0);
  check(nc_def_var(group, name.c_str(), NC_INT64, 1, &dim, &variable));
  check(nc_put_var_longlong(group, variable, numbers.data()));
}

void put_labels(int group, int dim, const std::string& name, const std::vector<std::string>& labels) {
  int variable = -1;
  std::vector<const char*> pointers;
  for (const auto& label : labels) pointers.push_back(label.c_str());
  check(nc_def_var(group, name.c_str(), NC_STRING, 1, &dim, &variable));
  check(nc_put_var_string(group, variable, pointers.data()));
}

}  // namespace kilochain::netcdf
