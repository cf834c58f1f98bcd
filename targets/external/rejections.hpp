// Counts the points at which code that is not ours had no value, and keeps what it said first.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace kilochain {

class Rejections {
 public:
  /// From any thread.
  void add(const std::string& why);
  std::int64_t count() const { return count_; }
  void forget() { count_ = 0; }
  /// "12 points had no value; the first: ...": one note, or none.
  std::vector<std::string> notes(const std::string& what) const;

 private:
  std::atomic<std::int64_t> count_{0};
  mutable std::mutex mutex_;
  std::string first_;
};

}  // namespace kilochain
