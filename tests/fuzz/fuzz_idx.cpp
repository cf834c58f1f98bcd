// Images and labels in IDX files: an input is the one, "LABELS" and the other.
#include "targets/data/dataset.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace kilochain::fuzz {
namespace {

std::string big_endian(std::initializer_list<int> numbers) {
  std::string out;
  for (const int n : numbers)
    for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(n >> shift & 255);
  return out;
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string labels = big_endian({2049, 4}) + std::string("\5\6\5\6");
  return {big_endian({2051, 4, 2, 3}) + std::string(24, '\x40') + "LABELS" + labels, labels + "LABELS" + labels,
          big_endian({2051, 4, 1, 1}) + "\1\2\3\4" + "LABELS" + big_endian({2049, 4}) + std::string("\0\1\2\x9", 4)};
}

}  // namespace kilochain::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace kilochain;
  const std::string_view text = fuzz::text_of(bytes, size);
  const std::size_t cut = std::min(text.find("LABELS"), size);
  const std::string images = fuzz::write(text.substr(0, cut), "images"),
                    labels = fuzz::write(text.substr(std::min(size, cut + 6)), "labels");
  fuzz::accept([&] { load_idx(images, labels, 5, 6, true); });
  fuzz::accept([&] { load_classified_idx(images, labels, {}, true); });
  fuzz::accept([&] { load_classified_idx(images, labels, {5, 6}, false); });
  return 0;
}
