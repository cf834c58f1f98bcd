// Dual averaging finds the step whose acceptance is the target, from far above and far below, through noise, and
// restarts.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/adapt/dual_averaging.hpp"

namespace kilochain {
namespace {

/// The step after `updates` with acceptance exp(-e), spoiled by uniform noise of width 0.2 (mean zero).
double found(double first, double target, int updates, double (&numbers)[dual_size]) {
  double step = first;
  const Numbers<double> memory(numbers, dual_size);
  restart_dual_averaging(HostTeam{}, step, memory);
  for (int k = 0; k < updates; ++k) {
    const double noise = 0.2 * (uniform(Rng{4, 0, k}, Purpose::adaptation) - 0.5);
    adapt_dual_averaging(HostTeam{}, target, std::min(1.0, std::exp(-step)) + noise, k + 1 == updates, memory, {&step});
  }
  return step;
}

TEST(DualAveraging, FindsTheStep) {
  double memory[dual_size] = {};
  for (const double target : {0.6, 0.8, 0.95})
    for (const double first : {1e-3, 1.0, 100.0})
      EXPECT_NEAR(std::exp(-found(first, target, 2000, memory)), target, 0.03)
          << "target " << target << " from " << first;
}

TEST(DualAveraging, ForgetsOnRestart) {
  double memory[dual_size] = {}, fresh[dual_size] = {};
  found(50, 0.6, 300, memory);
  EXPECT_EQ(found(0.1, 0.8, 100, memory), found(0.1, 0.8, 100, fresh));
}

TEST(DualAveraging, FirstUpdateByHand) {
  double numbers[dual_size] = {}, step = 0.5;
  const Numbers<double> memory(numbers, dual_size);
  restart_dual_averaging(HostTeam{}, step, memory);
  adapt_dual_averaging(HostTeam{}, 0.8, 0.3, false, memory, {&step});
  // h = 0.5/11, log e = log 5 - h/0.05.
  EXPECT_NEAR(std::log(step), std::log(5.0) - 0.5 / 11 / 0.05, 1e-14);
}

}  // namespace
}  // namespace kilochain
