#include "bench/external_functions.h"

int regression_in_c(size_t n, const double* beta, double* gradient, double* lp, void* user_data) {
  const struct regression* d = user_data;
  *lp = regression_density(n, d->rows, d, beta, gradient);
  return 0;
}
int gaussian_5_in_c(size_t n, const double* beta, double* gradient, double* lp, void* user_data) {
  (void)n;
  *lp = regression_density(5, 0, user_data, beta, gradient);
  return 0;
}
int regression_25_in_c(size_t n, const double* beta, double* gradient, double* lp, void* user_data) {
  (void)n;
  *lp = regression_density(25, 1000, user_data, beta, gradient);
  return 0;
}
