// A launch: blocks one after another in a shuffled order, the threads of a block as fibers. Between two
// synchronisations a thread runs undisturbed; which of those that can run goes next is shuffled. Where a warp or the
// block meets, all of the mask (of the block) must come: when nobody can run and some still wait, the launch has
// failed, and says who waits.
// Blocks of a launch that says so (cooperative) run at once, in turns from one meeting of the grid to the next; shared
// memory does not outlive a turn, which is stricter than CUDA.
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "tests/emulated_device/fiber.hpp"
#include "tests/emulated_device/runtime.hpp"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace kilochain::emulated {

thread_local bool watching = false;
Steps steps;
std::uintptr_t own_stack = 0;
Clock now{};

namespace {

enum class Waits { no, warp, block, grid, never };  ///< never: the thread has ended

struct Thread {
  Fiber fiber;
  Waits waits = Waits::no;
  const char* where = "";  ///< it waits in
  unsigned mask = 0;
  std::uint64_t bits = 0, result = 0;
  int source = 0;
  Sync kind = Sync::syncthreads;
};

/// A block: its threads, and where they stand.
struct Block {
  char* stacks = static_cast<char*>(mmap(nullptr, most_threads*(stack_bytes + page), PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  std::vector<Thread> threads{most_threads};
  unsigned arrived = 0;  ///< threads at the block's barrier
  std::vector<unsigned> ready;
  Clock::Meeting met;  ///< Clock::block while other blocks run
  std::vector<Clock::Meeting> warp_met = std::vector<Clock::Meeting>(most_threads / 32);
  std::vector<unsigned> warp_waits = std::vector<unsigned>(most_threads / 32);  ///< lanes that wait for their warp
  Block() {
    for (std::size_t t = 0; t < most_threads; ++t) mprotect(stacks + t * (stack_bytes + page), page, PROT_NONE);
  }
  Block(const Block&) = delete;
  char* stack(unsigned t) const { return stacks + t * (stack_bytes + page) + page; }
};

struct Device {
  std::vector<std::unique_ptr<Block>> blocks;  ///< as many as ever ran at once
  Block* block = nullptr;                      ///< the one that runs
  Fiber scheduler;
  const Launch* launch = nullptr;
  unsigned count = 0, running = 0;         ///< threads of a block; the one that runs
  bool in_kernel = false, failed = false;  ///< failed: the launch is given up
  std::vector<unsigned> turn;
  std::uintptr_t grid_site = 0;  ///< where the grid meets
  std::vector<char> dynamic = std::vector<char>(dynamic_limit);
  std::set<std::uintptr_t> sites;
  std::uintptr_t lately[64] = {};  ///< sites that are known, so that the set is not asked at each synchronisation
  std::set<std::uintptr_t> dropped;
  bool weighs = false;  ///< places, by what would race without them
  std::map<std::uintptr_t, int> place_of_site;
  std::vector<std::string> places;
  std::vector<char> needed;  ///< by its place
  Block& of_launch(std::size_t k) {
    while (blocks.size() <= k) blocks.push_back(std::make_unique<Block>());
    return *blocks[k];
  }
};
Device& device() {
  static Device d;
  return d;
}

void leave() {
  Device& d = device();
  switch_fibers(d.block->threads[d.running].fiber, d.scheduler);
}

void thread_main() {
  Device& d = device();
  d.launch->call.invoke(d.launch->call.kernel, d.launch->call.arguments.get());
  watching = false;
  d.block->threads[d.running].waits = Waits::never;
  leave();
}

/// Whether the synchronisation there is left out (a mutant).
bool dropped(std::uintptr_t at) {
  Device& d = device();
  if (std::uintptr_t& known = d.lately[at / 4 % 64]; known != at) d.sites.insert(known = at);
  return !d.dropped.empty() && d.dropped.count(at) != 0;
}

/// Of a place of the source; -1 where places are not weighed.
int place_of(std::uintptr_t site) {
  Device& d = device();
  if (!d.weighs) return -1;
  const auto [at, is_new] = d.place_of_site.emplace(site, 0);
  if (is_new) {
    const std::string name = source_of(site);
    const auto known = std::find(d.places.begin(), d.places.end(), name);
    at->second = static_cast<int>(known - d.places.begin());
    if (known == d.places.end()) d.places.push_back(name), d.needed.push_back(0);
  }
  return at->second;
}
/// The threads of a warp or block have met at a place: what was before it is visible after it.
void note_meeting(Clock::Meeting& met, int place) {
  if (place < 0)
    met.alone_since = ~0u;
  else if (place != met.place)
    met.alone_since = met.tick;
  met.place = place, met.tick = now.tick;
}

/// site: of a __syncwarp, after which what came before is visible to the others; 0: a shuffle promises nothing of
/// memory.
void meet_warp(unsigned mask, const char* where, std::uintptr_t site) {
  Device& d = device();
  const unsigned me = d.running, first = me / 32 * 32;
  if (!(mask >> (me - first) & 1))
    fault(cudaErrorLaunchFailure, here_in_kernel() + ": it is not in the mask of its own " + where);
  Thread& t = d.block->threads[me];
  t.waits = Waits::warp, t.where = where, t.mask = mask;
  unsigned& waiting = d.block->warp_waits[me / 32];
  waiting |= 1u << (me - first);
  bool all = (waiting & mask) == mask;
  for (unsigned l = 0; l < 32 && all; ++l)
    if (mask >> l & 1) {
      const Thread& other = d.block->threads[first + l];
      all = other.mask == mask && other.where == where;
    }
  if (all) {
    waiting &= ~mask;
    if (site != 0 && (mask == 0xffffffffu || first + static_cast<unsigned>(std::popcount(mask)) == d.count)) {
      ++now.tick;
      note_meeting(d.block->warp_met[me / 32], place_of(site));
    }
    for (unsigned l = 0; l < 32; ++l)
      if (mask >> l & 1) {
        Thread& other = d.block->threads[first + l];
        other.result = other.source >= 0 ? d.block->threads[first + static_cast<unsigned>(other.source)].bits : 0;
        other.waits = Waits::no;
        d.block->ready.push_back(first + l);
      }
  }
  leave();
}

void prepare(const std::vector<unsigned>& numbers) {
  Block& block = *device().block;
  block.arrived = 0;
  block.ready = numbers;
  block.met = {};
  std::fill(block.warp_met.begin(), block.warp_met.end(), Clock::Meeting{});
  std::fill(block.warp_waits.begin(), block.warp_waits.end(), 0);
  for (unsigned t : numbers) {
    block.threads[t] = Thread{};
    block.threads[t].fiber.prepare(block.stack(t), stack_bytes, thread_main);
  }
}

/// Lets the block's threads run until all have ended or, in a launch whose blocks run at once, come to the grid's
/// meeting.
void run_block(const std::vector<unsigned>& numbers) {
  Device& d = device();
  Block& block = *d.block;
  now.block = block.met;
  start_block();
  while (!block.ready.empty() && !d.failed) {
    d.turn.swap(block.ready);
    block.ready.clear();
    shuffle(d.turn);
    for (unsigned t : d.turn) {
      d.running = t;
      const dim3& b = d.launch->block;
      threadIdx = {t % b.x, t / b.x % b.y, t / b.x / b.y};
      now.thread = now.thread / most_threads * most_threads + t;
      now.warp = block.warp_met[t / 32];
      own_stack = reinterpret_cast<std::uintptr_t>(block.stack(t));
      watching = true;
      switch_fibers(d.scheduler, block.threads[t].fiber);
      watching = false;
      if (d.failed) break;
    }
  }
  end_block();
  const auto all_wait = [&](Waits w) {
    return std::all_of(numbers.begin(), numbers.end(), [&](unsigned t) { return block.threads[t].waits == w; });
  };
  if (!d.failed && all_wait(Waits::grid)) return;
  if (d.failed) return;
  for (unsigned t : numbers)
    if (d.block->threads[t].waits != Waits::never) {
      d.running = t;
      const dim3& b = d.launch->block;
      threadIdx = {t % b.x, t / b.x % b.y, t / b.x / b.y};
      std::string others;
      int named = 0;
      const bool warp = d.block->threads[t].waits == Waits::warp;
      for (unsigned o = warp ? t / 32 * 32 : 0; o < (warp ? std::min(d.count, t / 32 * 32 + 32) : d.count); ++o) {
        const Thread& other = d.block->threads[o];
        if (warp && !(d.block->threads[t].mask >> (o % 32) & 1)) continue;
        if (other.waits == d.block->threads[t].waits && other.where == d.block->threads[t].where &&
            other.mask == d.block->threads[t].mask)
          continue;
        if (++named > 3) continue;
        others += " thread " + std::to_string(o) +
                  (other.waits == Waits::never ? " has ended;" : std::string(" waits in ") + other.where + ";");
      }
      d.in_kernel = true;
      const std::string text = here_in_kernel() + ": it waits in " + d.block->threads[t].where +
                               " for threads that never come there:" + others;
      d.in_kernel = false;
      fault(cudaErrorLaunchFailure, text);
      return;
    }
}

}  // namespace

bool in_kernel() { return device().in_kernel; }

std::string here_in_kernel() {
  char text[160];
  std::snprintf(text, sizeof text, ", block (%u, %u, %u), thread %u", blockIdx.x, blockIdx.y, blockIdx.z,
                device().running);
  return "kernel " + name_of(device().launch->call.kernel) + text;
}

void fault(cudaError_t error, const std::string& text) {
  Device& d = device();
  State& s = state();
  s.faults.push_back(text);
  std::fprintf(stderr, "emulated device: %s\n", text.c_str());
  if (s.sticky == cudaSuccess) s.sticky = error;
  if (d.in_kernel) {
    d.failed = true;
    leave();
  }
}

bool in_stacks(std::uintptr_t address) {
  const auto& blocks = device().blocks;
  return std::any_of(blocks.begin(), blocks.end(), [&](const auto& block) {
    return address - reinterpret_cast<std::uintptr_t>(block->stacks) < most_threads * (stack_bytes + page);
  });
}
bool in_arguments(std::uintptr_t address) {
  const Call& call = device().launch->call;
  return address - reinterpret_cast<std::uintptr_t>(call.arguments.get()) < call.stored;
}

/// __launch_bounds__ are padding before the function's first instruction (include/cuda_runtime.h): a byte for each
/// warp.
int launch_bound(const void* kernel) {
  const auto* code = static_cast<const unsigned char*>(kernel);
  if (code[0] == 0xf3 && code[1] == 0x0f) code += 4;  // endbr64
  int warps = 0;
  while (warps < 32 && code[warps] == 0x90) ++warps;
  return warps > 0 ? 32 * warps : 1024;
}

std::string launch_refusal(const Launch& l) {
  const auto n = [](unsigned v) { return std::to_string(v); };
  const unsigned threads = l.block.x * l.block.y * l.block.z;
  if (l.grid.x == 0 || l.grid.y == 0 || l.grid.z == 0 || threads == 0) return "an empty grid or block";
  if (l.grid.x > 0x7fffffffu || l.grid.y > 65535 || l.grid.z > 65535)
    return "a grid of " + n(l.grid.x) + " x " + n(l.grid.y) + " x " + n(l.grid.z) + " blocks";
  if (threads > 1024 || l.block.z > 64) return "blocks of " + n(threads) + " threads";
  const int bound = launch_bound(l.call.kernel);
  if (threads > static_cast<unsigned>(bound))
    return "blocks of " + n(threads) + " threads, and its launch bound is " + std::to_string(bound);
  if (l.call.bytes > 4096) return "arguments of " + std::to_string(l.call.bytes) + " bytes, more than 4096";
  // How many fit depends on registers, which are not known here: one to a multiprocessor does, by its launch bound.
  if (l.together && std::uint64_t(l.grid.x) * l.grid.y * l.grid.z > std::uint64_t(multiprocessors))
    return "more blocks than surely run at once";
  const auto& allowed = state().dynamic_shared;
  const auto asked = allowed.find(l.call.kernel);
  const std::size_t unasked = std::size_t(48) << 10, limit = asked == allowed.end() ? unasked : asked->second;
  if (l.dynamic_shared > std::max(unasked, limit))
    return std::to_string(l.dynamic_shared) + " bytes of dynamic shared memory";
  return "";
}

void run(const Launch& launch) {
  Device& d = device();
  const Open open;
  d.launch = &launch;
  d.count = launch.block.x * launch.block.y * launch.block.z;
  d.failed = false;
  now.launch = new_work();
  now.tick = 1, now.grid = {};
  gridDim = launch.grid, blockDim = launch.block;
  std::vector<std::uint32_t> blocks(std::size_t(launch.grid.x) * launch.grid.y * launch.grid.z);
  for (std::size_t b = 0; b < blocks.size(); ++b) blocks[b] = static_cast<std::uint32_t>(b);
  shuffle(blocks);
  std::vector<unsigned> numbers(d.count);
  for (unsigned t = 0; t < d.count; ++t) numbers[t] = t;
  const auto enter = [&](std::uint32_t b, std::size_t k) {
    d.block = &d.of_launch(k);
    blockIdx = {b % launch.grid.x, b / launch.grid.x % launch.grid.y, b / launch.grid.x / launch.grid.y};
    now.thread = b * most_threads;
    poison(d.dynamic.data(), launch.dynamic_shared);
  };
  const auto go_on = [&] {
    d.in_kernel = true;
    run_block(numbers);
    d.in_kernel = false;
    return !d.failed && (state().sticky == cudaSuccess || state().collects);
  };
  if (!launch.together) {
    for (const std::uint32_t b : blocks) {
      enter(b, 0);
      prepare(numbers);
      if (!go_on()) return;
    }
    return;
  }
  for (const std::uint32_t b : blocks) enter(b, b), prepare(numbers);
  for (;;) {
    std::size_t meets = 0;
    for (const std::uint32_t b : blocks) {
      enter(b, b);
      if (!go_on()) return;
      meets += d.block->threads[0].waits == Waits::grid;
    }
    if (meets == 0) return;
    if (meets < blocks.size())
      return fault(cudaErrorLaunchFailure, "kernel " + name_of(launch.call.kernel) + ": " + std::to_string(meets) +
                                               " of its blocks wait for the grid, and the others have ended");
    ++now.tick;
    const int place = place_of(d.grid_site);
    note_meeting(now.grid, place);
    for (const std::uint32_t b : blocks) {
      Block& block = *d.blocks[b];
      note_meeting(block.met, place);
      for (auto& met : block.warp_met) note_meeting(met, place);
      block.ready = numbers;
      for (const unsigned t : numbers) block.threads[t].waits = Waits::no;
    }
    shuffle(blocks);
  }
}

void sync_warp(unsigned mask) {
  const Unwatched unwatched;
  Device& d = device();
  const auto site = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  if (dropped(site)) return;
  ++steps.syncs;
  d.block->threads[d.running].source = -1;
  meet_warp(mask, "__syncwarp", site);
}

std::uint64_t shuffle(unsigned mask, std::uint64_t bits, int source, const char* name) {
  const Unwatched unwatched;
  Device& d = device();
  Thread& t = d.block->threads[d.running];
  if (source < 0 || source > 31 || !(mask >> source & 1))
    fault(cudaErrorLaunchFailure, here_in_kernel() + ": " + name + " from a lane that is not in its mask");
  t.bits = bits, t.source = source;
  ++steps.shuffles;
  meet_warp(mask, name, 0);
  return t.result;
}

unsigned vote(unsigned mask, bool value, const char* name) {
  unsigned out = 0;
  // By shuffles from each lane of the mask, so that there is one place where a warp meets.
  for (int l = 0; l < 32; ++l)
    if (mask >> l & 1) out |= static_cast<unsigned>(shuffle(mask, value ? 1 : 0, l, name)) << l;
  return out;
}

int sync_block(Sync kind, int value) {
  const Unwatched unwatched;
  Device& d = device();
  const auto site = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  if (kind == Sync::syncthreads && dropped(site)) return 0;
  Thread& me = d.block->threads[d.running];
  static const char* const names[] = {"__syncthreads", "__syncthreads_or", "__syncthreads_and", "__syncthreads_count"};
  me.waits = Waits::block, me.kind = kind, me.bits = value != 0;
  me.where = names[static_cast<int>(kind) - static_cast<int>(Sync::syncthreads)];
  ++steps.block_syncs;
  if (++d.block->arrived == d.count) {
    d.block->arrived = 0;
    unsigned yes = 0;
    for (unsigned t = 0; t < d.count; ++t) {
      if (d.block->threads[t].kind != kind)
        fault(cudaErrorLaunchFailure, here_in_kernel() + ": it is in " + me.where + ", thread " + std::to_string(t) +
                                          " in " + d.block->threads[t].where);
      yes += d.block->threads[t].bits != 0;
    }
    ++now.tick;
    const int place = kind == Sync::syncthreads ? place_of(site) : -1;  // what also decides cannot be left out
    note_meeting(now.block, place);
    for (unsigned w = 0; w < (d.count + 31) / 32; ++w) note_meeting(d.block->warp_met[w], place);
    for (unsigned t = 0; t < d.count; ++t) {
      Thread& other = d.block->threads[t];
      other.waits = Waits::no;
      other.result = kind == Sync::syncthreads_or ? yes > 0 : kind == Sync::syncthreads_and ? yes == d.count : yes;
      d.block->ready.push_back(t);
    }
  }
  leave();
  return static_cast<int>(me.result);
}

void sync_grid() {
  const Unwatched unwatched;
  Device& d = device();
  d.grid_site = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  if (dropped(d.grid_site)) return;
  if (!d.launch->together)
    fault(cudaErrorLaunchFailure, here_in_kernel() + ": it meets the grid, whose blocks were not launched at once");
  Thread& me = d.block->threads[d.running];
  me.waits = Waits::grid, me.where = "a meeting of the grid";
  d.block->met = now.block;
  leave();
}

void* dynamic_shared() { return device().dynamic.data(); }
std::size_t dynamic_shared_bytes() { return device().launch->dynamic_shared; }
void trap() {
  if (!in_kernel()) std::abort();
  watching = false;
  fault(cudaErrorLaunchFailure, here_in_kernel() + ": __trap");
  std::abort();  // not reached
}

std::set<std::string> sync_places() {
  const auto& sites = device().sites;
  const auto places = sources_of({sites.begin(), sites.end()});
  return {places.begin(), places.end()};
}
void forget_syncs() {
  Device& d = device();
  d.sites.clear(), d.dropped.clear();
  d.weighs = false;
  std::fill(std::begin(d.lately), std::end(d.lately), 0);
}
void weigh_syncs() {
  Device& d = device();
  const std::vector<std::uintptr_t> sites(d.sites.begin(), d.sites.end());
  sources_of(sites);  // all at once: each question reads the whole program
  d.weighs = true;
  std::fill(d.needed.begin(), d.needed.end(), 0);
}
void need_place(int place) { device().needed[static_cast<std::size_t>(place)] = 1; }
std::set<std::string> needed_syncs() {
  const Device& d = device();
  std::set<std::string> out;
  for (std::size_t k = 0; k < d.places.size(); ++k)
    if (d.needed[k]) out.insert(d.places[k]);
  return out;
}
void drop_syncs(const std::set<std::string>& places) {
  Device& d = device();
  const std::vector<std::uintptr_t> sites(d.sites.begin(), d.sites.end());
  const auto sources = sources_of(sites);
  d.dropped.clear();
  for (std::size_t k = 0; k < sites.size(); ++k)
    if (places.count(sources[k])) d.dropped.insert(sites[k]);
}

}  // namespace kilochain::emulated
