// The box: values and their places in the cube, whole numbers, logarithms, grids, and what is no box.
#include <gtest/gtest.h>

#include <cmath>

#include "host/tune/box.hpp"
#include "tests/support/scratch_files.hpp"

namespace kilochain {
namespace {

using testing_support::expect_error;

constexpr double rounding = 64 * 2.2e-16;

TEST(Box, ValuesAndPlacesAreInverse) {
  const Box box({{"linear", -2, 6}, {"log", 0.001, 10, true}});
  EXPECT_EQ(box.values({0, 0}), (Point{-2, 0.001}));
  EXPECT_EQ(box.values({1, 1}), (Point{6, 10}));
  EXPECT_EQ(box.values({-0.5, 2}), (Point{-2, 10})) << "outside is taken to the edge";
  EXPECT_NEAR(box.values({0.25, 0.5})[0], 0, rounding);
  EXPECT_NEAR(box.values({0.25, 0.5})[1], 0.1, 0.1 * rounding);
  for (int k = 0; k <= 10; ++k) {
    const Point u = {0.1 * k, 1 - 0.1 * k}, back = box.unit(box.values(u));
    EXPECT_NEAR(back[0], u[0], rounding);
    EXPECT_NEAR(back[1], u[1], rounding);
  }
}

TEST(Box, WholeNumbersAreEachReached) {
  const Box box({{"whole", 1, 4, false, true}, {"log", 1, 64, true, true}});
  int seen[65] = {};
  for (int k = 0; k <= 1000; ++k) {
    const Point v = box.values({k / 1000.0, k / 1000.0});
    EXPECT_EQ(v[0], std::round(v[0]));
    EXPECT_EQ(v[1], std::round(v[1]));
    ++seen[static_cast<int>(v[1])];
  }
  for (int k = 1; k <= 64; ++k) EXPECT_GT(seen[k], 0) << k;
}

TEST(Box, GridsAreEvenInTheirScale) {
  const Box box({{"log", 1, 100, true}, {"whole", 1, 3, false, true}});
  const std::vector<double> axis = box.axis(0, 3);
  ASSERT_EQ(axis.size(), 3u);
  EXPECT_NEAR(axis[1], 10, 10 * rounding);
  EXPECT_EQ(box.axis(1, 100), (std::vector<double>{1, 2, 3})) << "each once";
  const std::vector<Point> grid = box.grid(100);
  EXPECT_EQ(grid.size(), 300u);
  EXPECT_EQ(grid[1][1], 2) << "the last dimension fastest";
}

void refuses(std::vector<Dimension> dimensions, const std::string& text) {
  expect_error([&] { Box box(dimensions); }, ExitStatus::usage, "", text);
}
TEST(Box, WhatIsNone) {
  refuses({}, "nothing to tune (the box has no dimension). Name settings and their ranges, --over NAME=LOW:HIGH?");
  refuses({{"a", 2, 1}}, "the range of a is empty (a from 2 to 1). Its lower bound is above its upper one; try 1:2?");
  refuses({{"a", 2, 2}}, "the range of a is a single value (a from 2 to 2). Set it instead of tuning it?");
  refuses({{"a", 0, 1, true}},
          "the range of a has no logarithm (a from 0 to 1). Raise the lower bound above 0, or leave out :log?");
  refuses({{"a", 0, INFINITY}}, "the range of a has no end (a from 0 to inf). Write two finite numbers, low:high?");
  refuses({{"a", 0.5, 3, false, true}}, "a is a whole number (a from 0.5 to 3). Try 1:3?");
  refuses({{"a", 0, 1}, {"a", 1, 2}}, "a has two ranges (2 dimensions). Keep one?");
}

}  // namespace
}  // namespace kilochain
