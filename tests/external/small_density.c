/* C functions as libraries of densities have them, for tests: coordinate i ~ N(i, 1). "moody" has no value where x[0] > 1,
   "none" never, "nan_density" is never a number, "hang" and "hanging_chains" never return, "talking" prints; chains is the same for many points; it writes the largest number of chains of a call to *user_data. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "kilochain/c.h"

int log_density(size_t n, const double* x, double* gradient, double* lp, void* user_data) {
  (void)user_data;
  *lp = 0;
  for (size_t i = 0; i < n; ++i) {
    const double z = x[i] - (double)i;
    *lp -= z * z / 2;
    gradient[i] = -z;
  }
  return 0;
}

int moody(size_t n, const double* x, double* gradient, double* lp, void* user_data) {
  return x[0] > 1 ? 7 : log_density(n, x, gradient, lp, user_data);
}

int none(size_t n, const double* x, double* gradient, double* lp, void* user_data) {
  (void)n, (void)x, (void)gradient, (void)lp, (void)user_data;
  return 1;
}

int nan_density(size_t n, const double* x, double* gradient, double* lp, void* user_data) {
  log_density(n, x, gradient, lp, user_data);
  *lp = NAN;
  return 0;
}

int hang(size_t n, const double* x, double* gradient, double* lp, void* user_data) {
  for (;;) sleep(1000);
  return log_density(n, x, gradient, lp, user_data);
}

int hanging_chains(size_t chains_, size_t n, const double* x, size_t row, double* gradient, double* lp, void* user_data) {
  (void)chains_, (void)row;
  return hang(n, x, gradient, lp, user_data);
}

int talking(size_t n, const double* x, double* gradient, double* lp, void* user_data) {
  printf("here I am\n");
  return log_density(n, x, gradient, lp, user_data);
}

int chains(size_t chains, size_t n, const double* x, size_t row, double* gradient, double* lp, void* user_data) {
  size_t* const most = user_data;
  if (most && chains > *most) *most = chains;
  for (size_t k = 0; k < chains; ++k) log_density(n, x + k * row, gradient + k * row, lp + k, 0);
  return 0;
}

int moody_chains(size_t chains_, size_t n, const double* x, size_t row, double* gradient, double* lp, void* user_data) {
  (void)user_data;
  for (size_t k = 0; k < chains_; ++k)
    if (moody(n, x + k * row, gradient + k * row, lp + k, 0) != 0) lp[k] = -INFINITY;
  return 0;
}
