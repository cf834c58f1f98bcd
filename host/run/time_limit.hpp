// A run's time: a flag that becomes true when a caller's does, or when so many seconds are over.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/units.hpp"

namespace kilochain {

class TimeLimit {
 public:
  /// seconds 0: no limit, and no thread.
  TimeLimit(std::int64_t seconds, const std::atomic<bool>& stop)
      : stop_(stop), begin_(Clock::now()), seconds_(static_cast<double>(seconds)) {
    if (seconds <= 0) return;
    const auto end = begin_ + std::chrono::seconds(seconds);
    watch_ = std::thread([this, end] { watch(end, begin_ + (end - begin_) / 5); });
  }
  TimeLimit(const TimeLimit&) = delete;
  ~TimeLimit() {
    if (!watch_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_one();
    watch_.join();
  }
  /// Becomes true when the run should end.
  const std::atomic<bool>& flag() const { return watch_.joinable() ? end_ : stop_; }
  /// What comes after the flag takes so many seconds: it becomes true that much earlier, never in the first fifth.
  void reserve(double seconds) { reserved_ = seconds; }
  /// How much of the time has gone, of 1; without a limit 0.
  double gone() const { return seconds_ > 0 ? seconds_since(begin_) / seconds_ : 0; }
  /// Seconds that are left; without a limit -1.
  double left() const { return seconds_ > 0 ? std::max(0.0, seconds_ * (1 - gone())) : -1; }
  /// Whether the time is over, and nobody else has asked for the end before.
  bool is_over() const { return over_; }

 private:
  using Clock = std::chrono::steady_clock;
  /// A caller's flag may be set by a signal handler, which cannot notify this thread: it is polled.
  void watch(Clock::time_point limit, Clock::time_point earliest) {
    std::unique_lock lock(mutex_);
    while (!done_ && !end_) {
      const auto reserved = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(reserved_));
      const auto end = std::max(earliest, limit - reserved),
                 next = std::min(end, Clock::now() + std::chrono::milliseconds(20));
      changed_.wait_until(lock, next, [this] { return done_; });
      if (!stop_ && Clock::now() >= end) over_ = true;
      if (stop_ || over_) end_ = true;
    }
  }

  const std::atomic<bool>& stop_;
  const Clock::time_point begin_;
  const double seconds_;
  std::atomic<bool> end_{false}, over_{false};
  std::atomic<double> reserved_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread watch_;
};

}  // namespace kilochain
