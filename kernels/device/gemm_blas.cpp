// CBLAS behind kernels/device/gemm.hpp.
#include <cblas.h>

#include "kernels/device/gemm.hpp"

namespace kilochain {
namespace {

CBLAS_TRANSPOSE op(Transpose t) { return t == Transpose::yes ? CblasTrans : CblasNoTrans; }

// Chains already fill the cores: a BLAS that starts threads of its own inside them would only contend.
void keep_single_threaded() {
  static const bool done = (openblas_set_num_threads(1), true);
  (void)done;
}

}  // namespace

void gemm(Transpose ta, Transpose tb, Index m, Index n, Index k, float alpha, const float* a, Index lda, const float* b,
          Index ldb, float beta, float* c, Index ldc) {
  keep_single_threaded();
  cblas_sgemm(CblasColMajor, op(ta), op(tb), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void gemm(Transpose ta, Transpose tb, Index m, Index n, Index k, double alpha, const double* a, Index lda,
          const double* b, Index ldb, double beta, double* c, Index ldc) {
  keep_single_threaded();
  cblas_dgemm(CblasColMajor, op(ta), op(tb), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

const char* blas_name() { return openblas_get_config(); }

}  // namespace kilochain
