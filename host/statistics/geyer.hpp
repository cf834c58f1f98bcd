// Effective sample size from autocovariances by Geyer's initial sequences (Geyer 1992): sums of neighbouring pairs
// of autocorrelations are positive, decreasing and convex for a reversible chain, so noise begins where a pair is not.
#pragma once
#include <cstdint>
#include <functional>

#include "host/statistics/autocovariance.hpp"

namespace kilochain {

/// Initial monotone positive sequence over all rows together, as in Stan and ArviZ (Vehtari et al. 2021, eq. 10 to 13):
/// rho_k = 1 - (W - c_k) / var_plus, tau at least 1 / log10(S). In draws; NaN when nothing varies.
double ess_of_rows(Autocovariance& covariance);
/// The same from what is known of `rows` rows of n values: mean variance within (divisor n - 1), variance of the row
/// means (divisor rows - 1), and covariance(lag), the mean over rows of c_lag, for 0 < lag < n.
double ess_of_covariances(std::int64_t rows, std::int64_t n, double within, double between,
                          const std::function<double(std::int64_t)>& covariance);

/// One row, rho_k = c_k / c_0: pair sums from lag 0, their running minimum while positive, tau = max(1, 2 sum - 1)
/// (the estimator of Titsias and Dellaportas 2019). Never above the number of draws; NaN when nothing varies.
double ess_of_one_row(Autocovariance& covariance);

}  // namespace kilochain
