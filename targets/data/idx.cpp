// IDX (the format of MNIST): big-endian 32-bit magic, count and extents, then unsigned bytes.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "targets/data/bytes.hpp"
#include "targets/data/dataset.hpp"

namespace kilochain {
namespace {

constexpr std::uint32_t magic_images = 2051, magic_labels = 2049;

std::uint64_t big_endian(const std::string& bytes, std::size_t offset) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[offset + i]);
  return value;
}

// Checks the magic and that exactly the promised body follows; returns the extents (count first).
std::vector<std::uint64_t> check_idx(const std::string& path, const std::string& bytes, std::uint32_t magic,
                                     std::size_t dimensions) {
  const std::size_t header = 4 + 4 * dimensions;
  const char* kind = magic == magic_images ? "images" : "labels";
  if (bytes.size() >= 4) {
    const std::uint64_t got = big_endian(bytes, 0);
    const bool swapped = got == magic_images || got == magic_labels;
    require(got == magic, ExitStatus::data, path + ": wrong magic number for IDX " + kind,
            fmt::format("got {}, expected {}", got, magic),
            swapped ? "Are the files of images and labels swapped?" : "Is this an IDX file?");
  }
  require(bytes.size() >= header, ExitStatus::data, path + ": the IDX header is cut short",
          fmt::format("got {} bytes, expected {}", bytes.size(), header), "Fetch the file again?");
  std::vector<std::uint64_t> extents;
  std::uint64_t expected = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    extents.push_back(big_endian(bytes, 4 + 4 * i));
    require(extents.back() > 0, ExitStatus::data, path + ": the IDX header holds a zero extent",
            fmt::format("extent {} of {}", i + 1, dimensions), "Fetch the file again?");
    // Saturates: the header of a damaged file may promise anything.
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() / extents.back();
    expected = expected > room ? std::numeric_limits<std::uint64_t>::max() : expected * extents.back();
  }
  const std::uint64_t got = bytes.size() - header;
  require(got == expected, ExitStatus::data,
          fmt::format("{}: the IDX file is too {}", path, got < expected ? "short" : "long"),
          fmt::format("got {} bytes of {}, expected {}", got, kind, expected), "Fetch the file again?");
  return extents;
}

void check_digit(int digit, const char* choose) {
  require(digit >= 0 && digit <= 9, ExitStatus::usage, "digits must be in 0..9", fmt::format("got {}", digit), choose);
}

/// Images with their labels, as they are in the files.
struct Images {
  std::string images, labels, source;
  std::uint64_t count, height, width;
  unsigned char label(std::uint64_t i) const { return static_cast<unsigned char>(labels[8 + i]); }
  const unsigned char* pixels(std::uint64_t i) const {
    return reinterpret_cast<const unsigned char*>(images.data()) + 16 + i * height * width;
  }
};

Images read_images(const std::string& images_path, const std::string& labels_path) {
  Images out{read_bytes(images_path), read_bytes(labels_path), images_path + ", " + labels_path, 0, 0, 0};
  const std::vector<std::uint64_t> shape = check_idx(images_path, out.images, magic_images, 3);
  out.count = check_idx(labels_path, out.labels, magic_labels, 1)[0];
  require(shape[0] == out.count, ExitStatus::data, images_path + ": the counts of images and labels differ",
          fmt::format("{} images, {} labels in {}", shape[0], out.count, labels_path),
          "Do the two files belong together?");
  out.height = shape[1], out.width = shape[2];
  return out;
}

constexpr double left_out = -1;

/// The images whose label has a value in `y_of`; each value must occur.
Design select(const Images& from, const std::string& labels_path, const std::array<double, 256>& y_of, bool bias) {
  std::array<std::size_t, 256> occurrences{};
  for (std::uint64_t i = 0; i < from.count; ++i) ++occurrences[from.label(i)];
  Design design;
  design.source = from.source;
  for (std::size_t digit = 0; digit < y_of.size(); ++digit) {
    if (y_of[digit] == left_out) continue;
    require(occurrences[digit] > 0, ExitStatus::data, labels_path + ": a digit does not occur",
            fmt::format("no {} among {} labels", digit, from.count), "Choose another digit?");
    design.rows += occurrences[digit];
  }
  const std::size_t pixels = from.height * from.width;
  design.columns = pixels + (bias ? 1 : 0);
  for (std::uint64_t r = 0; r < from.height; ++r) {
    for (std::uint64_t c = 0; c < from.width; ++c) design.names.push_back(fmt::format("pixel_{}_{}", r, c));
  }
  if (bias) design.names.push_back("bias");
  design.x.reserve(design.rows * design.columns);
  design.y.reserve(design.rows);
  for (std::uint64_t i = 0; i < from.count; ++i) {
    const double y = y_of[from.label(i)];
    if (y == left_out) continue;
    design.y.push_back(y);
    const unsigned char* pixel = from.pixels(i);
    for (std::size_t j = 0; j < pixels; ++j) design.x.push_back(pixel[j] / 255.0);
    if (bias) design.x.push_back(1.0);
  }
  return design;
}

}  // namespace

Design load_idx(const std::string& images_path, const std::string& labels_path, int digit_first, int digit_second,
                bool bias) {
  const char* const two = "Choose two of 0..9, such as 5,6?";
  check_digit(digit_first, two), check_digit(digit_second, two);
  require(digit_first != digit_second, ExitStatus::usage, "the two digits must differ",
          fmt::format("got {} twice", digit_first), two);
  std::array<double, 256> y_of;
  y_of.fill(left_out);
  y_of[digit_first] = 1;
  y_of[digit_second] = 0;
  return select(read_images(images_path, labels_path), labels_path, y_of, bias);
}

Design load_classified_idx(const std::string& images_path, const std::string& labels_path,
                           const std::vector<int>& digits, bool bias) {
  for (const int digit : digits) check_digit(digit, "Choose of 0..9, such as 3,5,8?");
  const Images from = read_images(images_path, labels_path);
  std::set<int> wanted(digits.begin(), digits.end());
  require(wanted.size() == digits.size(), ExitStatus::usage, "the digits must differ",
          fmt::format("{} of {}", wanted.size(), digits.size()), "Name each once, such as 3,5,8?");
  if (wanted.empty())
    for (std::uint64_t i = 0; i < from.count; ++i) wanted.insert(from.label(i));
  std::array<double, 256> y_of;
  y_of.fill(left_out);
  std::vector<std::string> classes;
  for (const int digit : wanted) {
    y_of[digit] = classes.size();
    classes.push_back(std::to_string(digit));
  }
  require(classes.size() >= 2, ExitStatus::data, labels_path + ": every image has the same class",
          fmt::format("{} labels", from.count), "Are these the right labels?");
  Design design = select(from, labels_path, y_of, bias);
  design.classes = std::move(classes);
  return design;
}

}  // namespace kilochain
