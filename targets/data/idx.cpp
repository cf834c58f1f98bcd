// IDX (the format of MNIST): big-endian 32-bit magic, count and extents, then unsigned bytes.
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>

#include "kernels/device/error.hpp"
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

void check_digits(int first, int second) {
  for (int digit : {first, second}) {
    require(digit >= 0 && digit <= 9, ExitStatus::usage, "digits must be in 0..9", fmt::format("got {}", digit),
            "Choose two of 0..9, such as 5,6?");
  }
  require(first != second, ExitStatus::usage, "the two digits must differ", fmt::format("got {} twice", first),
          "Choose two of 0..9, such as 5,6?");
}

}  // namespace

Design load_idx(const std::string& images_path, const std::string& labels_path, int digit_first, int digit_second,
                bool bias) {
  check_digits(digit_first, digit_second);
  const std::string images = read_bytes(images_path), labels = read_bytes(labels_path);
  const std::vector<std::uint64_t> shape = check_idx(images_path, images, magic_images, 3);
  const std::uint64_t count = check_idx(labels_path, labels, magic_labels, 1)[0];
  require(shape[0] == count, ExitStatus::data, images_path + ": the counts of images and labels differ",
          fmt::format("{} images, {} labels in {}", shape[0], count, labels_path), "Do the two files belong together?");
  const auto* label = reinterpret_cast<const unsigned char*>(labels.data()) + 8;
  const auto* pixel = reinterpret_cast<const unsigned char*>(images.data()) + 16;

  std::size_t occurrences[2] = {0, 0};
  for (std::uint64_t i = 0; i < count; ++i) {
    occurrences[0] += label[i] == digit_first;
    occurrences[1] += label[i] == digit_second;
  }
  for (int k : {0, 1}) {
    require(occurrences[k] > 0, ExitStatus::data, labels_path + ": a digit does not occur",
            fmt::format("no {} among {} labels", k == 0 ? digit_first : digit_second, count), "Choose another digit?");
  }

  Design design;
  design.source = images_path + ", " + labels_path;
  const std::size_t pixels = static_cast<std::size_t>(shape[1] * shape[2]);
  design.rows = occurrences[0] + occurrences[1];
  design.columns = pixels + (bias ? 1 : 0);
  for (std::uint64_t r = 0; r < shape[1]; ++r) {
    for (std::uint64_t c = 0; c < shape[2]; ++c) design.names.push_back(fmt::format("pixel_{}_{}", r, c));
  }
  if (bias) design.names.push_back("bias");
  design.x.reserve(design.rows * design.columns);
  design.y.reserve(design.rows);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (label[i] != digit_first && label[i] != digit_second) continue;
    design.y.push_back(label[i] == digit_first ? 1.0 : 0.0);
    for (std::size_t j = 0; j < pixels; ++j) design.x.push_back(pixel[i * pixels + j] / 255.0);
    if (bias) design.x.push_back(1.0);
  }
  return design;
}

}  // namespace kilochain
