#include "host/statistics/geyer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kilochain {

double ess_of_rows(Autocovariance& covariance) {
  return ess_of_covariances(covariance.rows(), covariance.length(), covariance.variance_within(),
                            covariance.variance_of_means(), [&](std::int64_t lag) { return covariance(lag); });
}

double ess_of_covariances(std::int64_t rows, std::int64_t n, double within, double between,
                          const std::function<double(std::int64_t)>& covariance) {
  const double var_plus = within * (n - 1) / n + between;
  if (!(var_plus > 0)) return std::numeric_limits<double>::quiet_NaN();
  const auto rho = [&](std::int64_t lag) { return 1 - (within - covariance(lag)) / var_plus; };

  // Pair sums rho_k + rho_{k+1}, k = 0, 2, 4, ..., as long as they are positive, never larger than the one before.
  double even = 1, odd = rho(1), smallest = std::numeric_limits<double>::infinity(), sum = 0;
  for (std::int64_t lag = 2; lag < n - 2 && even + odd > 0; lag += 2) {
    smallest = std::min(smallest, even + odd);
    sum += smallest;
    even = rho(lag);
    odd = rho(lag + 1);
  }
  // Of the pair that ended the sequence the even lag still counts: less bias for antithetic chains (Vehtari et al.).
  const double rest = even + odd >= 0 ? even : std::max(0.0, even);
  const double draws = rows * n;
  return draws / std::max(-1 + 2 * sum + rest, 1 / std::log10(draws));
}

double ess_of_one_row(Autocovariance& covariance) {
  const std::int64_t n = covariance.length();
  const double variance = covariance(0);
  if (!(variance > 0)) return std::numeric_limits<double>::quiet_NaN();
  double smallest = std::numeric_limits<double>::infinity(), sum = 0;
  for (std::int64_t lag = 0; lag + 1 < n; lag += 2) {
    smallest = std::min(smallest, (covariance(lag) + covariance(lag + 1)) / variance);
    if (!(smallest > 0)) break;
    sum += smallest;
  }
  return n / std::max(1.0, 2 * sum - 1);
}

}  // namespace kilochain
