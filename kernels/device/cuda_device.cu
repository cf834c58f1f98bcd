// The CUDA side of kernels/device/context.hpp: devices, memory, copies. One non-blocking stream and one cuBLAS handle
// per context; cuBLAS has its own workspace, so that a fixed shape gives fixed sums and its calls can be captured in a graph.
#include <algorithm>
#include <cstdio>
#include <thread>

#include "kernels/device/cuda_check.hpp"
#include "kernels/device/cuda_device.hpp"
#include "kernels/device/launch.cuh"

namespace kilochain {
namespace {

constexpr std::size_t blas_workspace_bytes = std::size_t(32) << 20;

void use_device(const Context& context) { CUDA_CHECK(cudaSetDevice(context.device)); }

}  // namespace

std::string cuda_unavailable() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    cudaGetLastError();  // a failed query must not be reported again by the next launch
    return cudaGetErrorString(status);
  }
  return count > 0 ? "" : "no CUDA device is visible";
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
  Context c;
  c.backend = Backend::cuda;
  c.device = device;
  c.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));  // for what the host does with draws
  use_device(c);
  cudaDeviceProp p;
  CUDA_CHECK(cudaGetDeviceProperties(&p, device));
  c.name = p.name;
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  c.stream = stream;
  cublasHandle_t blas = nullptr;
  CUDA_CHECK(cublasCreate(&blas));
  CUDA_CHECK(cublasSetStream(blas, stream));
  void* workspace = nullptr;
  CUDA_CHECK(cudaMalloc(&workspace, blas_workspace_bytes));
  CUDA_CHECK(cublasSetWorkspace(blas, workspace, blas_workspace_bytes));
  CUDA_CHECK(cublasSetMathMode(blas, CUBLAS_DEFAULT_MATH));  // float products stay float: no TF32
  c.blas = blas;
  return c;
}

namespace cuda {

std::size_t available_bytes(const Context& context) {
  use_device(context);
  std::size_t available = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&available, &total));
  return available;
}

void* allocate(const Context& context, std::size_t bytes) {
  use_device(context);
  const std::size_t rounded =
      (bytes + 127) / 128 * 128 + 128;  // as on the CPU: a row may be read a little past its end
  void* p = nullptr;
  CUDA_CHECK(cudaMalloc(&p, rounded));
  CUDA_CHECK(cudaMemsetAsync(p, 0, rounded, stream_of(context)));
  return p;
}

void release(const Context& context, void* pointer) noexcept {
  // cudaFree waits for the device, so no kernel loses its memory. Errors have nowhere to go from a destructor.
  if (cudaSetDevice(context.device) == cudaSuccess) cudaFree(pointer);
}

void copy(const Context& context, void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  use_device(context);
  CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_of(context)));
  CUDA_CHECK(cudaStreamSynchronize(stream_of(context)));
}

void synchronize(const Context& context) {
  use_device(context);
  CUDA_CHECK(cudaStreamSynchronize(stream_of(context)));
}

}  // namespace cuda
}  // namespace kilochain
