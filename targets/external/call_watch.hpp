// Tells on standard error when one call of code that is not ours does not return. A call notes the watch's tick in
// its thread's slot, and a thread of the watch looks every tenth of a second: two relaxed stores a call. A call that
// hangs cannot be ended from outside; who reads the message can end the program.
#pragma once
#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace kilochain {

class CallWatch {
 public:
  /// seconds: how long a call may take; 0: no limit. `what` begins the message.
  CallWatch(std::string what, double seconds);
  ~CallWatch();
  CallWatch(const CallWatch&) = delete;

  /// Calls of one thread, one after another: the first begins here, each other with next(), the last ends with this.
  class Calls {
   public:
    explicit Calls(CallWatch& watch) : tick_(watch.tick_), since_(watch.slots_[number_of_thread()].since) { next(); }
    void next() { since_.store(tick_.load(std::memory_order_relaxed), std::memory_order_relaxed); }
    ~Calls() { since_.store(0, std::memory_order_relaxed); }
    Calls(const Calls&) = delete;

   private:
    const std::atomic<long>& tick_;
    std::atomic<long>& since_;
  };

 private:
  static constexpr int num_slots = 256;
  struct alignas(64) Slot {
    std::atomic<long> since{0};  ///< tick at which the call began; 0: none is under way
  };
  static int number_of_thread();
  void look();

  const std::string what_;
  const double seconds_;
  std::atomic<long> tick_{1};
  std::array<Slot, num_slots> slots_;
  std::mutex mutex_;
  std::condition_variable over_;
  bool ends_ = false;
  std::thread thread_;
};

/// Runs `call` in a thread of its own and waits for it. Throws what it throws, and an Error (data) when it takes longer
/// than `seconds` (0: no limit); the thread is then left to itself, so `call` owns all that it needs.
void in_time(const std::string& what, double seconds, std::function<void()> call);

}  // namespace kilochain
