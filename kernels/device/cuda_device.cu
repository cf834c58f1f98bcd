// The CUDA side of kernels/device/context.hpp: devices, memory, copies. One stream for the work,
// one for what is sent to the host beside it, and a cuBLAS handle where one is asked for,
// freed with the last context or buffer that shares them; cuBLAS has its own workspace,
// so that a fixed shape gives fixed sums and its calls can be captured in a graph.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "base/cores.hpp"
#include "kernels/device/cuda_check.hpp"
#include "kernels/device/cuda_device.hpp"
#include "kernels/device/launch.cuh"

namespace kilochain {
namespace {

constexpr std::size_t blas_workspace_bytes = std::size_t(32) << 20;

void use_device(const Place& place) { CUDA_CHECK(cuda::set_device(place.device)); }

/// Streams, the event between them, a cuBLAS handle and its workspace, with one end for all.
struct Handles {
  int device;
  cudaStream_t stream = nullptr;
  cudaStream_t sends = nullptr;
  cudaEvent_t made = nullptr;  ///< what is to be sent
  cublasHandle_t blas = nullptr;
  void* workspace = nullptr;

  explicit Handles(int device_) : device(device_) {}
  Handles(const Handles&) = delete;
  ~Handles() {  // errors have nowhere to go from here
    cuda::set_device(device);
    if (blas) cublasDestroy(blas);
    if (workspace) cudaFree(workspace);
    if (made) cudaEventDestroy(made);
    if (sends) cudaStreamDestroy(sends);
    if (stream) cudaStreamDestroy(stream);
  }
  void open() {
    CUDA_CHECK(cuda::set_device(device));
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_CHECK(cudaStreamCreateWithFlags(&sends, cudaStreamNonBlocking));
    CUDA_CHECK(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
  }
  void open_blas() {
    CUDA_CHECK(cuda::set_device(device));
    CUDA_CHECK(cublasCreate(&blas));
    CUDA_CHECK(cublasSetStream(blas, stream));
    CUDA_CHECK(cudaMalloc(&workspace, blas_workspace_bytes));
    CUDA_CHECK(cublasSetWorkspace(blas, workspace, blas_workspace_bytes));
    CUDA_CHECK(cublasSetMathMode(blas, CUBLAS_DEFAULT_MATH));  // float products stay float: no TF32
  }
};

Handles& handles_of(const Place& place) { return *static_cast<Handles*>(place.owner.get()); }

std::atomic<std::uint64_t> epoch{0};

int capability_of(const cudaDeviceProp& p) { return 10 * p.major + p.minor; }

/// Why this build cannot run on device k: it is older than everything that was compiled. Empty when it can.
std::string too_old([[maybe_unused]] const cudaDeviceProp& p) {
#if defined(__CUDA_ARCH_LIST__)  // nvcc: 800,900; newer devices compile the newest one's PTX
  constexpr int compiled[] = {__CUDA_ARCH_LIST__};
  const int least = *std::min_element(std::begin(compiled), std::end(compiled)) / 10, has = capability_of(p);
  if (has < least)
    return std::string(p.name) + " has compute capability " + capability_text(has) +
           ", and this build was compiled for " + capability_text(least) + " and newer";
#endif
  return "";
}

}  // namespace

std::string cuda_unavailable() {
  int count = 0, driver = 0;
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0) return no_cuda_driver;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    cudaGetLastError();  // a failed query must not be reported again by the next launch
    return cudaGetErrorString(status);
  }
  std::string why = "no CUDA device is visible";
  for (int k = 0; k < count; ++k) {
    cudaDeviceProp p;
    CUDA_CHECK(cudaGetDeviceProperties(&p, k));
    why = too_old(p);
    if (why.empty()) break;
  }
#if defined(KILOCHAIN_CUBLAS_ON_DEMAND)
  if (why.empty()) why = cuda::blas_missing();
#endif
  return why;
}

bool cuda_emulated() {
#if defined(KILOCHAIN_EMULATED)
  return true;
#else
  return false;
#endif
}

std::vector<std::string> cuda_devices() {
  std::vector<std::string> lines;
  if (!cuda_unavailable().empty()) return lines;
  int count = 0;
  CUDA_CHECK(cudaGetDeviceCount(&count));
  for (int k = 0; k < count; ++k) {
    cudaDeviceProp p;
    CUDA_CHECK(cudaGetDeviceProperties(&p, k));
    char line[512];
    std::snprintf(line, sizeof line, "cuda:%d %s, %.1f GiB, compute capability %d.%d, %d multiprocessors", k, p.name,
                  static_cast<double>(p.totalGlobalMem) / (1u << 30), p.major, p.minor, p.multiProcessorCount);
    lines.push_back(line);
  }
  return lines;
}

