// Mean and standard deviation of all draws: two passes, summed chain by chain, in double.
#pragma once
#include <cmath>
#include <cstdint>

#include "host/statistics/series.hpp"

namespace kilochain {

struct Moments {
  double mean, sd;  ///< sd with divisor S - 1; NaN for fewer than 2 draws
};

inline Moments moments_of(const Series& series) {
  const double size = series.size();
  double mean = 0, squares = 0;
  for (std::int64_t c = 0; c < series.chains; ++c) {
    const double* x = series.values + c * series.draws;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < series.draws; ++i) sum += x[i];
    mean += sum / size;
  }
  for (std::int64_t c = 0; c < series.chains; ++c) {
    const double* x = series.values + c * series.draws;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < series.draws; ++i) {
      const double deviation = x[i] - mean;
      sum += deviation * deviation;
    }
    squares += sum;
  }
  return {size > 0 ? mean : std::nan(""), std::sqrt(squares / (size - 1))};
}

}  // namespace kilochain
