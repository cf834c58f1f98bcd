// The one BLAS entry of a device: C = op(A) B, column-major, on the context's stream. op(A) is m x k, B is k x n.
//   product         in the numbers' own precision
//   tensor_product  C = alpha op(A) B + beta C on tensor cores: of bf16, or of floats rounded to tf32, summed in float
#pragma once
#include "kernels/device/cuda_device.hpp"
#include "kernels/device/launch.cuh"
#include "kernels/device/short_floats.hpp"

namespace kilochain::cuda {

inline void product(const Context& context, cublasOperation_t op, Index m, Index n, Index k, const float* a, Index lda,
                    const float* b, Index ldb, float* c, Index ldc) {
  const float one = 1, zero = 0;
  CUDA_CHECK(cublasSgemm(static_cast<cublasHandle_t>(blas_of(context)), op, CUBLAS_OP_N, m, n, k, &one, a, lda, b, ldb,
                         &zero, c, ldc));
}
inline void product(const Context& context, cublasOperation_t op, Index m, Index n, Index k, const double* a, Index lda,
                    const double* b, Index ldb, double* c, Index ldc) {
  const double one = 1, zero = 0;
  CUDA_CHECK(cublasDgemm(static_cast<cublasHandle_t>(blas_of(context)), op, CUBLAS_OP_N, m, n, k, &one, a, lda, b, ldb,
                         &zero, c, ldc));
}

template <class T>
void tensor_product(const Context& context, cublasOperation_t op, Index m, Index n, Index k, float alpha, const T* a,
                    Index lda, const T* b, Index ldb, float beta, float* c, Index ldc) {
  constexpr bool of_float = std::is_same_v<T, float>;
  static_assert(of_float || std::is_same_v<T, Bfloat16>);
  constexpr cudaDataType type = of_float ? CUDA_R_32F : CUDA_R_16BF;
  CUDA_CHECK(cublasGemmEx(static_cast<cublasHandle_t>(blas_of(context)), op, CUBLAS_OP_N, m, n, k, &alpha, a, type, lda,
                          b, type, ldb, &beta, c, CUDA_R_32F, ldc,
                          of_float ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

}  // namespace kilochain::cuda