Context cuda_context(int device) {
  const std::string why = cuda_unavailable();
  require(why.empty(), ExitStatus::usage, "no CUDA device", why, "Run with --device cpu?");
  int count = 0;
  CUDA_CHECK(cudaGetDeviceCount(&count));
  require(device >= 0 && device < count, ExitStatus::usage, "no CUDA device " + std::to_string(device),
          std::to_string(count) + " visible, numbered from 0", "Run with --device cuda:0?");
  cudaDeviceProp p;
  CUDA_CHECK(cudaGetDeviceProperties(&p, device));
  const std::string old = too_old(p);
  require(old.empty(), ExitStatus::device, "CUDA device " + std::to_string(device) + " is too old", old,
          "Build with -DKILOCHAIN_CUDA_ARCHITECTURES=native, or run with --device cpu?");
  const auto handles = std::make_shared<Handles>(device);
  handles->open();
  Context c;
  c.backend = Backend::cuda;
  c.device = device;
  c.threads = usable_cores();  // for what the host does with draws
  c.name = p.name;
  c.multiprocessors = p.multiProcessorCount;
  c.capability = capability_of(p);
  c.shared_bytes = p.sharedMemPerBlockOptin;
  c.stream = handles->stream;
  c.owner = handles;
  return c;
}

namespace cuda {

std::size_t available_bytes(const Place& place) {
  use_device(place);
  std::size_t available = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&available, &total));
  return available;
}

void* allocate(const Place& place, std::size_t bytes, Memory memory, const char* what) {
  use_device(place);
  void* p = nullptr;
  const bool pinned = memory == Memory::pinned;
  const cudaError_t status = pinned ? cudaMallocHost(&p, bytes) : cudaMalloc(&p, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    out_of_memory(std::string(what) + " cannot have " + std::to_string(bytes) + " bytes more",
                  pinned ? "pinned memory of the host" : std::to_string(cuda::available_bytes(place)) + " are free");
  }
  CUDA_CHECK(status);
  if (pinned) {
    std::memset(p, 0, bytes);
    return p;
  }
  const cudaError_t zeroed = cudaMemsetAsync(p, 0, bytes, stream_of(place));
  if (zeroed != cudaSuccess) cudaFree(p);
  CUDA_CHECK(zeroed);
  return p;
}

void release(const Place& place, Memory memory, void* pointer) noexcept {
  // Waits for the device, as cudaFree does, so no kernel or copy loses its memory. Errors have nowhere to go from here.
  set_device(place.device);
  if (memory == Memory::pinned) {
    cudaStreamSynchronize(stream_of(place));
    cudaStreamSynchronize(handles_of(place).sends);
    cudaFreeHost(pointer);
  } else {
    ++epoch;
    cudaFree(pointer);
  }
}

void begin_copy(const Place& place, void* to, const void* from, std::size_t bytes) {
  use_device(place);
  CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_of(place)));
}

void synchronize(const Place& place) {
  use_device(place);
  CUDA_CHECK(cudaStreamSynchronize(stream_of(place)));
}

void begin_clear(const Place& place, void* to, std::size_t bytes) {
  use_device(place);
  CUDA_CHECK(cudaMemsetAsync(to, 0, bytes, stream_of(place)));
}

void send_to_host(const Place& place, void* to, const void* from, std::size_t bytes) {
  const Handles& h = handles_of(place);
  use_device(place);
  CUDA_CHECK(cudaEventRecord(h.made, h.stream));
  CUDA_CHECK(cudaStreamSynchronize(h.sends));  // one at a time: whoever waits for the one before waits for no more
  CUDA_CHECK(cudaStreamWaitEvent(h.sends, h.made, 0));
  CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, h.sends));
}

void wait_for_sent(const Place& place) {
  use_device(place);
  CUDA_CHECK(cudaStreamSynchronize(handles_of(place).sends));
}

void* blas_of(const Place& place) {
  Handles& h = handles_of(place);
  if (!h.blas) h.open_blas();
  return h.blas;
}

std::uint64_t memory_epoch() { return epoch; }

}  // namespace cuda

}  // namespace kilochain
