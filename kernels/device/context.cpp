// The CPU side of kernels/device/context.hpp, and its answers where CUDA was not compiled in.
#include "kernels/device/context.hpp"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/cores.hpp"
#include "kernels/device/cuda_device.hpp"

namespace kilochain {
namespace {
constexpr std::size_t alignment = 128;
}

Context cpu_context(int threads) {
  Context c;
  c.threads = threads > 0 ? threads : usable_cores();
  return c;
}

std::size_t available_bytes(const Place& place) {
  if (place.backend == Backend::cuda) return cuda::available_bytes(place);
  return static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void* allocate_bytes(const Place& place, std::size_t bytes, Memory memory, const char* what) {
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment + alignment;
  if (place.backend == Backend::cuda) return cuda::allocate(place, rounded, memory, what);
  // What calloc maps anew is zero already, and takes memory page by page when it is first written.
  char* const from = static_cast<char*>(std::calloc(1, alignment + rounded));
  if (!from) throw std::bad_alloc();
  char* const p = from + alignment - reinterpret_cast<std::uintptr_t>(from) % alignment;  // at least 16 bytes on
  std::memcpy(p - sizeof from, &from, sizeof from);
  return p;
}

void release_bytes(const Place& place, Memory memory, void* pointer) noexcept {
  if (place.backend == Backend::cuda)
    cuda::release(place, memory, pointer);
  else if (pointer) {
    void* from = nullptr;
    std::memcpy(&from, static_cast<char*>(pointer) - sizeof from, sizeof from);
    std::free(from);
  }
}

void copy_to_device(const Place& place, void* to, const void* from, std::size_t bytes) {
  begin_copy_to_host(place, to, from, bytes);  // either direction: the addresses say which
  synchronize(place);
}

void copy_to_host(const Place& place, void* to, const void* from, std::size_t bytes) {
  begin_copy_to_host(place, to, from, bytes);
  synchronize(place);
}

void begin_copy_to_host(const Place& place, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  if (place.backend == Backend::cuda)
    cuda::begin_copy(place, to, from, bytes);
  else
    std::memcpy(to, from, bytes);
}

void synchronize(const Place& place) {
  if (place.backend == Backend::cuda) cuda::synchronize(place);
}

void begin_clear(const Place& place, void* to, std::size_t bytes) {
  if (bytes == 0) return;
  if (place.backend == Backend::cuda)
    cuda::begin_clear(place, to, bytes);
  else
    std::memset(to, 0, bytes);
}

void send_to_host(const Place& place, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  if (place.backend == Backend::cuda)
    cuda::send_to_host(place, to, from, bytes);
  else
    std::memcpy(to, from, bytes);
}

void wait_for_sent(const Place& place) {
  if (place.backend == Backend::cuda) cuda::wait_for_sent(place);
}

#if !defined(KILOCHAIN_HAS_CUDA)
namespace {
[[noreturn]] void no_cuda() {
  throw Error(ExitStatus::usage, "no CUDA device", cuda_unavailable(), "Run with --device cpu?");
}
}  // namespace
std::string cuda_unavailable() { return no_cuda_build; }
bool cuda_emulated() { return false; }
std::vector<std::string> cuda_devices() { return {}; }
Context cuda_context(int) { no_cuda(); }
namespace cuda {
std::size_t available_bytes(const Place&) { no_cuda(); }
void* allocate(const Place&, std::size_t, Memory, const char*) { no_cuda(); }
void release(const Place&, Memory, void*) noexcept {}
void begin_copy(const Place&, void*, const void*, std::size_t) { no_cuda(); }
void synchronize(const Place&) { no_cuda(); }
void begin_clear(const Place&, void*, std::size_t) { no_cuda(); }
void send_to_host(const Place&, void*, const void*, std::size_t) { no_cuda(); }
void wait_for_sent(const Place&) { no_cuda(); }
}  // namespace cuda
#endif

}  // namespace kilochain
