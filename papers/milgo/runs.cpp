#include "papers/milgo/runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "host/chains/thread_seconds.hpp"
#include "host/registry/registry.hpp"
#include "host/run/ensemble.hpp"
#include "targets/chi_square.hpp"

namespace kilochain::milgo {
namespace {

constexpr Index batch = 50;           // chains at a time: their windows of draws stay in the cache
constexpr Index population = 100;     // chains that pool what they learn: the paper's number of runs
constexpr std::int64_t window = 500;  // draws at a time
constexpr double published_runs = 100;

std::vector<double> starting_points(Index first, Index count, Index dim, std::uint64_t seed) {
  std::vector<double> x;
  for (Index c = first; c < first + count; ++c)
    for (Index i = 0; i < dim; ++i)
      x.push_back(start_half_width * (2 * uniform(Rng{seed, static_cast<std::uint32_t>(c), 0}, Purpose::start,
                                                  static_cast<std::uint32_t>(i)) -
                                      1));
  return x;
}

/// Runs chains through the protocol, and hands over draws by windows. Returns the sum of the chains' mean acceptances.
double each_window(const Cell& cell, Target<double>& target, Index first, Index count, std::uint64_t seed,
                   const std::atomic<bool>& stop, const Ensemble<double>::Take& take) {
  const Context context = cpu_context(1);
  const Scope scope = cell.adaptation == Adaptation::pooled ? Scope::pooled : Scope::chain;
  Reporter silent;
  Ensemble<double> chains(context, target, {cell.sampler, cell.settings, count, count, scope, seed, first}, silent,
                          stop);
  chains.start([&](Index, Index) { return starting_points(first, count, target.info().dim, seed); });
  constexpr std::int64_t unkept = num_iterations - num_kept;
  const bool frozen = cell.adaptation == Adaptation::frozen;
  const auto adapting = chains.adapting(frozen ? unkept : num_iterations);
  chains.run(adapting, 0, unkept);
  chains.take_gradients();  // acceptances are those of the kept draws
  Windows<double> windows = chains.windows(chains.shape(window));
  windows.origin = unkept;
  chains.run(frozen ? chains.sampling(unkept) : adapting, unkept, num_iterations, windows, take);
  double acceptance = 0;
  for (const ChainControl& c : chains.controls()) {
    require(c.status == ChainStatus::running, ExitStatus::quarantined,
            fmt::format("{} on {}: a run ended early", cell.name, cell.target),
            fmt::format("iteration {}: {}", c.iteration, quarantine_reason(c.status)), "Try another --seed?");
    acceptance += c.acceptance_sum / c.counted;
  }
  return acceptance;
}

}  // namespace

Spread spread_of(const std::vector<double>& values) {
  const double n = values.size();
  double mean = 0, m2 = 0, m4 = 0;
  for (const double v : values) mean += v / n;
  for (const double v : values) {
    const double d = (v - mean) * (v - mean);
    m2 += d / n, m4 += d * d / n;
  }
  const double variance = m2 * n / (n - 1), sd = std::sqrt(variance);
  // The delta method: var(s^2) = (m4 - m2^2)/n, s = sqrt(s^2).
  return {mean, sd, sd / std::sqrt(n), sd > 0 ? std::sqrt(std::max(0.0, m4 - m2 * m2) / n) / (2 * sd) : 0.0};
}

Spread CellResult::spread(Figure f) const {
  const std::vector<double>& all = runs[f];
  Spread out = spread_of(all);
  if (cell.adaptation != Adaptation::pooled || std::ssize(all) < 2 * population) return out;
  std::vector<double> means, deviations;
  for (auto at = all.begin(); all.end() - at >= population; at += population) {
    const Spread one = spread_of({at, at + population});
    means.push_back(one.mean), deviations.push_back(one.sd);
  }
  out.mean_error = spread_of(means).mean_error, out.sd_error = spread_of(deviations).mean_error;
  return out;
}

CellResult run_cell(const Cell& cell, Index first, Index count, std::uint64_t seed, const std::atomic<bool>& stop,
                    const std::function<void(double fraction)>& tick) {
  const Context context = cpu_context(1);
  const auto target = make_target<double>(context, "twisted_gaussian", target_settings(cell.target, cell.dim));
  const std::size_t n = cell.dim;
  const double log_constant = -0.5 * std::log(100.0) - 0.5 * cell.dim * std::log(2 * std::numbers::pi),
               inside_68 = log_constant - 0.5 * chi_square_quantile(0.683, cell.dim),
               inside_99 = log_constant - 0.5 * chi_square_quantile(0.99, cell.dim);
  CellResult out;
  out.cell = cell;
  // Chains that pool are one population; others come in batches.
  const Index together = cell.adaptation == Adaptation::pooled ? population : batch;
  for (Index done = 0; done < count && !stop; done += together) {
    const Index now = std::min(together, count - done);
    std::vector<double> sum(n * now);
    std::vector<std::int64_t> inside(now), outside(now);
    const double begin = thread_seconds();
    const double acceptance = each_window(cell, *target, first + done, now, seed, stop, [&](const Window<double>& w) {
      for (std::int64_t c = 0; c < now; ++c)
        for (std::int64_t t = 0; t < w.count; ++t) {
          const double* x = w.draws.row(c, t).data;
          const double lp = w.lp(c, t);
          for (std::size_t i = 0; i < n; ++i) sum[c * n + i] += x[i];
          inside[c] += lp >= inside_68;
          outside[c] += lp < inside_99;
        }
    });
    out.seconds += thread_seconds() - begin;
    if (stop) break;
    out.acceptance += acceptance / count;
    for (std::size_t c = 0; c < static_cast<std::size_t>(now); ++c) {
      double square = 0;  // every target has mean zero
      for (std::size_t i = 0; i < n; ++i) square += sum[c * n + i] * sum[c * n + i];
      const double draws = num_kept;
      out.runs[mean_error].push_back(std::sqrt(square) / draws);
      out.runs[region_68].push_back(100 * (inside[c] / draws - 0.683));
      out.runs[region_99].push_back(100 * (outside[c] / draws - 0.01));
    }
    if (tick) tick(static_cast<double>(done + now) / count);
  }
  return out;
}

std::vector<std::vector<double>> draws_of(const Cell& cell, Index count, std::int64_t thin, std::uint64_t seed) {
  const Context context = cpu_context(1);
  const auto target = make_target<double>(context, "twisted_gaussian", target_settings(cell.target, cell.dim));
  std::vector<std::vector<double>> out;
  const std::atomic<bool> never{false};
  each_window(cell, *target, 0, count, seed, never, [&](const Window<double>& w) {
    for (std::int64_t c = 0; c < count; ++c)
      for (std::int64_t t = 0; t < w.count; t += thin) {
        const double* x = w.draws.row(c, t).data;
        out.emplace_back(x, x + cell.dim);
      }
  });
  return out;
}

std::vector<Comparison> compare(const CellResult& result) {
  std::vector<Comparison> out;
  if (!result.cell.published || result.num_runs() < fewest_compared) return out;
  for (int k = 0; k < num_figures; ++k) {
    const Figure f = static_cast<Figure>(k);
    const Spread ours = result.spread(f);
    const double runs = result.num_runs(), theirs_sd = result.cell.published->sd[f];
    // Their deviation stands for the error of their mean; that of their deviation is ours, of 100 runs.
    const double own = f == mean_error ? ours.mean : std::abs(ours.mean);
    const double mean_error_of_both = std::hypot(ours.mean_error, theirs_sd / std::sqrt(published_runs)),
                 sd_error_of_both = std::hypot(ours.sd_error, ours.sd_error * std::sqrt(runs / published_runs));
    out.push_back({f, false, own, result.cell.published->mean[f],
                   (result.cell.published->mean[f] - own) / mean_error_of_both, ""});
    out.push_back({f, true, ours.sd, theirs_sd, (theirs_sd - ours.sd) / sd_error_of_both, ""});
  }
  for (Comparison& c : out)
    if (!(std::abs(c.z) <= 4)) c.reason = known_reason(result.cell, c.figure, c.deviation);
  return out;
}

}  // namespace kilochain::milgo
