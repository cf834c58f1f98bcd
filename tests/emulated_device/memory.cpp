// Device memory: one range of addresses that the host cannot touch while it is the host, handed out in pieces that
// never come back, so that a freed piece is known as such. New and freed memory is NaN. Kernels' accesses are checked
// to the byte (races.cpp); what a piece does not fill of its last page is watched too. Pinned memory is the host's,
// with a list.
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>

#include "tests/emulated_device/runtime.hpp"

namespace kilochain::emulated {
namespace {

constexpr int poison_byte = 0xff;  // NaN in every floating-point type

void* reserve(std::size_t bytes, int protection) {
  void* p = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    std::perror("emulated device: mmap");
    std::abort();
  }
  return p;
}

std::size_t total_bytes() {
  const char* text = std::getenv("KILOCHAIN_EMULATED_MEMORY");
  return text ? std::strtoull(text, nullptr, 10) : std::size_t(8) << 30;
}

struct Arena {
  std::uintptr_t next;
  std::deque<Allocation> all;
  std::map<std::uintptr_t, std::size_t> pinned;
  std::size_t used = 0;
  int open = 0;
  std::vector<Allocation*> opened;
  Arena() {
    map.base = next = reinterpret_cast<std::uintptr_t>(reserve(arena_bytes, PROT_NONE));
    map.owner = static_cast<std::uint32_t*>(reserve(arena_bytes / page * 4, PROT_READ | PROT_WRITE));
    opened.reserve(1 << 16);  // a signal's handler adds to it
  }
};
Arena& arena() {
  static Arena a;
  return a;
}

constexpr std::size_t aligned_size(std::size_t bytes) { return (bytes + 255 + (bytes == 0)) / 256 * 256; }
constexpr std::size_t paged_size(std::size_t bytes) { return (aligned_size(bytes) + page - 1) / page * page; }
/// Of a piece of so many bytes, by words and by bytes.
constexpr std::size_t cells_bytes(std::size_t paged) { return (paged / 4 + 1 + paged + 4) * sizeof(Cell); }

/// With the page behind it.
void protect(const Allocation& piece, int protection) {
  mprotect(reinterpret_cast<void*>(piece.begin & ~(page - 1)), paged_size(piece.end - piece.begin) + page, protection);
}

std::string describe(std::uintptr_t address) {
  const Allocation* a = allocation_at(address);
  char text[200];
  if (!a) return "an address that was never allocated";
  std::snprintf(text, sizeof text, "byte %" PRIdPTR " of allocation %d, which has %" PRIuPTR " bytes%s",
                static_cast<std::intptr_t>(address - a->begin), a->number, a->end - a->begin,
                a->freed ? " and was freed" : "");
  return text;
}

void on_segv(int, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  Allocation* piece = allocation_at(address);
  if (arena().open > 0 && piece && !piece->freed && !piece->open) {
    const bool watched = watching;
    open_piece(*piece);
    watching = watched;
    return;
  }
  watching = false;
  if (in_kernel()) {
    if (in_stacks(address)) fault(cudaErrorIllegalAddress, here_in_kernel() + ": its stack overflows");
    char text[64];
    std::snprintf(text, sizeof text, ": no memory at %#" PRIxPTR, address);
    fault(cudaErrorIllegalAddress, here_in_kernel() + text);
  }
  if (in_arena(address))
    std::fprintf(stderr, "emulated device: host code touches device memory: %s\n", describe(address).c_str());
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}

void watch() {
  static const bool watching = [] {
    static char stack[1 << 16];
    const stack_t alternative{stack, 0, sizeof stack};
    sigaltstack(&alternative, nullptr);
    struct sigaction action {};
    action.sa_sigaction = on_segv;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
    return true;
  }();
  (void)watching;
}

}  // namespace

Map map;
bool is_device(const void* p) { return in_arena(reinterpret_cast<std::uintptr_t>(p)); }
bool is_pinned(const void* p, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  auto it = arena().pinned.upper_bound(at);
  if (it == arena().pinned.begin()) return false;
  --it;
  return at + bytes <= it->first + it->second;
}
std::string bad_range(const void* p, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  if (!in_arena(at)) return "";
  const Allocation* a = allocation_at(at);
  if (a && !a->freed && at >= a->begin && at + bytes <= a->end) return "";
  return std::to_string(bytes) + " bytes from " + describe(at);
}
void poison(void* p, std::size_t bytes) { std::memset(p, poison_byte, bytes); }

void open_piece(Allocation& piece) {
  protect(piece, PROT_READ | PROT_WRITE);
  piece.open = true;
  arena().opened.push_back(&piece);
}
Open::Open() { ++arena().open; }
Open::~Open() {
  if (--arena().open > 0) return;
  for (Allocation* piece : arena().opened) {
    protect(*piece, PROT_NONE);
    piece->open = false;
  }
  arena().opened.clear();
}

}  // namespace kilochain::emulated

