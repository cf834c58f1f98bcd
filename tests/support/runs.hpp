// Whole runs of a test: without progress, to their end; and the message of one that is refused.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "host/run/run.hpp"

namespace kilochain::testing_support {

inline Result run_quietly(const Options& o) {
  const std::atomic<bool> never{false};
  return run(o, nullptr, never);
}

/// What a run is refused with, which must have this status.
inline std::string refusal(const Options& o, ExitStatus status) {
  try {
    run_quietly(o);
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.status()), static_cast<int>(status)) << error.what();
    return error.what();
  }
  return "no error";
}

/// Means 0 and these variances, both within z of their Monte Carlo errors.
inline void expect_right(const Result& r, const std::vector<double>& variances, double z, const std::string& where) {
  const std::size_t n = variances.size(), draws = r.draws.size() / n, chains = r.summary.num_chains;
  ASSERT_EQ(r.summary.parameters.size(), n) << where;
  std::vector<double> square(draws);
  for (std::size_t i = 0; i < n; ++i) {
    const ParameterSummary& p = r.summary.parameters[i];
    EXPECT_LT(std::abs(p.mean), z * p.mcse_mean) << where << ", " << p.name;
    for (std::size_t k = 0; k < draws; ++k) square[k] = r.draws[k * n + i] * r.draws[k * n + i] / variances[i];
    const ParameterSummary s = summarise(
        "square", {square.data(), static_cast<std::int64_t>(chains), static_cast<std::int64_t>(draws / chains)});
    EXPECT_LT(std::abs(s.mean - 1), z * s.mcse_mean) << where << ", square of " << p.name;
  }
}

}  // namespace kilochain::testing_support
