// Whole runs of a test: without progress, to their end; and the message of one that is refused.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <string>

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

}  // namespace kilochain::testing_support
