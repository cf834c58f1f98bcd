// Inside the emulated device: what its parts share. Tests include emulated.hpp.
#pragma once
#include <cuda_runtime.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/emulated_device/emulated.hpp"

namespace kilochain::emulated {

// ---- api.cpp: every call passes here
struct State {
  Counters counters;
  Living living;
  std::uint64_t seed = 1;
  std::int64_t fail_in = 0;  ///< calls until one fails; 0: none
  bool failed = false;
  std::int64_t lose_in = 0;  ///< calls until the device is lost; 0: never
  bool collects = false;
  Mutant mutant = Mutant::none;
  std::int64_t mutant_at = 0;        ///< calls until the mutant acts
  cudaError_t sticky = cudaSuccess;  ///< a fault of a kernel stays
  cudaError_t last = cudaSuccess;
  std::vector<std::string> faults;
  std::map<const void*, std::size_t> dynamic_shared;  ///< bytes that a kernel was allowed beside the 48 KiB of all
};
State& state();
/// Counts a call; what it must return at once (`failure` when it is to fail), or cudaSuccess.
cudaError_t enter(cudaError_t failure = cudaErrorUnknown);
cudaError_t refuse(cudaError_t error, const std::string& why);  ///< says why on stderr, returns error
bool mutant_strikes(Mutant m);
std::uint64_t random_bits();
template <class T>
void shuffle(std::vector<T>& v) {
  if (state().seed == 0) return;
  for (std::size_t i = v.size(); i > 1; --i) std::swap(v[i - 1], v[random_bits() % i]);
}
/// Notes what a kernel did wrong. From a kernel it does not return, unless races are collected and this is one.
void fault(cudaError_t error, const std::string& text);

// ---- memory.cpp
struct Touch {  ///< one access, as the race detector remembers it; tick 0: none
  std::uint32_t thread, tick, pc;
};
/// The last of many accesses, and the last by another thread than its, of another warp, of another block: whoever is
/// not ordered after all of the accesses is not ordered after one of these.
struct Touches {
  Touch last, thread, warp, block;
};
/// Four bytes of memory, or one where bytes are touched alone, and what the last launch that touched them did.
struct Cell {
  std::uint32_t launch;
  bool split;                 ///< into its four bytes, which have cells of their own
  bool atomic;                ///< the write was
  Touch write, other_atomic;  ///< the last; an atomic one by another thread, which nothing orders before it
  Touches reads;
  std::uint32_t reader, reader_pc;  ///< an earlier launch that read, and was not over when this one began; 0: none
};
/// The cells of a piece of memory that begins at `base`, by words and by bytes.
struct Cells {
  Cell *words = nullptr, *bytes = nullptr;
  std::uintptr_t base = 0;
};
struct Allocation {
  std::uintptr_t begin = 0, end = 0;
  int number = 0;
  bool freed = false, open = false;
  Cells cells;
};
inline constexpr std::size_t page = 4096, arena_bytes = std::size_t(1) << 40;
/// Where device memory lies, whose each page is, and the pieces: plain, because every access of a kernel asks.
struct Map {
  std::uintptr_t base = 0;
  std::uint32_t* owner = nullptr;  ///< 1 + the piece's place; 0: nobody's
  std::vector<Allocation*> pieces;
};
extern Map map;
inline bool in_arena(std::uintptr_t address) { return address - map.base < arena_bytes && map.base != 0; }
/// The allocation that the page of `address` belongs to; null outside of device memory.
inline Allocation* allocation_at(std::uintptr_t address) {
  if (!in_arena(address)) return nullptr;
  const std::uint32_t which = map.owner[(address - map.base) / page];
  return which ? map.pieces[which - 1] : nullptr;
}
bool is_device(const void* p);
bool is_pinned(const void* p, std::size_t bytes);
/// Why these bytes cannot be copied or set as one piece; empty when they can.
std::string bad_range(const void* p, std::size_t bytes);
void poison(void* p, std::size_t bytes);
/// Opens one piece of device memory until the last Open ends.
void open_piece(Allocation& piece);
/// While one lives, the calling thread is the device, to which its memory opens piece by piece, when it is first
/// touched.
struct Open {
  Open();
  ~Open();
};

// ---- kernel.cpp
struct Launch {
  dim3 grid, block;
  std::size_t dynamic_shared;
  Call call;
  bool together;  ///< its blocks run at once, and may meet
};
void run(const Launch& launch);
bool in_kernel();
/// Whether a kernel's own code runs: set by the scheduler, unset while the runtime works for the kernel. The linker may
/// have taken the instrumented copy of a template (of std::string, say) for the whole program.
extern thread_local bool watching;
struct Unwatched {
  Unwatched() { watching = false; }
  ~Unwatched() { watching = true; }
};
/// What the threads of kernels did since the start, one by one: what bench/roofline.py counts latencies by.
struct Steps {
  std::int64_t accesses = 0, shuffles = 0, syncs = 0, block_syncs = 0;
};
extern Steps steps;
std::string here_in_kernel();  ///< "kernel f, block (1, 0, 0), thread 3"
int launch_bound(const void* kernel);
std::string launch_refusal(const Launch& launch);  ///< empty when it can run
bool in_stacks(std::uintptr_t address);
inline constexpr std::size_t stack_bytes = std::size_t(128) << 10;
extern std::uintptr_t own_stack;  ///< where the running thread's begins
inline bool in_own_stack(std::uintptr_t address) { return address - own_stack < stack_bytes; }
bool in_arguments(std::uintptr_t address);
inline constexpr std::uint32_t most_threads = 1024;
inline constexpr int multiprocessors = 4;
/// Of the running thread (block * most_threads + its number): ticks before its last synchronisations, the warp's or the
/// block's, whichever came later, the block's, and the grid's; and since when all of those are of one place of the
/// source, which is asked only while places are weighed.
struct Clock {
  std::uint32_t launch, thread, tick;
  struct Meeting {
    std::uint32_t tick = 0, alone_since = ~0u;
    int place = -1;
  } warp, block, grid;
};
/// Without this place the running thread would race.
void need_place(int place);
extern Clock now;

// ---- order.cpp
using Times = std::vector<std::uint32_t>;  ///< how many jobs of each stream are over, by the stream's number
void merge(Times& into, const Times& from);
std::uint32_t new_stream();  ///< its number
const Times& host_times();   ///< what the host has waited for
void host_waited(const Times& times);
void begin_job(std::uint32_t stream, Times& times);  ///< times: the stream's, of which one more is over
void begin_host_job();
const Times& job_times();  ///< of the job at hand
std::uint32_t job_stream();
std::uint32_t new_work();  ///< a number for what the job at hand now does to memory: a kernel, a copy
bool happened_before(std::uint32_t work);

// ---- copies.cpp
extern std::atomic<bool> pinned_under_way;  ///< copies with pinned memory that the host has not waited for
/// Why the host must not touch these bytes now; empty when it may.
std::string why_not_touch(std::uintptr_t at, std::size_t bytes, bool writes);
void forget_pinned_uses();

// ---- races.cpp
/// A copy, a memset or a product touches device memory.
void touch_range(const void* p, std::size_t bytes, bool writes);
void start_block();
inline constexpr std::size_t dynamic_limit = std::size_t(228) << 10;
std::size_t dynamic_shared_bytes();  ///< of the launch that runs
void end_block();

// ---- symbols.cpp
/// File and line of code; calls return to it.
std::string source_of(std::uintptr_t pc);
std::vector<std::string> sources_of(const std::vector<std::uintptr_t>& pcs);
std::string name_of(const void* function);
struct SharedVariable {
  std::uintptr_t begin, end;
  std::string name;
};
const std::vector<SharedVariable>& shared_variables();
struct Image {
  std::uintptr_t bias, begin, end;
};
extern const Image image;

// ---- streams.cpp
enum class NodeKind { kernel, copy, set, host, product };
struct Work {
  NodeKind kind;
  const void* kernel;                ///< of a kernel node
  int detail;                        ///< of a copy: its kind
  std::function<void()> run, early;  ///< early: at submission, by the host
};
cudaError_t submit(Stream* stream, Work work);
void drain_all();
bool capturing_here();
/// What a capture of this thread forbids; invalidates it.
cudaError_t forbid_in_capture(const char* what);
void submit_graph(Stream* stream, const GraphExec& exec);

}  // namespace kilochain::emulated

#define KC_ENTER(...) \
  if (const cudaError_t entered = ::kilochain::emulated::enter(__VA_ARGS__); entered != cudaSuccess) return entered
#define KC_NOT_IN_CAPTURE() \
  if (::kilochain::emulated::capturing_here()) return ::kilochain::emulated::forbid_in_capture(__func__)
