// The one BLAS entry of a device: C = op(A) B, column-major, on the context's stream. op(A) is m x k, B is k x n.
#pragma once
#include "kernels/device/launch.cuh"

namespace kilochain::cuda {

inline void product(const Context& context, cublasOperation_t op, Index m, Index n, Index k, const float* a, Index lda,
                    const float* b, Index ldb, float* c, Index ldc) {
  const float one = 1, zero = 0;
  CUDA_CHECK(cublasSgemm(static_cast<cublasHandle_t>(context.blas), op, CUBLAS_OP_N, m, n, k, &one, a, lda, b, ldb,
                         &zero, c, ldc));
}
inline void product(const Context& context, cublasOperation_t op, Index m, Index n, Index k, const double* a, Index lda,
                    const double* b, Index ldb, double* c, Index ldc) {
  const double one = 1, zero = 0;
  CUDA_CHECK(cublasDgemm(static_cast<cublasHandle_t>(context.blas), op, CUBLAS_OP_N, m, n, k, &one, a, lda, b, ldb,
                         &zero, c, ldc));
}

}  // namespace kilochain::cuda
