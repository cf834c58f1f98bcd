/* The density of bench_external.cpp, one text for a model in C++ and for functions in C (external_functions.c): a
   regression with an error of 1, or without rows a Gaussian. */
#ifndef KILOCHAIN_BENCH_EXTERNAL_FUNCTIONS_H
#define KILOCHAIN_BENCH_EXTERNAL_FUNCTIONS_H
#include <stddef.h>

struct regression {
  size_t rows;
  const double *x, *y; /* x: row after row */
};

static inline double regression_density(size_t n, size_t rows, const struct regression* d,
                                        const double* __restrict beta, double* __restrict gradient) {
  double lp = 0;
  for (size_t j = 0; j < n; ++j) {
    lp -= beta[j] * beta[j] / 2;
    gradient[j] = -beta[j];
  }
  for (size_t i = 0; i < rows; ++i) {
    const double* row = d->x + i * n;
    double error = d->y[i];
    for (size_t j = 0; j < n; ++j) error -= row[j] * beta[j];
    lp -= error * error / 2;
    for (size_t j = 0; j < n; ++j) gradient[j] += error * row[j];
  }
  return lp;
}

#ifdef __cplusplus
extern "C" {
#endif
/* kilochain_density, with a struct regression behind user_data. */
int regression_in_c(size_t n, const double* beta, double* gradient, double* lp, void* user_data);
/* The same of 5 coordinates without rows, and of 25 with 1 000, which the compiler knows. */
int gaussian_5_in_c(size_t n, const double* beta, double* gradient, double* lp, void* user_data);
int regression_25_in_c(size_t n, const double* beta, double* gradient, double* lp, void* user_data);
#ifdef __cplusplus
}
#endif
#endif
