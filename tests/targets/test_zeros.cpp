// Panels of a design: nothing but zeros is left out, every observation is in one block, and alike observations meet.
#include <gtest/gtest.h>

#include "targets/data/zeros.hpp"
#include "tests/targets/logistic_chains.hpp"

namespace kilochain::testing_support {
namespace {

void check_panels(const Design& design, std::size_t height) {
  const Panels panels = find_panels(design, height);
  const std::size_t blocks = (design.rows + height - 1) / height;
  ASSERT_EQ(panels.begin.size(), blocks + 1);
  EXPECT_EQ(panels.begin.front(), 0u);
  EXPECT_EQ(panels.begin.back(), panels.features.size());
  std::vector<int> times(design.rows);
  for (const std::size_t i : panels.order) ++times.at(i);
  EXPECT_EQ(times, std::vector<int>(design.rows, 1));
  for (std::size_t b = 0; b < blocks; ++b) {
    std::vector<std::int32_t> filled;
    for (std::size_t j = 0; j < design.columns; ++j) {
      bool any = false;
      for (std::size_t k = b * height; k < std::min(design.rows, (b + 1) * height); ++k)
        any = any || design.x[panels.order[k] * design.columns + j] != 0;
      if (any) filled.push_back(static_cast<std::int32_t>(j));
    }
    const auto first = panels.features.begin() + static_cast<std::ptrdiff_t>(panels.begin[b]),
               last = panels.features.begin() + static_cast<std::ptrdiff_t>(panels.begin[b + 1]);
    EXPECT_EQ(std::vector<std::int32_t>(first, last), filled) << "block " << b;
  }
}

TEST(Zeros, PanelsHoldEveryNumberThatIsNotZero) {
  const ScratchFiles files;
  for (const std::size_t rows : {2, 31, 32, 33, 65, 257})
    for (const std::size_t height : {1, 32, 64}) {
      SCOPED_TRACE(std::to_string(rows) + " rows in blocks of " + std::to_string(height));
      check_panels(load_labelled_csv(sparse_levels(files, rows, 20).at("data"), {}, false, false), height);
      check_panels(load_labelled_csv(generated_logistic(files, rows, 5).at("data"), {}, false, false), height);
    }
}

Design of_kinds(std::size_t rows, std::size_t kinds) {
  Design d;
  d.rows = rows, d.columns = 4 * kinds, d.x.assign(rows * d.columns, 0.0);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < 4; ++j) d.x[i * d.columns + i % kinds * 4 + j] = 1;
  return d;
}

TEST(Zeros, AlikeObservationsMeet) {
  // Kinds that take turns, 64 of each: in the file's order every panel of 32 would hold some of all.
  EXPECT_EQ(find_panels(of_kinds(128, 2), 32).kept(8), 0.5);
  EXPECT_EQ(find_panels(of_kinds(64, 1), 32).kept(4), 1.0);
  EXPECT_LT(find_panels(of_kinds(256, 4), 32).kept(16), 0.5);
  EXPECT_EQ(density(of_kinds(128, 2)), 0.5);
}

TEST(Zeros, UnitOfBytes) {
  Design d;
  d.rows = 2, d.columns = 3;
  for (int k = 0; k < 256; k += 51) {
    d.x = {k / 255.0, 1 / 255.0, 1, 0, 254 / 255.0, 7 / 255.0};
    EXPECT_EQ(byte_unit(d), 1 / 255.0);
  }
  d.x = {0, 3, 6, 9, 300, 0};
  EXPECT_EQ(byte_unit(d), 3.0);
  d.x = {0, 1, 0, 1, 1, 0};
  EXPECT_EQ(byte_unit(d), 1.0);
  for (const double bad : {-1.0, 256.0, 1.5, 1 + 1e-15}) {  // negative, too many levels, between them, not quite one
    d.x = {0, 1, 0, bad, 1, 0};
    EXPECT_EQ(byte_unit(d), 0.0) << bad;
  }
}

TEST(Zeros, AllZero) {
  Design d;
  d.rows = 70, d.columns = 3, d.x.assign(210, 0.0);
  EXPECT_EQ(find_panels(d, 32).kept(3), 0.0);
  EXPECT_EQ(density(d), 0.0);
  EXPECT_EQ(byte_unit(d), 0.0);
}

}  // namespace
}  // namespace kilochain::testing_support
