#include "targets/data/npy.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/error.hpp"

namespace kilochain {
namespace {

static_assert(std::endian::native == std::endian::little, "the array is copied as it lies in the file");
constexpr std::string_view magic("\x93NUMPY", 6);

// The text after 'key': in the dictionary, without leading blanks; empty when the key is missing.
std::string_view entry(std::string_view header, std::string_view key) {
  const std::string wanted = fmt::format("'{}':", key);
  const std::size_t at = header.find(wanted);
  if (at == std::string_view::npos) return {};
  header.remove_prefix(at + wanted.size());
  const std::size_t first = header.find_first_not_of(' ');
  return first == std::string_view::npos ? std::string_view{} : header.substr(first);
}

std::vector<std::size_t> parse_shape(std::string_view text) {
  std::vector<std::size_t> shape;
  const char* end = text.data() + text.size();
  for (const char* p = text.data(); p != end && *p != ')';) {
    std::size_t extent = 0;
    const auto [next, code] = std::from_chars(p, end, extent);
    if (code == std::errc()) shape.push_back(extent);
    p = code == std::errc() ? next : p + 1;
  }
  return shape;
}

/// The names of a record's fields, [('age', '<f8'), ...]; empty where one is something else.
std::vector<std::string> parse_fields(std::string_view type) {
  std::vector<std::string> names;
  for (std::size_t at = 1; at < type.size() && type[at] == '(';) {
    const std::size_t end = type.find(type[at + 1], at + 2);
    if (end == std::string_view::npos || !type.substr(end + 1).starts_with(", '<f8')")) return {};
    names.emplace_back(type.substr(at + 2, end - at - 2));
    at = end + 9;
    if (type.substr(at).starts_with(", ")) at += 2;
  }
  return names;
}

[[noreturn]] void throw_header(const std::string& path, const std::string& where) {
  throw Error(ExitStatus::data, path + ": not a .npy file this can read", where,
              "Write it with numpy.save(path, numpy.ascontiguousarray(a, dtype=\"float64\"))?");
}

template <typename T>
void copy_values(const char* body, std::vector<double>* values) {
  for (std::size_t i = 0; i < values->size(); ++i) {
    T value;  // through memcpy: the body of a .npy file need not be aligned here
    std::memcpy(&value, body + i * sizeof(T), sizeof(T));
    (*values)[i] = value;
  }
}

}  // namespace

bool is_npy(const std::string& bytes) { return std::string_view(bytes).starts_with(magic); }

Table parse_npy(const std::string& path, const std::string& bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])); };
  if (bytes.size() < 12) throw_header(path, "only " + std::to_string(bytes.size()) + " bytes");
  const std::uint32_t version = byte(6);
  if (version < 1 || version > 3) throw_header(path, "format version " + std::to_string(version) + ", expected 1 to 3");
  const std::size_t prefix = version == 1 ? 10 : 12;
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= static_cast<std::size_t>(byte(10) << 16 | byte(11) << 24);
  if (bytes.size() - prefix < length) throw_header(path, "the header is cut short");
  const std::string_view header(bytes.data() + prefix, length);
  if (header.find('\0') != header.npos) throw_header(path, "a zero byte in the header");

  const std::string_view type = entry(header, "descr");
  Table table;
  if (type.starts_with('[')) table.columns = parse_fields(type);
  const std::size_t fields = table.columns.size();
  const bool is_float = type.starts_with("'<f4'"), is_double = type.starts_with("'<f8'");
  if (!is_float && !is_double && fields == 0) {
    throw_header(path, "dtype " + std::string(type.substr(0, type.find(','))) + ", expected '<f4' or '<f8'");
  }
  if (!entry(header, "fortran_order").starts_with("False")) throw_header(path, "Fortran order, expected C order");
  const std::vector<std::size_t> shape = parse_shape(entry(header, "shape"));
  if (shape.empty() || shape.size() > (fields > 0 ? 1 : 2)) {
    throw_header(path, std::to_string(shape.size()) + " dimensions, expected 1" + (fields > 0 ? "" : " or 2"));
  }
  const std::size_t rows = shape[0], columns = fields > 0 ? fields : shape.size() == 2 ? shape[1] : 1;
  require(rows > 0 && columns > 0, ExitStatus::data, path + ": the array is empty",
          "shape " + std::to_string(rows) + " x " + std::to_string(columns), "Is this the right file?");
  const std::size_t width = is_float ? 4 : 8, got = bytes.size() - prefix - length;
  // By division: a damaged shape must not overflow the product.
  const bool fits = got / width / columns == rows && got % (width * columns) == 0;
  require(fits, ExitStatus::data, path + ": the array's bytes do not match its shape",
          std::to_string(rows) + " x " + std::to_string(columns) + " values of " + std::to_string(width) +
              " bytes, got " + std::to_string(got) + " bytes",
          "Write the file again?");
  table.rows = rows;
  table.values.resize(rows * columns);
  const char* body = bytes.data() + prefix + length;
  is_float ? copy_values<float>(body, &table.values) : copy_values<double>(body, &table.values);
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    require(std::isfinite(table.values[i]), ExitStatus::data, path + ": a value is NaN or infinite",
            "row " + std::to_string(i / columns) + ", column " + std::to_string(i % columns) + ", counted from 0",
            "Replace it by a number?");
  }
  if (fields == 0) table.columns.resize(columns);
  return table;
}

}  // namespace kilochain
