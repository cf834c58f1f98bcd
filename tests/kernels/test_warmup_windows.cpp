// Stan's windows: where they begin and end for the usual warm-up, a short one and none.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/adapt/warmup_windows.hpp"

namespace kilochain {
namespace {

std::vector<std::int64_t> ends(std::int64_t num_warmup) {
  const WarmupWindows w(num_warmup);
  std::vector<std::int64_t> out;
  for (std::int64_t t = 0; t < num_warmup; ++t)
    if (w.ends(t)) out.push_back(t + 1);
  return out;
}

TEST(WarmupWindows, AsStan) {
  EXPECT_EQ(ends(1000), (std::vector<std::int64_t>{100, 150, 250, 450, 950}));
  EXPECT_EQ(ends(150), (std::vector<std::int64_t>{100}));
  EXPECT_EQ(ends(100), (std::vector<std::int64_t>{90}));
  EXPECT_EQ(WarmupWindows(100).first, 15);
  EXPECT_TRUE(ends(19).empty());
  EXPECT_TRUE(ends(0).empty());
}

TEST(WarmupWindows, LearningIsOneStretch) {
  for (const std::int64_t num_warmup : {0, 1, 19, 20, 149, 150, 151, 1000, 20000}) {
    const WarmupWindows w(num_warmup);
    for (std::int64_t t = 0; t < num_warmup; ++t) EXPECT_EQ(w.learning(t), t >= w.first && t < w.last);
    if (num_warmup >= 20) {
      EXPECT_EQ(ends(num_warmup).back(), w.last);
    }
  }
}

}  // namespace
}  // namespace kilochain
