// What this device reaches at best, for bench/roofline.py's assumptions: copies, products of matrices in each mode at
// the shapes of MNIST and Caravan with 4 096 chains, the products of a run of MNIST with its leading dimensions, and
// the time between two small nodes of a graph. Prints one JSON object.
// Each figure is the best of some repeats, timed by events; products are checked against their first entry.
// And what rounding does to X W and X^T R of MNIST's shape in each --matmul: tensor cores may drop bits where they add.
// Without tensor cores of bf16 and tf32 (compute capability 8.0) only float32 is there.
//   ceilings --smoke: small sizes, which measure nothing
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>

#include "targets/design_products.cuh"

namespace kilochain {
namespace {

bool small_sizes = false;
Context place;  // the device, the stream, cuBLAS
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

/// C = op(A) B, m x n from k terms, with the leading dimensions.
struct Shape {
  cublasOperation_t op;
  int m, n, k, lda, ldb, ldc;
};

/// Tflop/s of the product.
template <class T>
double product(cublasHandle_t blas, const Shape& s, T half, T quarter, cudaDataType type, cublasComputeType_t compute) {
  const auto [op, m, n, k, lda, ldb, ldc] = s;
  T *a = filled(std::size_t(lda) * (op == CUBLAS_OP_T ? m : k), half), *b = filled(std::size_t(ldb) * n, quarter);
  float* c = filled(std::size_t(ldc) * n, 0.0F);
  const float one = 1, zero = 0;
  const double took = seconds(5, [&] {
    CUDA_CHECK(cublasGemmEx(blas, op, CUBLAS_OP_N, m, n, k, &one, a, type, lda, b, type, ldb, &zero, c, CUDA_R_32F, ldc,
                            compute, CUBLAS_GEMM_DEFAULT));
  });
  float first = 0;
  CUDA_CHECK(cudaMemcpyAsync(&first, c, sizeof first, cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  if (first != 0.125F * static_cast<float>(k)) std::fprintf(stderr, "ceilings: a product is wrong: %g\n", first);
  CUDA_CHECK(cudaFree(a)), CUDA_CHECK(cudaFree(b)), CUDA_CHECK(cudaFree(c));
  return 2e-12 * m * n * k / took;
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

/// to[i] = from[i % period].
__global__ void __launch_bounds__(256)
    repeat(const float* __restrict__ from, std::size_t period, float* __restrict__ to, std::size_t n) {
  for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; i < n;
       i += gridDim.x * std::size_t(blockDim.x))
    to[i] = from[i % period];
}
/// As a target's kernel hands its residuals on.
template <class Residuals>
__global__ void __launch_bounds__(256)
    write_residuals(const float* __restrict__ from, std::size_t n, const __grid_constant__ Residuals to) {
  for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; i < n;
       i += gridDim.x * std::size_t(blockDim.x))
    to(i, from[i]);
}

/// X of pixels (a fifth of them not 0), W normal, R uniform, `kinds` different columns of both, again and again; and
/// the products of these in double.
class KnownProducts {
 public:
  KnownProducts(int rows, int dim, int chains) : chains_(chains) {
    design_.rows = std::size_t(rows), design_.columns = std::size_t(dim);
    const std::size_t n = design_.columns, row = padded(n), column = padded(design_.rows);
    std::mt19937 bits(7);
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (std::size_t i = 0; i < design_.rows * n; ++i)
      design_.x.push_back(bits() % 5 ? 0 : static_cast<double>(bits() % 256) / 255);
    design_.y.resize(design_.rows);
    std::vector<float> x(column * row), w(kinds * row), r(kinds * column);
    for (std::size_t i = 0; i < design_.rows; ++i)
      for (std::size_t j = 0; j < n; ++j) x[i * row + j] = static_cast<float>(design_.x[i * n + j]);
    logits_.resize(kinds * column), gradients_.resize(kinds * row);
    for (std::size_t c = 0; c < kinds; ++c) {
      for (std::size_t j = 0; j < n; ++j) w[c * row + j] = normal(bits);
      for (std::size_t i = 0; i < design_.rows; ++i) r[c * column + i] = uniform(bits);
      for (std::size_t i = 0; i < design_.rows; ++i)
        for (std::size_t j = 0; j < n; ++j) {
          logits_[c * column + i] += design_.x[i * n + j] * double(w[c * row + j]);
          gradients_[c * row + j] += design_.x[i * n + j] * double(r[c * column + i]);
        }
    }
    x_ = Buffer<float>(place, x.size());
    x_.upload(x.data());
    w_ = wide(w), r_ = wide(r);
  }
  /// {"X W": the largest |error| in units of the values' root mean square, "X^T R": the same}, as JSON.
  std::string errors(Matmul matmul) const {
    const Index row = static_cast<Index>(padded(design_.columns)), column = static_cast<Index>(padded(design_.rows));
    cuda::DesignProducts<float> products(place, design_, {x_.data(), row, column}, matmul);
    const cuda::Panels panels{1, chains_};
    const Buffer<float> logits(place, r_.size()), gradients(place, w_.size());
    products.logits(w_.data(), panels, logits.data());
    const double of_logits = error(logits, logits_);
    products.residuals(panels, logits.data(), [&](auto to) {
      cuda::launch(place, write_residuals<decltype(to)>, dim3(small_sizes ? 2 : 1024), 256,
                   static_cast<const float*>(r_.data()), r_.size(), to);
    });
    products.transposed(panels, logits.data(), gradients.data());
    char text[80];
    std::snprintf(text, sizeof text, "{\"X W\": %.3g, \"X^T R\": %.3g}", of_logits, error(gradients, gradients_));
    return text;
  }

 private:
  static constexpr std::size_t kinds = 8;
  Buffer<float> wide(const std::vector<float>& columns) const {
    Buffer<float> from(place, columns.size()), to(place, columns.size() / kinds * static_cast<std::size_t>(chains_));
    from.upload(columns.data());
    cuda::launch(place, repeat, dim3(small_sizes ? 2 : 1024), 256, static_cast<const float*>(from.data()), from.size(),
                 to.data(), to.size());
    synchronize(place);
    return to;
  }
  /// Of the last columns of each kind.
  static double error(const Buffer<float>& found, const std::vector<double>& right) {
    std::vector<float> last(right.size());
    copy_to_host(place, last.data(), found.data() + (found.size() - right.size()), right.size() * sizeof(float));
    double largest = 0, square = 0, count = 0;
    for (std::size_t i = 0; i < right.size(); ++i) {
      largest = std::max(largest, std::abs(double(last[i]) - right[i]));
      square += right[i] * right[i], count += right[i] != 0;
    }
    return largest / std::sqrt(square / count);
  }

  Index chains_;
  Design design_;
  std::vector<double> logits_, gradients_;  ///< (kind, padded observation or coordinate)
  Buffer<float> x_, w_, r_;
};

void run() {
  place = cuda_context(0);
  stream = cuda::stream_of(place);
  CUDA_CHECK(cudaEventCreate(&begin_mark)), CUDA_CHECK(cudaEventCreate(&end_mark));
  const std::size_t bytes = std::size_t(1) << (small_sizes ? 12 : 30), window = std::size_t(1)
                                                                                << (small_sizes ? 10 : 26);
  char *from = filled(bytes, '1'), *to = filled(bytes, '0'), *host = nullptr;
  CUDA_CHECK(cudaMallocHost(&host, window));
  const double inside =
      seconds(5, [&] { CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream)); });
  const double out =
      seconds(5, [&] { CUDA_CHECK(cudaMemcpyAsync(host, from, window, cudaMemcpyDeviceToHost, stream)); });
  CUDA_CHECK(cudaFree(from)), CUDA_CHECK(cudaFree(to)), CUDA_CHECK(cudaFreeHost(host));
  const auto blas = static_cast<cublasHandle_t>(cuda::blas_of(place));
  std::printf(
      "{\"device\": \"%s\", \"copy_bytes_per_second\": %.4g, \"to_host_bytes_per_second\": %.4g, "
      "\"seconds_between_nodes\": %.3g",
      place.name.c_str(), 2.0 * double(bytes) / inside, double(window) / out, between_nodes());
  struct {
    const char* name;
    int rows, dim;
  } const shapes[] = {{"mnist", small_sizes ? 64 : 11339, small_sizes ? 40 : 785},
                      {"caravan", small_sizes ? 32 : 5822, small_sizes ? 20 : 86}};
  const int chains = small_sizes ? 8 : 4096;
  const bool tensor_cores = tensor_cores_missing(place).empty();
  const Bfloat16 half = to_bfloat16(0.5F), quarter = to_bfloat16(0.25F);
  for (const auto& s : shapes) {
    const int k = (s.dim + 31) / 32 * 32;
    const Shape shape{CUBLAS_OP_T, s.rows, chains, k, k, k, s.rows};
    std::printf(", \"%s_tflops\": {\"float32\": %.4g", s.name,
                product(blas, shape, 0.5F, 0.25F, CUDA_R_32F, CUBLAS_COMPUTE_32F));
    if (tensor_cores)
      std::printf(", \"tf32\": %.4g, \"bf16\": %.4g",
                  product(blas, shape, 0.5F, 0.25F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32),
                  product(blas, shape, half, quarter, CUDA_R_16BF, CUBLAS_COMPUTE_32F));
    std::printf("}");
  }
  // As a run of MNIST calls for them: logits in three parts of bf16, gradients from X as it lies, a factor of all
  // chains.
  {
    const int rows = shapes[0].rows, dim = shapes[0].dim, row = (dim + 31) / 32 * 32, column = (rows + 31) / 32 * 32;
    const Shape logits{CUBLAS_OP_T, rows, chains, 3 * row, 3 * row, 3 * row, column},
        gradients{CUBLAS_OP_N, dim, chains, rows, 3 * row, column, row},
        logits32{CUBLAS_OP_T, rows, chains, dim, row, row, column},
        gradients32{CUBLAS_OP_N, dim, chains, rows, row, column, row},
        factor{CUBLAS_OP_N, dim, chains, dim, row, row, row};
    const auto in_float = [&](const Shape& s) { return product(blas, s, 0.5F, 0.25F, CUDA_R_32F, CUBLAS_COMPUTE_32F); };
    const auto in_bf16 = [&](const Shape& s) {
      return product(blas, s, half, quarter, CUDA_R_16BF, CUBLAS_COMPUTE_32F);
    };
    std::printf(", \"run_tflops\": {\"X W\": %.4g, \"X^T R\": %.4g, \"factor\": %.4g", in_float(logits32),
                in_float(gradients32), in_float(factor));
    if (tensor_cores)
      std::printf(", \"X W in bf16\": %.4g, \"X^T R in bf16\": %.4g", in_bf16(logits), in_bf16(gradients));
    std::printf("}");
  }
  const KnownProducts known(shapes[0].rows, shapes[0].dim, chains);
  std::printf(", \"mnist_errors\": {\"float32\": %s", known.errors(Matmul::float32).c_str());
  if (tensor_cores) std::printf(", \"bf16x3\": %s", known.errors(Matmul::bf16x3).c_str());
  std::printf("}}\n");
  place = {};  // before the runtime ends: it owns stream and handle
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
