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

Matrix parse_npy(const std::string& path, const std::string& bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])); };
  if (bytes.size() < 12) throw_header(path, "only " + std::to_string(bytes.size()) + " bytes");
  const std::uint32_t version = byte(6);
  if (version != 1 && version != 2) throw_header(path, "format version " + std::to_string(version) + ", expected 1, 2");
  const std::size_t prefix = version == 1 ? 10 : 12;
  std::size_t length = byte(8) | byte(9) << 8;
  if (version == 2) length |= static_cast<std::size_t>(byte(10) << 16 | byte(11) << 24);
  if (bytes.size() - prefix < length) throw_header(path, "the header is cut short");
  const std::string_view header(bytes.data() + prefix, length);

  const std::string_view type = entry(header, "descr");
  const bool is_float = type.starts_with("'<f4'"), is_double = type.starts_with("'<f8'");
  if (!is_float && !is_double) {
    throw_header(path, "dtype " + std::string(type.substr(0, type.find(','))) + ", expected '<f4' or '<f8'");
  }
  if (!entry(header, "fortran_order").starts_with("False")) throw_header(path, "Fortran order, expected C order");
  const std::string_view shape_text = entry(header, "shape");
  const std::vector<std::size_t> shape = parse_shape(shape_text);
  if (shape.empty() || shape.size() > 2) {
    throw_header(path, std::to_string(shape.size()) + " dimensions, expected 1 or 2");
  }

  Matrix matrix;
  matrix.rows = shape[0];
  matrix.columns = shape.size() == 2 ? shape[1] : 1;
  require(matrix.rows > 0 && matrix.columns > 0, ExitStatus::data, path + ": the array is empty",
          "shape " + std::to_string(matrix.rows) + " x " + std::to_string(matrix.columns), "Is this the right file?");
  const std::size_t width = is_float ? 4 : 8, got = bytes.size() - prefix - length;
  // By division: a damaged shape must not overflow the product.
  const bool fits = got / width / matrix.columns == matrix.rows && got % (width * matrix.columns) == 0;
  require(fits, ExitStatus::data, path + ": the array's bytes do not match its shape",
          std::to_string(matrix.rows) + " x " + std::to_string(matrix.columns) + " values of " + std::to_string(width) +
              " bytes, got " + std::to_string(got) + " bytes",
          "Write the file again?");
  matrix.values.resize(matrix.rows * matrix.columns);
  const char* body = bytes.data() + prefix + length;
  is_float ? copy_values<float>(body, &matrix.values) : copy_values<double>(body, &matrix.values);
  for (std::size_t i = 0; i < matrix.values.size(); ++i) {
    require(std::isfinite(matrix.values[i]), ExitStatus::data, path + ": a value is NaN or infinite",
            "row " + std::to_string(i / matrix.columns) + ", column " + std::to_string(i % matrix.columns) +
                ", counted from 0",
            "Replace it by a number?");
  }
  return matrix;
}

}  // namespace kilochain
