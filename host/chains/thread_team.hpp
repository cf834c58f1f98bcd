// A team of threads for one task: the caller and some more, which meet at a barrier (docs/decisions/0009-barriers.md).
// Threads of the language rather than an OpenMP region, so that the thread sanitizer sees every meeting.
#pragma once
#include <atomic>
#include <barrier>
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

class TeamMember {
 public:
  TeamMember(int rank, int size, std::barrier<>& all) : rank(rank), size(size), all_(all) {}
  const int rank, size;
  /// Returns when all members have come; what they wrote before is visible to all after.
  void meet() const { all_.arrive_and_wait(); }

 private:
  std::barrier<>& all_;
};

/// f(member) on `threads` threads at most, the caller's among them; fewer where the system has no more to give. Throws
/// what the first of them to fail threw, when all have ended: who fails between meetings must still come to them.
template <class F>
void in_team(int threads, F&& f) {
  FirstFailure failure;
  std::optional<std::barrier<>> all;
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
