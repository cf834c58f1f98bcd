// load_idx: pixels and labels of small files made here, every refusal, and MNIST's published sums.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "targets/data/dataset.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::expect_error;
using testing_support::ScratchFiles;
using testing_support::shared_data;
using Values = std::vector<double>;

std::string idx(const std::vector<std::uint32_t>& header, const std::string& body) {
  std::string bytes;
  for (std::uint32_t word : header) {
    for (int shift : {24, 16, 8, 0}) bytes += static_cast<char>(word >> shift & 255);
  }
  return bytes + body;
}

// Four images of 1 x 2 pixels, labels 5 6 7 5.
const std::string image_bytes("\x00\xFF\x01\x02\x03\x04\x33\x80", 8), label_bytes("\x05\x06\x07\x05", 4);
const std::string images = idx({2051, 4, 1, 2}, image_bytes), labels = idx({2049, 4}, label_bytes);

TEST(LoadIdx, ScalesPixelsAndKeepsTheOrder) {
  ScratchFiles files;
  const std::string plain_images = files.write("i", images), plain_labels = files.write("l", labels);
  const Design design = load_idx(plain_images, plain_labels, 5, 6, true);
  EXPECT_EQ(design.rows, 3u);
  EXPECT_EQ(design.columns, 3u);
  EXPECT_EQ(design.x, (Values{0, 1, 1, 1 / 255.0, 2 / 255.0, 1, 0.2, 128 / 255.0, 1}));
  EXPECT_EQ(design.y, (Values{1, 0, 1}));
  EXPECT_EQ(design.names, (std::vector<std::string>{"pixel_0_0", "pixel_0_1", "bias"}));
  EXPECT_EQ(design.source, plain_images + ", " + plain_labels);
  EXPECT_EQ(load_idx(plain_images, plain_labels, 6, 5, true).y, (Values{0, 1, 0}));
}

TEST(LoadIdx, ReadsGzippedFilesAlike) {
  ScratchFiles files;
  const Design plain = load_idx(files.write("i", images), files.write("l", labels), 5, 7, false);
  const Design zipped = load_idx(files.write_gzipped("i.gz", images), files.write_gzipped("l.gz", labels), 5, 7, false);
  EXPECT_EQ(plain.x, zipped.x);
  EXPECT_EQ(plain.y, zipped.y);
  EXPECT_EQ(plain.columns, 2u);
}

TEST(LoadIdx, RefusesDigits) {
  ScratchFiles files;
  const std::string i = files.write("i", images), l = files.write("l", labels);
  expect_error([&] { load_idx(i, l, 5, 5, true); }, ExitStatus::usage, "",
               "the two digits must differ (got 5 twice). Choose two of 0..9, such as 5,6?");
  expect_error([&] { load_idx(i, l, 5, 10, true); }, ExitStatus::usage, "",
               "digits must be in 0..9 (got 10). Choose two of 0..9, such as 5,6?");
  expect_error([&] { load_idx(i, l, -1, 6, true); }, ExitStatus::usage, "",
               "digits must be in 0..9 (got -1). Choose two of 0..9, such as 5,6?");
  expect_error([&] { load_idx(i, l, 5, 3, true); }, ExitStatus::data, l,
               ": a digit does not occur (no 3 among 4 labels). Choose another digit?");
}

