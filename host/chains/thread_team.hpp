// A team of threads for one task: the caller and some more, which meet at a barrier (docs/decisions/0009-barriers.md).
// Threads of the language rather than an OpenMP region, so that the thread sanitizer sees every meeting.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

namespace kilochain {

/// The first exception of several threads, kept until they have ended.
class FirstFailure {
 public:
  /// In a catch block.
  void keep() {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr failure_;
};

/// Who waits looks for about as long as waking a sleeper takes, and sleeps then. It never yields its core, as
/// std::barrier does: beside a busy process that costs the rest of its slice, milliseconds.
class Barrier {
 public:
  explicit Barrier(int size) : size_(size) {}
  void arrive_and_wait() {
    const unsigned now = meetings_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
      arrived_.store(0, std::memory_order_relaxed);
      const std::lock_guard lock(mutex_);
      meetings_.store(now + 1, std::memory_order_release);
      over_.notify_all();
      return;
    }
    const auto met = [&] { return meetings_.load(std::memory_order_acquire) != now; };
    using Clock = std::chrono::steady_clock;
    for (const auto end = Clock::now() + looking; Clock::now() < end;)
      if (met()) return;
    std::unique_lock lock(mutex_);
    over_.wait(lock, met);
  }

 private:
  static constexpr std::chrono::microseconds looking{50};
  const int size_;
  std::atomic<int> arrived_{0};
  std::atomic<unsigned> meetings_{0};
  std::mutex mutex_;
  std::condition_variable over_;
};

class TeamMember {
 public:
  TeamMember(int rank, int size, Barrier& all) : rank(rank), size(size), all_(all) {}
  const int rank, size;
  /// Returns when all members have come; what they wrote before is visible to all after.
  void meet() const { all_.arrive_and_wait(); }

 private:
  Barrier& all_;
};

/// f(member) on `threads` threads at most, the caller's among them; fewer where the system has no more to give. Throws
/// what the first of them to fail threw, when all have ended: who fails between meetings must still come to them.
template <class F>
void in_team(int threads, F&& f) {
  FirstFailure failure;
  std::optional<Barrier> all;
  std::atomic<int> size{0};
  const auto work = [&](int rank) {
    size.wait(0);
    try {
      f(TeamMember(rank, size, *all));
    } catch (...) {
      failure.keep();
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (int rank = 1; rank < threads; ++rank) others.emplace_back(work, rank);
    } catch (const std::system_error&) {
    }
    const int members = static_cast<int>(others.size()) + 1;
    all.emplace(members);
    size = members;
    size.notify_all();
    work(0);
  }
  failure.rethrow();
}

}  // namespace kilochain
