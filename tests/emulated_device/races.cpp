// Every access of a kernel passes here: .cu files are compiled with -fsanitize=thread, and these are the functions that
// the compiler then calls (ours in place of the sanitizer's own, whose threads are the host's). An access must stay in
// the kernel's own memory; and two threads may touch the same bytes, one of them writing, only with a synchronisation
// of both between them: exact for any order in which the threads happened to run, so a synchronisation is needed if,
// and only if, accesses that conflict have no other between them. Shuffles order no memory, blocks are ordered by
// meetings of the grid alone, atomics do not race with each other. Shared memory must be written before it is read.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <set>

#include "tests/emulated_device/runtime.hpp"

namespace kilochain::emulated {
namespace {

struct Shared {
  std::uintptr_t begin = 0, end = 0;
  std::vector<Cell> words, bytes;
  std::vector<std::int16_t> variable;  ///< of each word; -1: none
  std::vector<char> touched;           ///< for each variable
  Shared() {
    const auto& all = shared_variables();
    if (all.empty()) return;
    begin = all.front().begin & ~std::uintptr_t(3);
    for (const auto& v : all) end = std::max(end, v.end);
    words.resize((end - begin + 3) / 4), bytes.resize(4 * words.size());
    variable.assign(words.size(), -1);
    touched.assign(all.size(), 1);
    for (std::size_t k = 0; k < all.size(); ++k)
      for (std::uintptr_t at = all[k].begin; at < all[k].end; at += 4)
        variable[(at - begin) / 4] = static_cast<std::int16_t>(k);
  }
  Cells cells() { return {words.data(), bytes.data(), begin}; }
};
Shared& shared() {
  static Shared s;
  return s;
}

/// The block's dynamic shared memory.
struct Dynamic {
  std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(dynamic_shared());
  std::size_t size = 0;  ///< of the launch that runs
  std::vector<Cell> words, bytes;
  Cells cells() { return {words.data(), bytes.data(), begin}; }
};
Dynamic& dynamic() {
  static Dynamic d;
  return d;
}

/// Whether a synchronisation of both stands between; noted is a place that every such synchronisation is of.
inline bool ordered(const Touch& before, const Clock& c) {
  if (before.tick == 0) return true;
  const std::uint32_t differs = before.thread ^ c.thread;
  if (differs == 0) return true;
  const Clock::Meeting& met = differs < 32 ? c.warp : differs < most_threads ? c.block : c.grid;
  if (before.tick >= met.tick) return false;
  if (before.tick >= met.alone_since) need_place(met.place);
  return true;
}

inline void add(Touches& all, const Touch& mine) {
  if (all.last.tick == 0) {
    all.thread.tick = all.warp.tick = all.block.tick = 0;
  } else if (const std::uint32_t differs = all.last.thread ^ mine.thread; differs != 0) {
    all.thread = all.last;
    if (differs >= 32) all.warp = all.last;
    if (differs >= most_threads) all.block = all.last;
  }
  all.last = mine;
}

std::string place_text(std::uintptr_t at) {
  char text[160];
  if (const Allocation* a = allocation_at(at)) {
    std::snprintf(text, sizeof text, "byte %" PRIdPTR " of allocation %d, which has %" PRIuPTR " bytes%s",
                  static_cast<std::intptr_t>(at - a->begin), a->number, a->end - a->begin,
                  a->freed ? " and was freed" : "");
    return text;
  }
  if (at - dynamic().begin < dynamic_limit)
    return "byte " + std::to_string(at - dynamic().begin) + " of dynamic shared memory";
  const Shared& s = shared();
  if (at - s.begin < s.end - s.begin) {
    const int v = s.variable[(at - s.begin) / 4];
    if (v >= 0) return "shared " + shared_variables()[static_cast<std::size_t>(v)].name;
  }
  return "an address that is not on the device";
}

std::string thread_text(const Touch& t) {
  return "thread " + std::to_string(t.thread % most_threads) + " of block " + std::to_string(t.thread / most_threads);
}

void race(const Touch& before, const char* what_before, const char* what, std::uintptr_t at, std::uint32_t pc) {
  static std::set<std::pair<std::uint32_t, std::uint32_t>> known;
  State& s = state();
  if (s.collects && !known.emplace(before.pc, pc).second) return;
  const std::uintptr_t bias = image.begin;
  const std::string text = here_in_kernel() + ": race: it " + what + " " + place_text(at) + " at " +
                           source_of(bias + pc) + ", which " + thread_text(before) + " " + what_before + " at " +
                           source_of(bias + before.pc) + "; nothing orders the two";
  if (s.collects) {
    s.faults.push_back(text);
    std::fprintf(stderr, "emulated device: %s\n", text.c_str());
  } else {
    fault(cudaErrorLaunchFailure, text);
  }
}

std::string who(std::uint32_t pc) { return pc == 0 ? "a copy, a memset or a product" : source_of(image.begin + pc); }
void race_of_streams(std::uint32_t pc_before, const char* what_before, const char* what, std::uintptr_t at,
                     std::uint32_t pc) {
  static std::set<std::pair<std::uint32_t, std::uint32_t>> known;
  State& s = state();
  if (s.collects ? !known.emplace(pc_before, pc).second : s.sticky != cudaSuccess) return;
  const std::string text = (in_kernel() ? here_in_kernel() + ": " : "") + "race of streams: " + who(pc) + " " + what +
                           " " + place_text(at) + ", which " + who(pc_before) + " in another stream " + what_before +
                           "; no event orders the two";
  if (s.collects) {
    s.faults.push_back(text);
    std::fprintf(stderr, "emulated device: %s\n", text.c_str());
  } else {
    fault(cudaErrorLaunchFailure, text);
  }
}

template <bool write, bool atomic>
inline void touch(Cell& cell, std::uintptr_t at, std::uint32_t pc, bool is_shared) {
  const Clock& c = now;
  constexpr const char* what = write ? "writes" : "reads";
  if (cell.launch != c.launch) {
    if (cell.launch != 0 && !happened_before(cell.launch)) {
      if (cell.write.tick != 0) race_of_streams(cell.write.pc, "writes", what, at, pc);
      if (cell.reads.last.tick != 0) cell.reader = cell.launch, cell.reader_pc = cell.reads.last.pc;
    }
    cell.launch = c.launch;
    cell.write.tick = cell.other_atomic.tick = cell.reads.last.tick = 0, cell.atomic = false;
  }
  if (!(atomic && cell.atomic)) {
    if (!ordered(cell.write, c)) race(cell.write, cell.atomic ? "changes atomically" : "writes", what, at, pc);
    if (!ordered(cell.other_atomic, c)) race(cell.other_atomic, "changes atomically", what, at, pc);
  }
  const Touch mine{c.thread, c.tick, pc};
  if constexpr (write) {
    if (cell.reader != 0) {
      if (!happened_before(cell.reader)) race_of_streams(cell.reader_pc, "reads", what, at, pc);
      cell.reader = 0;
    }
    if (cell.reads.last.tick != 0) {
      const auto follows = [&](const Touch& read) {
        if (!ordered(read, c)) race(read, "reads", what, at, pc);
      };
      follows(cell.reads.last), follows(cell.reads.thread), follows(cell.reads.warp), follows(cell.reads.block);
      if (!atomic) cell.reads.last.tick = 0;  // who is ordered after this write is ordered after them
    }
    if (!atomic)
      cell.other_atomic.tick = 0;
    else if (cell.atomic && cell.write.thread != c.thread)
      cell.other_atomic = cell.write;
    cell.write = mine, cell.atomic = atomic;
  } else {
    if (is_shared && cell.write.tick == 0)
      fault(cudaErrorLaunchFailure, here_in_kernel() + ": it reads " + place_text(at) + " at " +
                                        source_of(image.begin + pc) + ", which nobody wrote in this block");
    add(cell.reads, mine);
  }
}

template <bool write, bool atomic>
void touch_words(const Cells& cells, std::uintptr_t at, std::size_t bytes, std::uint32_t pc, bool is_shared) {
  const std::uintptr_t end = at + bytes;
  for (std::uintptr_t word = at & ~std::uintptr_t(3); word < end; word += 4) {
    Cell& cell = cells.words[(word - cells.base) / 4];
    if (!cell.split && at <= word && word + 4 <= end) {
      touch<write, atomic>(cell, word, pc, is_shared);
      continue;
    }
    Cell* const own = cells.bytes + (word - cells.base);
    if (!cell.split) std::fill(own, own + 4, cell), cell.split = true;
    for (std::uintptr_t byte = std::max(at, word); byte < std::min(end, word + 4); ++byte)
      touch<write, atomic>(own[byte - word], byte, pc, is_shared);
  }
}

/// The host's own code in .cu files.
void host_access(std::uintptr_t at, std::size_t bytes, bool writes, const void* from) {
  if (in_kernel()) return;  // the runtime works for a kernel
  const std::string no = why_not_touch(at, bytes, writes);
  if (!no.empty())
    fault(cudaErrorIllegalAddress, std::string("the host ") + (writes ? "writes " : "reads ") + no + ", at " +
                                       source_of(reinterpret_cast<std::uintptr_t>(from)));
}

template <bool write, bool atomic = false>
void access(const void* p, std::size_t bytes, const void* from) {
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  if (!watching) {
    if (pinned_under_way) host_access(at, bytes, write, from);
    return;
  }
  const Unwatched unwatched;
  if (in_own_stack(at)) return;
  ++steps.accesses;
  const auto pc = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(from) - image.begin);
  if (in_arena(at)) {
    Allocation* a = allocation_at(at);
    if (!a || a->freed || at < a->begin || at + bytes > a->end)
      fault(cudaErrorIllegalAddress, here_in_kernel() + ": it " + (write ? "writes " : "reads ") +
                                         std::to_string(bytes) + " bytes at " + source_of(image.begin + pc) + ": " +
                                         place_text(at));
    if (!a->open) open_piece(*a);
    touch_words<write, atomic>(a->cells, at, bytes, pc, false);
    return;
  }
  if (Dynamic& d = dynamic(); at - d.begin < dynamic_limit) {
    if (at + bytes > d.begin + d.size)
      fault(cudaErrorIllegalAddress, here_in_kernel() + ": it " + (write ? "writes " : "reads ") + place_text(at) +
                                         " at " + source_of(image.begin + pc) + ", and the launch has " +
                                         std::to_string(d.size));
    touch_words<write, atomic>(d.cells(), at, bytes, pc, true);
    return;
  }
  Shared& s = shared();
  if (at - s.begin < s.end - s.begin) {
    const int v = s.variable[(at - s.begin) / 4];
    if (v >= 0) {
      s.touched[static_cast<std::size_t>(v)] = 1;
      touch_words<write, atomic>(s.cells(), at, bytes, pc, true);
      return;
    }
  }
  if (at - image.begin < image.end - image.begin) {  // constants, threadIdx and its like
    if (!write) return;
  } else if (!write && (in_arguments(at) || is_pinned(p, bytes))) {
    return;
  } else if (is_pinned(p, bytes)) {
    return;
  }
  char text[120];
  std::snprintf(text, sizeof text, ": it %s %zu bytes of %s at ", write ? "writes" : "reads", bytes,
                in_stacks(at) ? "another thread's stack" : "host memory");
  fault(cudaErrorIllegalAddress, here_in_kernel() + text + source_of(image.begin + pc));
}

/// A device's loads and stores want their own size's multiples. (16 bytes may be two numbers, which are loaded apart.)
template <std::size_t bytes>
void aligned(const void* p, const void* from) {
  if (!watching || bytes > 8 || reinterpret_cast<std::uintptr_t>(p) % bytes == 0) return;
  const Unwatched unwatched;
  fault(cudaErrorIllegalAddress, here_in_kernel() + ": it loads or stores " + std::to_string(bytes) +
                                     " bytes from an address that is no multiple, at " +
                                     source_of(reinterpret_cast<std::uintptr_t>(from)));
}

}  // namespace

