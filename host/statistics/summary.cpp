#include "host/statistics/summary.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>

#include "host/statistics/ess.hpp"
#include "host/statistics/ranks.hpp"
#include "host/statistics/rhat.hpp"
#include "host/statistics/scratch.hpp"

namespace kilochain {

constexpr std::int64_t kGatherBytes = std::int64_t(1) << 30;

double worst_ess(const ParameterSummary& parameter) {
  if (std::isnan(parameter.ess_bulk) || std::isnan(parameter.ess_tail)) return ParameterSummary::none;
  return std::min(parameter.ess_bulk, parameter.ess_tail);
}

std::vector<ParameterSummary> worst_first(std::vector<ParameterSummary> parameters) {
  const auto ess = [](const ParameterSummary& p) {
    const double worst = worst_ess(p);
    return std::isnan(worst) ? -1 : worst;
  };
  const auto rhat = [](const ParameterSummary& p) {
    return std::isnan(p.rhat) ? std::numeric_limits<double>::infinity() : p.rhat;
  };
  std::stable_sort(parameters.begin(), parameters.end(), [&](const ParameterSummary& a, const ParameterSummary& b) {
    return ess(a) != ess(b) ? ess(a) < ess(b) : rhat(a) > rhat(b);
  });
  return parameters;
}

namespace {

/// Of rows of normal scores.
double rhat_of_scores(const double* z, std::int64_t rows, std::int64_t length, const Superchains& superchains) {
  std::vector<double> means;
  double square = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (std::int64_t i = 0; i < length; ++i) sum += z[r * length + i], square += z[r * length + i] * z[r * length + i];
    means.push_back(sum / static_cast<double>(length));
  }
  return rhat_of_superchains(means, square / static_cast<double>(rows * length), superchains);
}

}  // namespace

ParameterSummary summarise(const std::string& name, const Series& series, const Superchains& superchains) {
  ParameterSummary summary{name};
  const Extent range = range_of(series);
  if (series.size() < 1 || !range.finite) return summary;
  const ScratchReuse reuse;
  const Moments moments = moments_of(series);
  summary.mean = moments.mean;
  summary.sd = moments.sd;
  if (range.constant()) {
    summary.mean = summary.q05 = summary.q50 = summary.q95 = range.lowest;
    summary.sd = 0;
    return summary;
  }
  const bool diagnosed = series.draws >= kFewestDraws;
  const std::int64_t rows = 2 * series.chains, half = series.draws / 2;
  Scratch<double> z;
  double rhat_folded = ParameterSummary::none;
  {
    const RankedDraws ranked(series);
    summary.q05 = ranked.quantile(0.05);
    summary.q50 = ranked.quantile(0.50);
    summary.q95 = ranked.quantile(0.95);
    if (!diagnosed) return summary;
    z = make_scratch<double>(rows * half);
    ranked.normal_scores(z.get());
    if (superchains.empty()) {
      rhat_folded = rhat_of(ranked.folded_variances());
    } else {
      double mean_square = 0;
      const std::vector<double> means = ranked.folded_means(mean_square);
      rhat_folded = rhat_of_superchains(means, mean_square, superchains);
    }
  }  // the sorted copy is not needed any more
  {
    RealAutocovariance covariance(rows, half,
                                  [&](std::int64_t r, double* out) { std::copy_n(z.get() + r * half, half, out); });
    summary.ess_bulk = ess_of_rows(covariance);
    const double rhat_bulk = superchains.empty()
                                 ? rhat_of({rows, half, covariance.variance_within(), covariance.variance_of_means()})
                                 : rhat_of_scores(z.get(), rows, half, superchains);
    summary.rhat = std::max(rhat_bulk, rhat_folded);
  }
  z.reset();
  const SplitRows split(series);
  RealAutocovariance covariance(split.rows, split.length,
                                [&](std::int64_t r, double* out) { std::copy_n(split.row(r), split.length, out); });
  summary.mcse_mean = moments.sd / std::sqrt(ess_of_rows(covariance));
  summary.ess_tail = std::min(ess_below(series, summary.q05), ess_below(series, summary.q95));
  return summary;
}

std::int64_t gathered_together(std::int64_t num_parameters, std::int64_t num_values, std::size_t bytes_of_one,
                               std::int64_t threads) {
  // Neighbouring parameters share cache lines: several are gathered in one pass over the draws.
  const std::int64_t wanted = std::max<std::int64_t>(threads, 64 / static_cast<std::int64_t>(bytes_of_one)),
                     affordable = kGatherBytes / std::max<std::int64_t>(1, num_values * std::int64_t{sizeof(double)});
  return std::min(num_parameters, std::clamp(affordable, std::min(threads, wanted), wanted));
}

template <class Real>
std::vector<ParameterSummary> summarise_draws(const std::vector<std::string>& names, const DrawsOfChains<Real>& draws,
                                              std::span<const std::int64_t> excluded, std::int64_t num_superchains) {
  const std::int64_t dim = std::ssize(names), stride = draws.columns, num_draws = draws.num_draws;
  std::vector<char> left_out(draws.chains, 0);
  for (const std::int64_t c : excluded) left_out.at(c) = 1;
  std::vector<std::int64_t> kept;
  for (std::int64_t c = 0; c < draws.chains; ++c) {
    if (!left_out[c]) kept.push_back(c);
  }
  const Superchains superchains(kept, num_superchains);
  const std::int64_t num_kept = std::ssize(kept), size = num_kept * num_draws;
  std::vector<ParameterSummary> summaries(dim);
  if (dim == 0) return summaries;
  const std::int64_t block = gathered_together(dim, size, sizeof(Real), omp_get_max_threads());
  const auto values = make_scratch<double>(block * size);
  std::exception_ptr failure;  // an exception may not leave a parallel region
#pragma omp parallel
  {
    const ScratchReuse reuse;
    for (std::int64_t first = 0; first < dim; first += block) {
      const std::int64_t count = std::min(block, dim - first);
#pragma omp for schedule(static)
      for (std::int64_t k = 0; k < num_kept; ++k) {
        const Real* from = draws.values + kept[k] * draws.room * stride + first;
        double* to = values.get() + k * num_draws;
        // Whole lines of one column at a time: those of all columns may have one place in a cache.
        constexpr std::int64_t piece = 64;
        for (std::int64_t i = 0; i < num_draws; i += piece) {
          const std::int64_t end = std::min(i + piece, num_draws);
          for (std::int64_t d = 0; d < count; ++d)
            for (std::int64_t j = i; j < end; ++j) to[d * size + j] = static_cast<double>(from[j * stride + d]);
        }
      }
#pragma omp for schedule(dynamic, 1)
      for (std::int64_t d = 0; d < count; ++d) {
        try {
          summaries[first + d] =
              summarise(names[first + d], Series{values.get() + d * size, num_kept, num_draws}, superchains);
        } catch (...) {
#pragma omp critical(kilochain_summarise_failure)
          failure = std::current_exception();
        }
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
  return summaries;
}

template std::vector<ParameterSummary> summarise_draws(const std::vector<std::string>&, const DrawsOfChains<float>&,
                                                       std::span<const std::int64_t>, std::int64_t);
template std::vector<ParameterSummary> summarise_draws(const std::vector<std::string>&, const DrawsOfChains<double>&,
                                                       std::span<const std::int64_t>, std::int64_t);

}  // namespace kilochain
