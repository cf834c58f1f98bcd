// cuBLAS by CBLAS: a product is work on its handle's stream. Scalars are taken at the call; operands must lie in device
// memory to their last element; an output that is not read (beta = 0) may hold NaN.
#include <cblas.h>
#include <cublas_v2.h>

#include <algorithm>

#include "kernels/device/short_floats.hpp"
#include "tests/emulated_device/runtime.hpp"

namespace kilochain::emulated {
struct Blas {
  cudaStream_t stream = nullptr;
  const void* workspace = nullptr;  ///< its own; the default one comes back with another stream
};
namespace {

cublasStatus_t entered(cublasStatus_t failure) { return enter() == cudaSuccess ? CUBLAS_STATUS_SUCCESS : failure; }
cublasStatus_t refused(const std::string& why) {
  refuse(cudaErrorInvalidValue, "cuBLAS: " + why);
  return CUBLAS_STATUS_INVALID_VALUE;
}
CBLAS_TRANSPOSE of(cublasOperation_t op) { return op == CUBLAS_OP_N ? CblasNoTrans : CblasTrans; }

/// Why a rows x columns matrix with leading dimension ld cannot lie at p.
template <class T>
std::string bad_matrix(const T* p, int rows, int columns, int ld) {
  if (rows == 0 || columns == 0) return "";
  if (ld < rows) return "a leading dimension of " + std::to_string(ld) + " for " + std::to_string(rows) + " rows";
  if (!is_device(p)) return "an operand in host memory";
  return bad_range(p, (std::size_t(ld) * std::size_t(columns - 1) + std::size_t(rows)) * sizeof(T));
}

template <class T>
void touch_matrix(const T* p, int rows, int columns, int ld, bool writes) {
  for (int j = 0; j < columns; ++j)
    touch_range(p + std::size_t(j) * std::size_t(ld), std::size_t(rows) * sizeof(T), writes);
}

cublasStatus_t submitted(Blas* handle, int columns, std::function<void()> run) {
  if (!handle->workspace && capturing_here())
    return refused("a captured product, and no workspace since the last cublasSetStream: it would allocate one");
  const cudaError_t error = submit(handle->stream, {NodeKind::product, nullptr, 0,
                                                    [columns, run] {
                                                      ++state().counters.products;
                                                      state().counters.columns += columns;
                                                      run();
                                                    },
                                                    nullptr});
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

/// Into how many parts a sum of k terms is cut: by the product's shape, as a real one may, so that products of another
/// width have other bits. Whoever promises that bits do not depend on who asks must ask for the same shape.
int parts_of(int m, int n, int k) { return k >= 16 ? 1 + (m / 32 + n / 32) % 3 : 1; }

/// One column after the other: all columns of a product are summed alike, which cuBLAS does and does not promise.
template <class T, class F>
void by_columns(F&& product, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, T by, const T* a, int lda,
                const T* b, int ldb, T keep, T* c, int ldc) {
  const std::size_t step = tb == CblasNoTrans ? std::size_t(ldb) : 1;
  const std::size_t along_a = ta == CblasNoTrans ? std::size_t(lda) : 1,
                    along_b = tb == CblasNoTrans ? 1 : std::size_t(ldb);
  const int parts = parts_of(m, n, k), part = (k + parts - 1) / parts;
  for (std::size_t j = 0; j < std::size_t(n); ++j)
    for (int first = 0; first < k; first += part)
      product(CblasColMajor, ta, tb, m, 1, std::min(part, k - first), by, a + std::size_t(first) * along_a, lda,
              b + j * step + std::size_t(first) * along_b, ldb, first > 0 ? T(1) : keep, c + j * std::size_t(ldc), ldc);
}

template <class T, class F>
cublasStatus_t gemm(F&& product, Blas* handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                    const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {
  if (const auto e = entered(CUBLAS_STATUS_EXECUTION_FAILED); e != CUBLAS_STATUS_SUCCESS) return e;
  const bool na = ta == CUBLAS_OP_N, nb = tb == CUBLAS_OP_N;
  for (const std::string& bad : {bad_matrix(a, na ? m : k, na ? k : m, lda), bad_matrix(b, nb ? k : n, nb ? n : k, ldb),
                                 bad_matrix(c, m, n, ldc)})
    if (!bad.empty()) return refused(bad);
  return submitted(handle, n, [=, by = *alpha, keep = *beta] {
    touch_matrix(a, na ? m : k, na ? k : m, lda, false), touch_matrix(b, nb ? k : n, nb ? n : k, ldb, false);
    touch_matrix(c, m, n, ldc, true);
    by_columns<T>(product, of(ta), of(tb), m, n, k, by, a, lda, b, ldb, keep, c, ldc);
  });
}

template <class T, class F>
cublasStatus_t trmm(F&& product, Blas* handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
                    cublasDiagType_t diag, int m, int n, const T* alpha, const T* a, int lda, const T* b, int ldb, T* c,
                    int ldc) {
  if (const auto e = entered(CUBLAS_STATUS_EXECUTION_FAILED); e != CUBLAS_STATUS_SUCCESS) return e;
  const bool left = side == CUBLAS_SIDE_LEFT;
  for (const std::string& bad :
       {bad_matrix(a, left ? m : n, left ? m : n, lda), bad_matrix(b, m, n, ldb), bad_matrix(c, m, n, ldc)})
    if (!bad.empty()) return refused(bad);
  return submitted(handle, n, [=, by = *alpha] {
    touch_matrix(a, left ? m : n, left ? m : n, lda, false), touch_matrix(b, m, n, ldb, false);
    touch_matrix(c, m, n, ldc, true);
    if (c != b)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i)
          c[std::size_t(j) * std::size_t(ldc) + std::size_t(i)] = b[std::size_t(j) * std::size_t(ldb) + std::size_t(i)];
    product(CblasColMajor, left ? CblasLeft : CblasRight, uplo == CUBLAS_FILL_MODE_LOWER ? CblasLower : CblasUpper,
            of(trans), diag == CUBLAS_DIAG_UNIT ? CblasUnit : CblasNonUnit, m, n, by, a, lda, c, ldc);
  });
}

}  // namespace
}  // namespace kilochain::emulated

using namespace kilochain::emulated;
using kilochain::Bfloat16;
using kilochain::to_float;
using kilochain::to_tf32;

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  if (const auto e = entered(CUBLAS_STATUS_ALLOC_FAILED); e != CUBLAS_STATUS_SUCCESS) return e;
  openblas_set_num_threads(
      1);  // its own threads would not be the device's, and cut columns differently from call to call
  *handle = new Blas;
  ++state().living.handles;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  const auto e = entered(CUBLAS_STATUS_INTERNAL_ERROR);
  delete handle;
  --state().living.handles;
  return e;
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  if (const auto e = entered(CUBLAS_STATUS_INTERNAL_ERROR); e != CUBLAS_STATUS_SUCCESS) return e;
  handle->stream = stream, handle->workspace = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, std::size_t bytes) {
  if (const auto e = entered(CUBLAS_STATUS_INTERNAL_ERROR); e != CUBLAS_STATUS_SUCCESS) return e;
  if (!is_device(workspace) || !bad_range(workspace, bytes).empty())
    return refused("a workspace outside of device memory");
  if (reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0)
    return refused("a workspace that is not 256-byte aligned");
  handle->workspace = workspace;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return entered(CUBLAS_STATUS_INTERNAL_ERROR); }
