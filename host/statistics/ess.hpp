// Effective sample sizes of the draws of one parameter, in draws (all chains together).
// Chains split in halves, Geyer's initial monotone sequence over all of them (Vehtari, Gelman, Simpson, Carpenter,
// Buerkner 2021); equal to ArviZ's ess(method = "mean", "sd", "quantile") except that a constant series gives NaN
// (ArviZ: the number of draws). Those for the bulk and the tails are summarise's (summary.hpp), which has the ranks.
// NaN for fewer than 4 draws a chain, a non-finite draw, or draws that are all equal.
// Every function is single-threaded and may run beside others; cost: a few passes, plus one sort for ranks.
#pragma once
#include <cstdint>

#include "host/statistics/series.hpp"

namespace kilochain {

/// For the mean: of the draws themselves.
double ess_mean(const Series& series);
/// For the variance: of the squared deviations from the mean.
double ess_square(const Series& series);
/// Of the indicator of draws <= threshold, such as a quantile; the number of draws when the indicator is the same for
/// all.
double ess_below(const Series& series, double threshold);

/// The estimator of Titsias and Dellaportas 2019 for x[n], one unsplit chain: biased autocorrelations, Geyer's initial
/// monotone sequence, n / max(1, tau). NaN when all equal or not finite.
double ess_paper(const double* x, std::int64_t n);

}  // namespace kilochain
