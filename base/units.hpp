// Bytes and times in words, for messages and tables of every room.
#pragma once
#include <chrono>
#include <string>

namespace kilochain {

/// 1.5 GB; powers of 1000, three digits.
std::string bytes_text(double bytes);
/// 0.85 s, 12 s, 3 min 20 s, 2 h 05 min, 3.1e+02 years; "?" when it is not known (not finite, or negative).
std::string seconds_text(double seconds);

inline double seconds_since(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
}

}  // namespace kilochain