using namespace kilochain::emulated;

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  KC_ENTER(cudaErrorMemoryAllocation);
  KC_NOT_IN_CAPTURE();
  watch();
  Arena& a = arena();
  if (a.used + bytes > total_bytes()) return state().last = cudaErrorMemoryAllocation;
  // It ends where a page ends, or less than 256 bytes before: what lies behind is never another piece.
  const std::size_t aligned = aligned_size(bytes), pages = paged_size(bytes);
  Allocation piece;
  piece.begin = a.next + pages - aligned;
  piece.end = piece.begin + bytes;
  piece.number = static_cast<int>(a.all.size()) + 1;
  auto* const cells = static_cast<Cell*>(reserve(cells_bytes(pages), PROT_READ | PROT_WRITE));
  piece.cells = {cells, cells + pages / 4 + 1, piece.begin & ~(page - 1)};
  a.all.push_back(piece);
  map.pieces.push_back(&a.all.back());
  for (std::size_t k = 0; k <= pages / page; ++k)  // with one page behind it, for messages
    map.owner[(a.next - map.base) / page + k] = static_cast<std::uint32_t>(piece.number);
  const std::uintptr_t from = a.next;
  a.next += pages + page;
  a.used += bytes;
  {
    const Open open;
    open_piece(a.all.back());
    poison(reinterpret_cast<void*>(from), pages + page);
  }
  ++state().counters.allocations, ++state().living.allocations;
  state().living.device_bytes += static_cast<std::int64_t>(bytes);
  *pointer = reinterpret_cast<void*>(piece.begin);
  return cudaSuccess;
}

cudaError_t cudaFree(void* pointer) {
  const cudaError_t entered = enter();
  if (capturing_here()) return forbid_in_capture(__func__);
  if (!pointer) return entered;
  drain_all();  // as CUDA does it
  Allocation* piece = allocation_at(reinterpret_cast<std::uintptr_t>(pointer));
  if (!piece || piece->freed || piece->begin != reinterpret_cast<std::uintptr_t>(pointer))
    return refuse(cudaErrorInvalidValue, "cudaFree of what is not allocated");
  const std::size_t bytes = piece->end - piece->begin, aligned = aligned_size(bytes), pages = paged_size(bytes);
  {
    const Open open;
    open_piece(*piece);
    const auto* first = reinterpret_cast<const unsigned char*>(piece->begin + aligned - pages);
    for (std::size_t k = 0; k < pages + page; ++k)
      if ((k < pages - aligned || k >= pages - aligned + bytes) && first[k] != poison_byte) {
        fault(cudaErrorIllegalAddress, "something was written outside of allocation " + std::to_string(piece->number) +
                                           ", which has " + std::to_string(bytes) + " bytes");
        break;
      }
  }
  piece->freed = true;
  munmap(piece->cells.words, cells_bytes(pages));
  piece->cells = {};
  madvise(reinterpret_cast<void*>(piece->begin + aligned - pages), pages + page, MADV_DONTNEED);
  arena().used -= bytes;
  ++state().counters.frees, --state().living.allocations;
  state().living.device_bytes -= static_cast<std::int64_t>(bytes);
  return entered;
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  KC_ENTER(cudaErrorMemoryAllocation);
  KC_NOT_IN_CAPTURE();
  *pointer = std::aligned_alloc(page, (bytes + page - 1) / page * page + page);
  poison(*pointer, bytes);
  arena().pinned[reinterpret_cast<std::uintptr_t>(*pointer)] = bytes;
  ++state().living.pinned;
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) { return cudaHostAlloc(pointer, bytes, 0); }
cudaError_t cudaFreeHost(void* pointer) {
  const cudaError_t entered = enter();
  if (capturing_here()) return forbid_in_capture(__func__);
  if (!pointer) return entered;
  const auto known = arena().pinned.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (const std::string no = known == arena().pinned.end() || state().sticky != cudaSuccess
                                 ? ""
                                 : why_not_touch(known->first, known->second, true);
      !no.empty())  // CUDA does not promise that it waits
    fault(cudaErrorIllegalAddress, "cudaFreeHost of " + no);
  drain_all();
  const auto it = arena().pinned.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (it == arena().pinned.end()) return refuse(cudaErrorInvalidValue, "cudaFreeHost of what is not pinned");
  poison(pointer, it->second);
  arena().pinned.erase(it);
  std::free(pointer);
  --state().living.pinned;
  return entered;
}

cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* total) {
  KC_ENTER();
  *total = total_bytes();
  *available = *total - arena().used;
  return cudaSuccess;
}
