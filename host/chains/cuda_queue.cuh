// How far the host runs ahead of the device: far enough that the device never waits for it, and never so far that a
// clock, a progress line or Ctrl-C waits for thousands of queued rounds.
#pragma once
#include "kernels/device/launch.cuh"

namespace kilochain::cuda {

/// A mark in the queue of a context's stream.
class Event {
 public:
  explicit Event(const Place& place) : place_(place) {
    CUDA_CHECK(set_device(place.device));
    CUDA_CHECK(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }
  void record() { CUDA_CHECK(cudaEventRecord(event_, stream_of(place_))); }
  /// Returns when all that was queued before the last record() is done.
  void wait() { CUDA_CHECK(cudaEventSynchronize(event_)); }

 private:
  Place place_;
  cudaEvent_t event_ = nullptr;
};

/// Lets the host queue at least `rounds` rounds ahead, and at most twice as many: two windows of draws in most runs.
class Throttle {
 public:
  static constexpr std::int64_t rounds = 512;
  explicit Throttle(const Place& place) : done_{Event(place), Event(place)} {}
  /// After each launch, of so many rounds.
  void queued(std::int64_t more = 1) {
    count_ += more;
    if (count_ < rounds) return;
    count_ = 0;
    done_[now_].record();
    now_ = 1 - now_;
    if (marks_++ > 0) done_[now_].wait();
  }

 private:
  Event done_[2];
  int now_ = 0;
  std::int64_t count_ = 0, marks_ = 0;
};

/// A device counter that the host reads one round late.
class LateCounter {
 public:
  explicit LateCounter(const Place& place)
      : place_(place),
        count_(place, 64),
        seen_(place, 2, "counters", Memory::pinned),
        done_{Event(place), Event(place)} {}
  void restart() { rounds_ = 0; }
  /// Zero, for a kernel to add to.
  int* open() {
    int* at = count_.data() + 32 * (rounds_ & 1);
    CUDA_CHECK(cudaMemsetAsync(at, 0, sizeof(int), stream_of(place_)));
    return at;
  }
  /// Ends this round's count; returns the count of the round before, or -1 when this is the first since restart.
  int close() {
    const int now = rounds_++ & 1;
    begin_copy_to_host(place_, seen_.data() + now, count_.data() + 32 * now, sizeof(int));
    done_[now].record();
    if (rounds_ == 1) return -1;
    done_[1 - now].wait();
    return seen_.view()[1 - now];
  }

 private:
  Place place_;
  Buffer<int> count_, seen_;
  Event done_[2];
  int rounds_ = 0;
};

}  // namespace kilochain::cuda