TEST(LoadIdx, RefusesDamagedFiles) {
  ScratchFiles files;
  const std::string i = files.write("i", images), l = files.write("l", labels);
  const auto refuse_images = [&](const std::string& bytes, const std::string& message) {
    const std::string path = files.write("bad", bytes);
    expect_error([&] { load_idx(path, l, 5, 6, true); }, ExitStatus::data, path, message);
  };
  const std::string again = "). Fetch the file again?";
  refuse_images(idx({2052, 4, 1, 2}, image_bytes),
                ": wrong magic number for IDX images (got 2052, expected 2051). Is this an IDX file?");
  refuse_images(labels,
                ": wrong magic number for IDX images (got 2049, expected 2051). Are the files of images and labels "
                "swapped?");
  refuse_images(images.substr(0, images.size() - 1),
                ": the IDX file is too short (got 7 bytes of images, expected 8" + again);
  refuse_images(images + "x", ": the IDX file is too long (got 9 bytes of images, expected 8" + again);
  refuse_images(images.substr(0, 10), ": the IDX header is cut short (got 10 bytes, expected 16" + again);
  refuse_images("", ": the IDX header is cut short (got 0 bytes, expected 16" + again);
  refuse_images(idx({2051, 0, 1, 2}, ""), ": the IDX header holds a zero extent (extent 1 of 3" + again);
  // The product of these extents wraps round to 0 in 64 bits.
  refuse_images(idx({2051, 1u << 31, 1u << 31, 1u << 31}, ""),
                ": the IDX file is too short (got 0 bytes of images, expected 18446744073709551615" + again);
  refuse_images(
      idx({2051, 3, 1, 2}, image_bytes.substr(0, 6)),
      ": the counts of images and labels differ (3 images, 4 labels in " + l + "). Do the two files belong together?");
  const std::string short_labels = files.write("short_labels", labels.substr(0, 11));
  expect_error([&] { load_idx(i, short_labels, 5, 6, true); }, ExitStatus::data, short_labels,
               ": the IDX file is too short (got 3 bytes of labels, expected 4" + again);
}

TEST(LoadIdx, RefusesATruncatedOrAlteredGzipStream) {
  ScratchFiles files;
  const std::string l = files.write("l", labels);
  files.write_gzipped("i.gz", images);
  const std::string whole = files.read("i.gz");
  // Cut anywhere: in the checksum behind the data, in the data, in the header.
  for (std::size_t size : {whole.size() - 1, whole.size() - 8, whole.size() - 12, std::size_t{5}}) {
    const std::string path = files.write("cut.gz", whole.substr(0, size));
    try {
      load_idx(path, l, 5, 6, true);
      ADD_FAILURE() << "no error for " << size << " bytes of " << whole.size();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::data);
      const std::string start = path + ": the gzip stream is truncated (" + std::to_string(size) + " bytes compressed,";
      EXPECT_EQ(std::string(error.what()).substr(0, start.size()), start);
    }
  }
  std::string altered = whole;
  altered[whole.size() - 6] = static_cast<char>(altered[whole.size() - 6] ^ 1);  // in the checksum
  const std::string path = files.write("altered.gz", altered);
  try {
    load_idx(path, l, 5, 6, true);
    ADD_FAILURE() << "no error for an altered checksum";
  } catch (const Error& error) {
    const std::string start = path + ": the file is damaged or cannot be read (after ";
    EXPECT_EQ(std::string(error.what()).substr(0, start.size()), start) << error.what();
  }
}

TEST(Mnist, FivesAndSixesHaveTheirPublishedSums) {
  const std::string folder = shared_data();
  if (folder.empty()) GTEST_SKIP();
  const Design subset =
      load_idx(folder + "/mnist56-images-idx3-ubyte.gz", folder + "/mnist56-labels-idx1-ubyte.gz", 5, 6, true);
  ASSERT_EQ(subset.rows, 11339u);
  ASSERT_EQ(subset.columns, 785u);
  EXPECT_EQ(subset.names[28], "pixel_1_0");
  std::uint64_t sum = 0, sum_fives = 0, fives = 0;
  for (std::size_t i = 0; i < subset.rows; ++i) {
    std::uint64_t row = 0;
    for (std::size_t j = 0; j < 784; ++j) row += static_cast<std::uint64_t>(std::lround(subset.x[i * 785 + j] * 255));
    ASSERT_EQ(subset.x[i * 785 + 784], 1);
    sum += row;
    if (subset.y[i] == 1) sum_fives += row;
    fives += subset.y[i] == 1;
  }
  EXPECT_EQ(fives, 5421u);
  EXPECT_EQ(sum, 301979634u);
  EXPECT_EQ(sum_fives, 139534257u);

  // The same images out of the full set, in its order: the same sums.
  const Design full =
      load_idx(folder + "/train-images-idx3-ubyte.gz", folder + "/train-labels-idx1-ubyte.gz", 5, 6, false);
  ASSERT_EQ(full.rows, 11339u);
  std::uint64_t full_sum = 0;
  for (double value : full.x) full_sum += static_cast<std::uint64_t>(std::lround(value * 255));
  EXPECT_EQ(full_sum, 301979634u);
}

}  // namespace
}  // namespace kilochain
