// What this device reaches at best, for bench/roofline.py's assumptions: copies, products of matrices in each mode at the
// shapes of MNIST and Caravan with 4 096 chains, and the time between two small nodes of a graph. Prints one JSON object.
// Each figure is the best of some repeats, timed by events; products are checked against their first entry.
//   ceilings --smoke: small sizes, which measure nothing
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>

#include "kernels/device/launch.cuh"
#include "kernels/device/short_floats.hpp"

namespace kilochain {
namespace {

bool small_sizes = false;
Place place;  // the device and the stream
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

__global__ void __launch_bounds__(32) add_one(float* x) { x[threadIdx.x] += 1; }
template <class T>
__global__ void __launch_bounds__(256) fill(T* x, std::size_t n, T value) {
  for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; i < n;
       i += gridDim.x * std::size_t(blockDim.x))
    x[i] = value;
}
template <class T>
T* filled(std::size_t n, T value) {
  T* p = nullptr;
  CUDA_CHECK(cudaMalloc(&p, n * sizeof(T)));
  cuda::launch(place, fill<T>, dim3(small_sizes ? 2 : 1024), 256, p, n, value);
  return p;
}

/// Tflop/s of C = A^T B, A k x m, B k x n.
template <class T>
double product(cublasHandle_t blas, int m, int n, int k, T half, T quarter, cudaDataType type,
               cublasComputeType_t compute) {
  T *a = filled(std::size_t(k) * m, half), *b = filled(std::size_t(k) * n, quarter);
  float* c = filled(std::size_t(m) * n, 0.0F);
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
  float* x = filled(32, 0.0F);
  constexpr int nodes = 256;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int k = 0; k < nodes; ++k) cuda::launch(place, add_one, dim3(1), 32, x);
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
  const double s = seconds(5, [&] { CUDA_CHECK(cudaGraphLaunch(exec, stream)); });
  CUDA_CHECK(cudaGraphExecDestroy(exec)), CUDA_CHECK(cudaGraphDestroy(graph));
  CUDA_CHECK(cudaFree(x));
  return s / nodes;
}

void run() {
  cudaDeviceProp p;
  CUDA_CHECK(cudaGetDeviceProperties(&p, 0));
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CUDA_CHECK(cudaEventCreate(&begin_mark)), CUDA_CHECK(cudaEventCreate(&end_mark));
  place.backend = Backend::cuda, place.stream = stream;
  const std::size_t bytes = std::size_t(1) << (small_sizes ? 12 : 30), window = std::size_t(1)
                                                                                << (small_sizes ? 10 : 26);
  char *from = filled(bytes, '1'), *to = filled(bytes, '0'), *host = nullptr;
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
  } const shapes[] = {{"mnist", small_sizes ? 64 : 11339, small_sizes ? 40 : 785},
                      {"caravan", small_sizes ? 32 : 5822, small_sizes ? 20 : 86}};
  const int chains = small_sizes ? 8 : 4096;
  const Bfloat16 half = to_bfloat16(0.5F), quarter = to_bfloat16(0.25F);
  for (const auto& s : shapes) {
    const int k = (s.dim + 31) / 32 * 32;
    std::printf(", \"%s_tflops\": {\"float32\": %.4g, \"tf32\": %.4g, \"bf16\": %.4g}", s.name,
                product(blas, s.rows, chains, k, 0.5F, 0.25F, CUDA_R_32F, CUBLAS_COMPUTE_32F),
                product(blas, s.rows, chains, k, 0.5F, 0.25F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32),
                product(blas, s.rows, chains, k, half, quarter, CUDA_R_16BF, CUBLAS_COMPUTE_32F));
  }
  std::printf("}\n");
}

}  // namespace
}  // namespace kilochain

int main(int argc, char** argv) {
  try {
    kilochain::small_sizes = argc > 1 && std::strcmp(argv[1], "--smoke") == 0;
    kilochain::run();
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "ceilings: %s\n", e.what());
    return 1;
  }
}