void touch_range(const void* p, std::size_t bytes, bool writes) {
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  Allocation* a = allocation_at(at);
  if (!a || a->freed || bytes == 0) return;  // a copy of a range that was freed since: the copy itself says so
  const Clock before = now;
  now = {new_work(), 0, 1, {}, {}, {}};
  if (writes)
    touch_words<true, false>(a->cells, at, bytes, 0, false);
  else
    touch_words<false, false>(a->cells, at, bytes, 0, false);
  now = before;
}

void note_atomic(void* at, int size, const void* site) { access<true, true>(at, static_cast<std::size_t>(size), site); }

void start_block() {
  Dynamic& d = dynamic();
  d.size = dynamic_shared_bytes();
  d.words.assign((d.size + 3) / 4, Cell{});
  if (d.bytes.size() < 4 * d.words.size()) d.bytes.resize(4 * d.words.size());
  Shared& s = shared();
  const auto& all = shared_variables();
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (!s.touched[k]) continue;
    s.touched[k] = 0;
    poison(reinterpret_cast<void*>(all[k].begin), all[k].end - all[k].begin);
    std::fill(s.words.begin() + static_cast<std::ptrdiff_t>((all[k].begin - s.begin) / 4),
              s.words.begin() + static_cast<std::ptrdiff_t>((all[k].end - s.begin + 3) / 4), Cell{});
  }
}
void end_block() {}

}  // namespace kilochain::emulated

