#include "host/statistics/scratch.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace kilochain {
namespace {

constexpr std::size_t kPage = std::size_t(2) << 20, kLarge = 4 * kPage;
constexpr std::size_t kReused = std::size_t(1) << 16;  // from here on the allocator maps anew, page by page

struct Kept {
  void* memory;
  std::size_t capacity;
};
struct Pool {
  int users = 0;
  std::vector<Kept> kept;
};
thread_local Pool pool;

/// Whole pages; equal requests, which is what one series after another makes, have equal capacities.
std::size_t capacity_of(std::size_t bytes) {
  const std::size_t alignment = bytes >= kLarge ? kPage : 64;
  return (bytes / alignment + 1) * alignment;
}

}  // namespace

namespace scratch_detail {

void* take(std::size_t bytes) {
  const std::size_t capacity = capacity_of(bytes);
  const auto fits = std::find_if(pool.kept.begin(), pool.kept.end(),
                                 [capacity](const Kept& kept) { return kept.capacity == capacity; });
  if (fits != pool.kept.end()) {
    void* memory = fits->memory;
    pool.kept.erase(fits);
    return memory;
  }
  void* memory = std::aligned_alloc(bytes >= kLarge ? kPage : 64, capacity);
  if (memory == nullptr) throw std::bad_alloc();
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (bytes >= kLarge) madvise(memory, capacity, MADV_HUGEPAGE);  // a hint: failure changes nothing
#endif
  return memory;
}

void* take_room(std::size_t bytes) {
  const std::size_t alignment = bytes >= kLarge ? kPage : 64;
  void* memory = std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
  if (memory == nullptr) throw std::bad_alloc();
#if defined(__linux__) && defined(MADV_NOHUGEPAGE)
  if (bytes >= kLarge) madvise(memory, bytes, MADV_NOHUGEPAGE);  // where large pages are given to all, too
#endif
  return memory;
}

void give_back(void* memory, std::size_t bytes) {
  if (pool.users > 0 && bytes >= kReused) {
    pool.kept.push_back({memory, capacity_of(bytes)});
  } else {
    std::free(memory);
  }
}

}  // namespace scratch_detail

void FreeRoom::operator()(void* memory) const { std::free(memory); }

ScratchReuse::ScratchReuse() { ++pool.users; }

ScratchReuse::~ScratchReuse() {
  if (--pool.users > 0) return;
  for (const Kept& kept : pool.kept) std::free(kept.memory);
  pool.kept.clear();
}

}  // namespace kilochain
