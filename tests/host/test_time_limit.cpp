// The flag that ends a run in time for what comes after its last draw.
#include <gtest/gtest.h>

#include "host/run/time_limit.hpp"

namespace kilochain {
namespace {

void wait_for(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::yield();
}

TEST(TimeLimit, WhatIsReservedEndsItEarlier) {
  const std::atomic<bool> stop{false};
  const auto begin = std::chrono::steady_clock::now();
  TimeLimit limit(2, stop);
  limit.reserve(0.8);
  wait_for(limit.flag());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_TRUE(limit.is_over());
  EXPECT_GE(seconds.count(), 1.2);  // never before 2 s less 0.8
}

TEST(TimeLimit, KeepsAFifthOfTheTimeForDraws) {
  const std::atomic<bool> stop{false};
  const auto begin = std::chrono::steady_clock::now();
  TimeLimit limit(1, stop);
  limit.reserve(3600);
  wait_for(limit.flag());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(seconds.count(), 0.2);
}

TEST(TimeLimit, ACallerEndsItWithoutTheTimeBeingOver) {
  std::atomic<bool> stop{false};
  TimeLimit limit(3600, stop);
  limit.reserve(1);
  stop = true;
  wait_for(limit.flag());
  EXPECT_FALSE(limit.is_over());
}

}  // namespace
}  // namespace kilochain