const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_INTERNAL_ERROR:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
  }
  return "unknown";
}
cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                           const float* alpha, const float* a, int lda, const float* b, int ldb, const float* beta,
                           float* c, int ldc) {
  return gemm(cblas_sgemm, handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
cublasStatus_t cublasDgemm(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                           const double* alpha, const double* a, int lda, const double* b, int ldb, const double* beta,
                           double* c, int ldc) {
  return gemm(cblas_dgemm, handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                            const void* alpha, const void* a, cudaDataType a_type, int lda, const void* b,
                            cudaDataType b_type, int ldb, const void* beta, void* c, cudaDataType c_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t) {
  if (const auto e = entered(CUBLAS_STATUS_EXECUTION_FAILED); e != CUBLAS_STATUS_SUCCESS) return e;
  if (a_type != b_type || c_type != CUDA_R_32F || (compute == CUBLAS_COMPUTE_32F_FAST_TF32 && a_type != CUDA_R_32F))
    return refused("a product of types that it does not have");
  const bool na = ta == CUBLAS_OP_N, nb = tb == CUBLAS_OP_N;
  const int a_rows = na ? m : k, a_columns = na ? k : m, b_rows = nb ? k : n, b_columns = nb ? n : k;
  const auto bad_of = [&](const void* p, int rows, int columns, int ld) {
    return a_type == CUDA_R_16BF ? bad_matrix(static_cast<const Bfloat16*>(p), rows, columns, ld)
                                 : bad_matrix(static_cast<const float*>(p), rows, columns, ld);
  };
  for (const std::string& bad : {bad_of(a, a_rows, a_columns, lda), bad_of(b, b_rows, b_columns, ldb),
                                 bad_matrix(static_cast<float*>(c), m, n, ldc)})
    if (!bad.empty()) return refused(bad);
  const float by = *static_cast<const float*>(alpha), keep = *static_cast<const float*>(beta);
  const bool tf32 = compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  return submitted(handle, n, [=] {
    const auto as_floats = [&](const void* p, int rows, int columns, int ld) {
      std::vector<float> out;
      for (std::size_t j = 0; j < std::size_t(columns); ++j)
        for (std::size_t i = 0; i < std::size_t(rows); ++i) {
          const std::size_t at = j * std::size_t(ld) + i;
          const float v =
              a_type == CUDA_R_16BF ? to_float(static_cast<const Bfloat16*>(p)[at]) : static_cast<const float*>(p)[at];
          out.push_back(tf32 ? to_tf32(v) : v);
        }
      return out;
    };
    const auto left = as_floats(a, a_rows, a_columns, lda), right = as_floats(b, b_rows, b_columns, ldb);
    by_columns<float>(cblas_sgemm, of(ta), of(tb), m, n, k, by, left.data(), a_rows, right.data(), b_rows, keep,
                      static_cast<float*>(c), ldc);
  });
}
cublasStatus_t cublasStrmm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
                           cublasDiagType_t diag, int m, int n, const float* alpha, const float* a, int lda,
                           const float* b, int ldb, float* c, int ldc) {
  return trmm(cblas_strmm, handle, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, c, ldc);
}
cublasStatus_t cublasDtrmm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
                           cublasDiagType_t diag, int m, int n, const double* alpha, const double* a, int lda,
                           const double* b, int ldb, double* c, int ldc) {
  return trmm(cblas_dtrmm, handle, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, c, ldc);
}
