// Copies and fills, each a job of a stream's queue.
//   pageable memory: a copy from it takes its bytes at the call; a copy to it waits, as CUDA says.
//   pinned memory: a copy from it takes its bytes when it runs; a copy to it makes the target NaN until it has run
//   (with an even seed the target keeps its old bytes). Until the host has waited for the copy, it must not write what
//   the copy reads, nor touch what it writes, nor free either: whatever order they happen to run in. The accesses of
//   .cu files are watched.
#include <algorithm>
#include <cstring>
#include <mutex>

#include "tests/emulated_device/streams.hpp"

using namespace kilochain::emulated;

namespace kilochain::emulated {
namespace {

/// A copy with pinned memory that the host has not waited for; time 0: it has not run.
struct PinnedUse {
  std::uintptr_t begin, end;
  bool writes;
  std::uint32_t stream = 0, time = 0;
};
std::mutex pinned_lock;
std::vector<std::shared_ptr<PinnedUse>>& pinned_uses() {
  struct Uses {
    std::vector<std::shared_ptr<PinnedUse>> all;
    ~Uses() {
      pinned_under_way = false;
    }  // destructors of static objects are watched code too, and may come after this
  };
  static Uses uses;
  return uses.all;
}
/// Forgets what the host has waited for.
void look_at_pinned() {
  auto& all = pinned_uses();
  const Times& host = host_times();
  std::erase_if(all,
                [&](const auto& u) { return u->time > 0 && u->stream < host.size() && host[u->stream] >= u->time; });
  pinned_under_way = !all.empty();
}

}  // namespace

std::atomic<bool> pinned_under_way{false};
void forget_pinned_uses() {
  const std::lock_guard<std::mutex> hold(pinned_lock);
  pinned_uses().clear();
  pinned_under_way = false;
}

std::string why_not_touch(std::uintptr_t at, std::size_t bytes, bool writes) {
  const std::lock_guard<std::mutex> hold(pinned_lock);
  look_at_pinned();
  for (const auto& u : pinned_uses())
    if (at < u->end && at + bytes > u->begin && (writes || u->writes))
      return std::string("pinned memory that a copy ") + (u->writes ? "writes" : "reads") +
             ", which the host has not waited for";
  return "";
}

}  // namespace kilochain::emulated

