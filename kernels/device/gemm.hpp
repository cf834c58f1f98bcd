// The one BLAS entry of the CPU: C = alpha op(A) op(B) + beta C, column-major, single-threaded (chains are the parallelism).
// op(A) is m x k, op(B) is k x n. Threads call it side by side; a fixed shape gives fixed sums.
#pragma once
#include "kernels/device/platform.hpp"

namespace kilochain {

enum class Transpose { no, yes };

void gemm(Transpose ta, Transpose tb, Index m, Index n, Index k, float alpha, const float* a, Index lda, const float* b,
          Index ldb, float beta, float* c, Index ldc);
void gemm(Transpose ta, Transpose tb, Index m, Index n, Index k, double alpha, const double* a, Index lda,
          const double* b, Index ldb, double beta, double* c, Index ldc);

/// Name of the BLAS and the kernel set that it picked for this processor, for `kilochain info`.
const char* blas_name();

}  // namespace kilochain
