#include "targets/external/call_watch.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <future>

#include "base/error.hpp"
#include "base/tell.hpp"

namespace kilochain {

using namespace std::chrono_literals;

CallWatch::CallWatch(std::string what, double seconds) : what_(std::move(what)), seconds_(seconds) {
  if (seconds > 0) thread_ = std::thread([this] { look(); });
}

CallWatch::~CallWatch() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  over_.notify_all();
  thread_.join();
}

int CallWatch::number_of_thread() {
  static std::atomic<unsigned> threads{0};
  thread_local const unsigned number = threads++ % num_slots;
  return static_cast<int>(number);
}

void CallWatch::look() {
  const long limit = static_cast<long>(seconds_ * 10) + 1;
  long told = 0;  // the slot's value at which it was: once for each call
  std::unique_lock lock(mutex_);
  while (!over_.wait_for(lock, 100ms, [this] { return ends_; })) {
    const long now = ++tick_;
    for (const Slot& slot : slots_) {
      const long since = slot.since.load(std::memory_order_relaxed);
      if (since == 0 || since == told || now - since < limit) continue;
      told = since;
      tell(stderr, "kilochain: {} has not returned ({:g} s). It cannot be interrupted: end the program, or wait?\n",
           what_, seconds_);
    }
  }
}

void in_time(const std::string& what, double seconds, std::function<void()> call) {
  if (seconds <= 0) return call();
  std::packaged_task<void()> task(std::move(call));
  std::future<void> done = task.get_future();
  std::thread(std::move(task)).detach();
  require(done.wait_for(std::chrono::duration<double>(seconds)) == std::future_status::ready, ExitStatus::data,
          what + " has not returned", fmt::format("{:g} s, in its first call", seconds),
          "Does it end? A longer limit is --call-seconds, and 0 is none");
  done.get();
}

}  // namespace kilochain
