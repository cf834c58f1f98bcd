// What this device reaches at best, for bench/roofline.py's assumptions: copies, products of matrices in each mode at the
// shapes of MNIST and Caravan with 4 096 chains, and the time between two small nodes of a graph. Prints one JSON object.
// Each figure is the best of some repeats, timed by events; products are checked against their first entry.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

#include "kernels/device/cuda_check.hpp"

namespace {

cudaStream_t stream;
cudaEvent_t begin_mark, end_mark;

/// Seconds of one call of work(), the best of 7 batches of `calls`.
double seconds(int calls, const std::function<void()>& work) {
  work();
  double best = 1e30;
  for (int repeat = 0; repeat < 7; ++repeat) {
    CUDA_CHECK(cudaEventRecord(begin_mark, stream));
    for (int k = 0; k < calls; ++k) work();
    CUDA_CHECK(cudaEventRecord(end_mark, stream));
    CUDA_CHECK(cudaEventSynchronize(end_mark));
    float milliseconds = 0;
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin_mark, end_mark));
    best = std::min(best, 1e-3 * static_cast<double>(milliseconds) / calls);
  }
  return best;
}

__global__ void small(float* x) { x[threadIdx.x] += 1; }
template <class T>
__global__ void fill(T* x, std::size_t n, float value) {
  for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; i < n;
       i += gridDim.x * std::size_t(blockDim.x))
    x[i] = static_cast<T>(value);
}
template <class T>
T* filled(std::size_t n, float value) {
  T* p = nullptr;
  CUDA_CHECK(cudaMalloc(&p, n * sizeof(T)));
  fill<<<1024, 256, 0, stream>>>(p, n, value);
  CUDA_CHECK(cudaGetLastError());
  return p;
}

/// Tflop/s of C = A^T B, A k x m, B k x n.
template <class T>
double product(cublasHandle_t blas, int m, int n, int k, cudaDataType type, cublasComputeType_t compute) {
  T *a = filled<T>(std::size_t(k) * m, 0.5F), *b = filled<T>(std::size_t(k) * n, 0.25F);
  float* c = filled<float>(std::size_t(m) * n, 0);
  const float one = 1, zero = 0;
  const double s = seconds(5, [&] {
    CUDA_CHECK(cublasGemmEx(blas, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &one, a, type, k, b, type, k, &zero, c, CUDA_R_32F,
                            m, compute, CUBLAS_GEMM_DEFAULT));
  });
  float first = 0;
  CUDA_CHECK(cudaMemcpyAsync(&first, c, sizeof first, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  if (first != 0.125F * static_cast<float>(k)) std::fprintf(stderr, "ceilings: a product is wrong: %g\n", first);
  CUDA_CHECK(cudaFree(a)), CUDA_CHECK(cudaFree(b)), CUDA_CHECK(cudaFree(c));
  return 2e-12 * m * n * k / s;
}

double between_nodes() {
  float* x = filled<float>(32, 0);
  constexpr int nodes = 256;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int k = 0; k < nodes; ++k) small<<<1, 32, 0, stream>>>(x);
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
  const double s = seconds(5, [&] { CUDA_CHECK(cudaGraphLaunch(exec, stream)); });
  return s / nodes;
}

void run() {
  cudaDeviceProp p;
  CUDA_CHECK(cudaGetDeviceProperties(&p, 0));
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CUDA_CHECK(cudaEventCreate(&begin_mark)), CUDA_CHECK(cudaEventCreate(&end_mark));
  constexpr std::size_t bytes = std::size_t(1) << 30, window = std::size_t(64) << 20;
  char *from = filled<char>(bytes, 1), *to = filled<char>(bytes, 0), *host = nullptr;
  CUDA_CHECK(cudaMallocHost(&host, window));
  const double inside =
      seconds(5, [&] { CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream)); });
  const double out =
      seconds(5, [&] { CUDA_CHECK(cudaMemcpyAsync(host, from, window, cudaMemcpyDeviceToHost, stream)); });
  CUDA_CHECK(cudaFree(from)), CUDA_CHECK(cudaFree(to));
  cublasHandle_t blas;
  CUDA_CHECK(cublasCreate(&blas));
  CUDA_CHECK(cublasSetStream(blas, stream));
  std::printf(
      "{\"device\": \"%s\", \"copy_bytes_per_second\": %.4g, \"to_host_bytes_per_second\": %.4g, "
      "\"seconds_between_nodes\": %.3g",
      p.name, 2.0 * double(bytes) / inside, double(window) / out, between_nodes());
  struct {
    const char* name;
    int rows, dim;
  } const shapes[] = {{"mnist", 11339, 785}, {"caravan", 5822, 86}};
  for (const auto& s : shapes) {
    const int k = (s.dim + 31) / 32 * 32;
    std::printf(", \"%s_tflops\": {\"float32\": %.4g, \"tf32\": %.4g, \"bf16\": %.4g}", s.name,
                product<float>(blas, s.rows, 4096, k, CUDA_R_32F, CUBLAS_COMPUTE_32F),
                product<float>(blas, s.rows, 4096, k, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32),
                product<__nv_bfloat16>(blas, s.rows, 4096, k, CUDA_R_16BF, CUBLAS_COMPUTE_32F));
  }
  std::printf("}\n");
}

}  // namespace

int main() {
  try {
    run();
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "ceilings: %s\n", e.what());
    return 1;
  }
}