using kilochain::emulated::access;
using kilochain::emulated::aligned;

// The compiler's side. Sizes stand in the names; `range` is a copy of a whole struct.
extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit(void*) {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
#define KC_TSAN(n)                                                                             \
  void __tsan_read##n(void* p) {                                                               \
    aligned<n>(p, __builtin_return_address(0));                                                \
    access<false>(p, n, __builtin_return_address(0));                                          \
  }                                                                                            \
  void __tsan_write##n(void* p) {                                                              \
    aligned<n>(p, __builtin_return_address(0));                                                \
    access<true>(p, n, __builtin_return_address(0));                                           \
  }                                                                                            \
  void __tsan_unaligned_read##n(void* p) { access<false>(p, n, __builtin_return_address(0)); } \
  void __tsan_unaligned_write##n(void* p) { access<true>(p, n, __builtin_return_address(0)); } \
  void __tsan_volatile_read##n(void* p) { access<false>(p, n, __builtin_return_address(0)); }  \
  void __tsan_volatile_write##n(void* p) { access<true>(p, n, __builtin_return_address(0)); }
KC_TSAN(1)
KC_TSAN(2)
KC_TSAN(4)
KC_TSAN(8)
KC_TSAN(16)
#undef KC_TSAN
void __tsan_read_range(void* p, unsigned long n) { access<false>(p, n, __builtin_return_address(0)); }
void __tsan_write_range(void* p, unsigned long n) { access<true>(p, n, __builtin_return_address(0)); }

// Host code of .cu files has atomics too (a shared_ptr's count): they are plain atomics.
#define KC_TSAN_ATOMIC(bits, T)                                                                                     \
  T __tsan_atomic##bits##_load(const volatile T* p, int) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); }           \
  void __tsan_atomic##bits##_store(volatile T* p, T v, int) { __atomic_store_n(p, v, __ATOMIC_SEQ_CST); }           \
  T __tsan_atomic##bits##_exchange(volatile T* p, T v, int) { return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_fetch_add(volatile T* p, T v, int) { return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_fetch_sub(volatile T* p, T v, int) { return __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_fetch_and(volatile T* p, T v, int) { return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_fetch_or(volatile T* p, T v, int) { return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST); }   \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* p, T* e, T v, int, int) {                           \
    return __atomic_compare_exchange_n(p, e, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                         \
  }                                                                                                                 \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* p, T* e, T v, int, int) {                             \
    return __atomic_compare_exchange_n(p, e, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                         \
  }
KC_TSAN_ATOMIC(8, unsigned char)
KC_TSAN_ATOMIC(16, unsigned short)
KC_TSAN_ATOMIC(32, unsigned)
KC_TSAN_ATOMIC(64, unsigned long)
#undef KC_TSAN_ATOMIC
}
