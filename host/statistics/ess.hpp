// Effective sample sizes of the draws of one parameter, in draws (all chains together).
// ess_mean, ess_bulk, ess_tail, ess_square, ess_quantile: chains split in halves, Geyer's initial monotone sequence
// over all of them (Vehtari, Gelman, Simpson, Carpenter, Buerkner 2021); equal to ArviZ's ess(method = "mean", "bulk",
// "tail", "sd", "quantile") except that a constant series gives NaN (ArviZ: the number of draws).
// All of them: NaN for fewer than 4 draws a chain, a non-finite draw, or draws that are all equal.
// Every function is single-threaded and may run beside others; cost: a few passes, plus one sort for ranks.
#pragma once
#include <cstdint>

#include "host/statistics/series.hpp"

namespace kilochain {

/// For the mean: of the draws themselves.
template <class T>
double ess_mean(const BasicSeries<T>& series);
/// For the bulk: of the rank-normalised draws; unchanged by monotone maps, finite for heavy tails.
template <class T>
double ess_bulk(const BasicSeries<T>& series);
/// For the tails: the smaller ess_quantile at 5 % and 95 %.
template <class T>
double ess_tail(const BasicSeries<T>& series);
/// For the variance: of the squared deviations from the mean.
template <class T>
double ess_square(const BasicSeries<T>& series);
/// Of the indicator of draws <= their p-quantile; the number of draws when the indicator is the same for all.
template <class T>
double ess_quantile(const BasicSeries<T>& series, double p);
/// Monte Carlo standard error of the mean: sd / sqrt(ess_mean), in units of the parameter.
template <class T>
double mcse_mean(const BasicSeries<T>& series);

/// The estimator of Titsias and Dellaportas 2019 for x[n], one unsplit chain: biased autocorrelations, Geyer's initial
/// monotone sequence, n / max(1, tau). NaN when all equal or not finite.
template <class T>
double ess_paper(const T* x, std::int64_t n);

/// ess_quantile for a threshold that is known already.
template <class T>
double ess_below(const BasicSeries<T>& series, double threshold);

}  // namespace kilochain
