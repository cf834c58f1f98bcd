// A barrier for threads that meet every few hundred microseconds: it spins for about as long as waking a sleeper would take,
// then sleeps, so that neither free cores wait for the scheduler nor busy ones are kept from other work.
#pragma once
#include <atomic>

namespace kilochain {

class Meeting {
 public:
  explicit Meeting(int threads) : threads_(threads) {}
  /// Returns when all threads have come; what they wrote before is visible to all after.
  void wait() {
    const unsigned round = round_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.fetch_add(1, std::memory_order_release);
      round_.notify_all();
      return;
    }
    for (int spin = 0; spin < 20000; ++spin) {
      if (round_.load(std::memory_order_acquire) != round) return;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    round_.wait(round, std::memory_order_acquire);
  }

 private:
  const int threads_;
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<unsigned> round_{0};
};

}  // namespace kilochain
