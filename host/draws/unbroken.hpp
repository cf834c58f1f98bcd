// A guard around writes to a file: while one lives, a signal that would end the program waits for its end, so that no
// file is left half written. Guards may nest, and threads may write side by side.
#pragma once
#include <atomic>
#include <csignal>

namespace kilochain {

class Unbroken {
 public:
  Unbroken() { ++writing; }
  Unbroken(const Unbroken&) = delete;
  ~Unbroken() {
    if (--writing == 0 && waiting != 0) end_by(waiting);
  }
  /// In a signal handler: the default action of `signal_number`, now or when what is being written is written. A second
  /// call waits for nothing.
  static void end(int signal_number) {
    if (writing == 0 || waiting.exchange(signal_number) != 0) end_by(signal_number);
  }

 private:
  static void end_by(int signal_number) {
    std::signal(signal_number, SIG_DFL);
    std::raise(signal_number);
  }
  static inline std::atomic<int> writing{0}, waiting{0};
  static_assert(std::atomic<int>::is_always_lock_free, "read by a signal handler");
};

}  // namespace kilochain