namespace {

/// At submission: notes the use; the function to call when the copy runs.
std::function<void()> begin_pinned_use(const void* p, std::size_t bytes, bool writes) {
  const std::lock_guard<std::mutex> hold(pinned_lock);
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  look_at_pinned();
  const auto use = std::make_shared<PinnedUse>(PinnedUse{at, at + bytes, writes});
  pinned_uses().push_back(use);
  pinned_under_way = true;
  return [use] {
    const std::lock_guard<std::mutex> hold_again(pinned_lock);
    use->stream = job_stream(), use->time = job_times()[use->stream];
  };
}

enum class Side { device, pinned, pageable };
Side side(const void* p, std::size_t bytes) {
  return is_device(p) ? Side::device : is_pinned(p, bytes) ? Side::pinned : Side::pageable;
}

cudaError_t copy_refused(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const bool d = is_device(to), s = is_device(from);
  const cudaMemcpyKind is =
      d ? (s ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice) : (s ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost);
  if (kind != cudaMemcpyDefault && kind != is)
    return refuse(cudaErrorInvalidMemcpyDirection, "a copy in another direction than it says");
  for (const void* p : {static_cast<const void*>(to), from}) {
    const std::string bad = bad_range(p, bytes);
    if (!bad.empty()) return refuse(cudaErrorInvalidValue, "a copy of " + bad);
  }
  return cudaSuccess;
}

/// Rows of `width` bytes; one row is a plain copy.
cudaError_t copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                 std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  if (!known(stream)) return not_a_stream();
  if (width == 0 || height == 0) return cudaSuccess;
  const std::size_t to_bytes = (height - 1) * to_pitch + width, from_bytes = (height - 1) * from_pitch + width;
  if (const auto no = copy_refused(to, from, std::min(to_bytes, from_bytes), kind); no != cudaSuccess) return no;
  const Side source = side(from, from_bytes), target = side(to, to_bytes);
  const bool pageable = source == Side::pageable || target == Side::pageable;
  if (pageable && stream->capture) return forbid_in_capture("a copy with pageable memory");
  Counters& c = state().counters;
  std::shared_ptr<std::vector<char>> taken;
  if (source == Side::pageable) {
    taken = std::make_shared<std::vector<char>>(static_cast<const char*>(from),
                                                static_cast<const char*>(from) + from_bytes);
  }
  Work work{NodeKind::copy, nullptr, static_cast<int>(kind),
            [=] {
              ++state().counters.copies;
              state().counters.copied_bytes += static_cast<std::int64_t>(width * height);
              for (std::size_t k = 0; k < height; ++k) {
                if (source == Side::device) touch_range(static_cast<const char*>(from) + k * from_pitch, width, false);
                if (target == Side::device) touch_range(static_cast<const char*>(to) + k * to_pitch, width, true);
              }
              const char* source_bytes = taken ? taken->data() : static_cast<const char*>(from);
              for (std::size_t k = 0; k < height; ++k)
                std::memmove(static_cast<char*>(to) + k * to_pitch, source_bytes + k * from_pitch, width);
            },
            nullptr};
  if (source == Side::pinned || target == Side::pinned) {
    const auto runs =
        std::make_shared<std::deque<std::function<void()>>>();  // of the launches of a graph, in their order
    work.early = [=] {
      if (source == Side::pinned) runs->push_back(begin_pinned_use(from, from_bytes, false));
      if (target == Side::pinned) runs->push_back(begin_pinned_use(to, to_bytes, true));
      if (target == Side::pinned && (state().seed == 0 || state().seed % 2 == 1))  // with an even seed: the old bytes
        for (std::size_t k = 0; k < height; ++k) poison(static_cast<char*>(to) + k * to_pitch, width);
    };
    work.run = [copy = std::move(work.run), runs, both = source == Side::pinned && target == Side::pinned] {
      copy();
      for (int k = 0; k <= both && !runs->empty(); ++k) runs->front()(), runs->pop_front();
    };
  }
  const cudaError_t submitted = submit(stream, std::move(work));
  if (submitted != cudaSuccess) return submitted;
  if (pageable) ++c.pageable_copies;
  if (target == Side::pageable) {
    ++c.synchronisations;
    drain(*stream);
    return state().last = state().sticky;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  KC_ENTER();
  return copy(to, bytes, from, bytes, bytes, 1, kind, stream);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  KC_ENTER();
  return copy(to, to_pitch, from, from_pitch, width, height, kind, stream);
}
/// On the default stream, which waits for no stream of ours: it runs at once.
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  KC_ENTER();
  KC_NOT_IN_CAPTURE();
  if (const auto no = copy_refused(to, from, bytes, kind); no != cudaSuccess) return no;
  ++state().counters.synchronisations, ++state().counters.copies;
  state().counters.copied_bytes += static_cast<std::int64_t>(bytes);
  const Open open;
  begin_host_job();
  if (is_device(from)) touch_range(from, bytes, false);
  if (is_device(to)) touch_range(to, bytes, true);
  std::memmove(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  KC_ENTER();
  if (bytes == 0) return cudaSuccess;
  const std::string bad = is_device(to) ? bad_range(to, bytes) : "host memory";
  if (!bad.empty()) return refuse(cudaErrorInvalidValue, "a memset of " + bad);
  return submit(stream, {NodeKind::set, nullptr, 0,
                         [=] {
                           ++state().counters.memsets;
                           touch_range(to, bytes, true);
                           std::memset(to, value, bytes);
                         },
                         nullptr});
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  KC_ENTER();
  KC_NOT_IN_CAPTURE();
  const std::string bad = is_device(to) ? bad_range(to, bytes) : "host memory";
  if (!bad.empty()) return refuse(cudaErrorInvalidValue, "a memset of " + bad);
  ++state().counters.memsets;
  const Open open;
  begin_host_job();
  touch_range(to, bytes, true);
  std::memset(to, value, bytes);
  return cudaSuccess;
}
