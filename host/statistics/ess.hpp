// Effective sample sizes of the draws of one parameter, in draws (all chains together).
// Chains split in halves, Geyer's initial monotone sequence over all of them (Vehtari, Gelman, Simpson, Carpenter,
// Buerkner 2021); equal to ArviZ's ess(method = "mean", "sd", "quantile") except that a constant series gives NaN
// (ArviZ: the number of draws). Those for the bulk and the tails are summarise's (summary.hpp), which has the ranks.
// NaN for fewer than 4 draws a chain, a non-finite draw, or draws that are all equal.
// Every function is single-threaded and may run beside others; cost: a few passes, plus one sort for ranks.
#pragma once
#include <cstdint>
#include <functional>

#include "host/statistics/autocovariance.hpp"
#include "host/statistics/series.hpp"

namespace kilochain {

/// For the mean: of the draws themselves.
double ess_mean(const Series& series);
/// For the variance: of the squared deviations from the mean.
double ess_square(const Series& series);
/// Of the indicator of draws <= threshold, such as a quantile; the number of draws when it is the same for all.
double ess_below(const Series& series, double threshold);

/// The estimator of Titsias and Dellaportas 2019 for x[n], one unsplit chain: biased autocorrelations rho_k, sums of
/// their pairs from lag 0, the running minimum of these while positive, n / tau with tau = max(1, 2 sum - 1). Never
/// above n; NaN when all equal or not finite.
double ess_paper(const double* x, std::int64_t n);

/// Geyer's initial sequences (Geyer 1992): sums of neighbouring pairs of autocorrelations are positive, decreasing and
/// convex for a reversible chain, so noise begins where a pair is not.
/// Initial monotone positive sequence over all rows together, as in Stan and ArviZ (Vehtari et al. 2021, eq. 10 to 13):
/// rho_k = 1 - (W - c_k) / var_plus, tau at least 1 / log10(S). In draws; NaN when nothing varies.
double ess_of_rows(Autocovariance& covariance);
/// The same from what is known of `rows` rows of n values: mean variance within (divisor n - 1), variance of the row
/// means (divisor rows - 1), and covariance(lag), the mean over rows of c_lag, for 0 < lag < n.
double ess_of_covariances(std::int64_t rows, std::int64_t n, double within, double between,
                          const std::function<double(std::int64_t)>& covariance);

}  // namespace kilochain
