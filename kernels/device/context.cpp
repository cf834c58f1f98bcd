// The CPU side of kernels/device/context.hpp, and its answers where CUDA was not compiled in.
#include "kernels/device/context.hpp"

#include <omp.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "kernels/device/cuda_device.hpp"

namespace kilochain {

Context cpu_context(int threads) {
  Context c;
  c.threads = threads > 0 ? threads : omp_get_num_procs();
  return c;
}

std::size_t available_bytes(const Context& context) {
  if (context.backend == Backend::cuda) return cuda::available_bytes(context);
  return static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void* allocate_bytes(const Context& context, std::size_t bytes) {
  if (context.backend == Backend::cuda) return cuda::allocate(context, bytes);
  const std::size_t rounded = (bytes + 127) / 128 * 128 + 128;
  void* p = std::aligned_alloc(128, rounded);
  if (!p) throw std::bad_alloc();
  std::memset(p, 0, rounded);
  return p;
}

void release_bytes(const Context& context, void* pointer) noexcept {
  if (context.backend == Backend::cuda)
    cuda::release(context, pointer);
  else
    std::free(pointer);
}

void copy_to_device(const Context& context, void* to, const void* from, std::size_t bytes) {
  if (context.backend == Backend::cuda)
    cuda::copy(context, to, from, bytes);
  else if (bytes)
    std::memcpy(to, from, bytes);
}

void copy_to_host(const Context& context, void* to, const void* from, std::size_t bytes) {
  copy_to_device(context, to, from, bytes);
}

void synchronize(const Context& context) {
  if (context.backend == Backend::cuda) cuda::synchronize(context);
}

#if !defined(KILOCHAIN_HAS_CUDA)
namespace {
[[noreturn]] void no_cuda() {
  throw Error(ExitStatus::usage, "no CUDA device", cuda_unavailable(), "Run with --device cpu?");
}
}  // namespace
std::string cuda_unavailable() { return "this build has no CUDA"; }
bool cuda_emulated() { return false; }
std::vector<std::string> cuda_devices() { return {}; }
Context cuda_context(int) { no_cuda(); }
namespace cuda {
std::size_t available_bytes(const Context&) { no_cuda(); }
void* allocate(const Context&, std::size_t) { no_cuda(); }
void release(const Context&, void*) noexcept {}
void copy(const Context&, void*, const void*, std::size_t) { no_cuda(); }
void synchronize(const Context&) { no_cuda(); }
}  // namespace cuda
#endif

}  // namespace kilochain
