#include "host/learn/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "host/learn/median.hpp"
#include "host/statistics/chain_figures.hpp"
#include "host/statistics/ess.hpp"
#include "host/statistics/normal_quantile.hpp"

namespace kilochain {
namespace {

double mean_of(const double* first, Count from, Count until) {
  double sum = 0;
  for (Count s = from; s < until; ++s) sum += first[s];
  return sum / static_cast<double>(until - from);
}

/// Fisher's z of the correlation of two samples, in standard deviations.
double correlation_z(const std::vector<double>& a, const std::vector<double>& b) {
  const double n = static_cast<double>(a.size());
  double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
  for (std::size_t k = 0; k < a.size(); ++k) ma += a[k] / n, mb += b[k] / n;
  for (std::size_t k = 0; k < a.size(); ++k)
    aa += (a[k] - ma) * (a[k] - ma), bb += (b[k] - mb) * (b[k] - mb), ab += (a[k] - ma) * (b[k] - mb);
  if (!(aa > 0) || !(bb > 0) || n < 5) return 0;
  const double r = std::clamp(ab / std::sqrt(aa * bb), -0.999999, 0.999999);
  return std::atanh(r) * std::sqrt(n - 3);
}

/// The smallest effective sample size of means and of squares, over at most about 64 coordinates.
template <class Real>
double effective_draws(const FrozenDraws<Real>& block, int threads) {
  double least = INFINITY;
  const Count step = std::max<Count>(1, block.dim / 64);
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(min : least)
  for (Count i = 0; i < block.dim; i += step) {
    std::vector<double> values;
    for (const auto c : block.running)
      for (Count s = 0; s < block.count; ++s) values.push_back(static_cast<double>(block.at(c, s, i)));
    const Series series{values.data(), std::ssize(block.running), block.count};
    least = std::min({least, ess_mean(series), ess_square(series)});
  }
  return std::isfinite(least) ? least : 0;
}

}  // namespace

template <class Real>
FrozenDraws<Real>::FrozenDraws(Count chains_, Count count_, Count dim_, Count thin_)
    : chains(chains_),
      count(count_),
      dim(dim_),
      thin(thin_),
      x(static_cast<std::size_t>(chains * count * dim)),
      lp(static_cast<std::size_t>(chains * count)),
      accepted(static_cast<std::size_t>(chains), 0.0),
      steps(lp.size()) {}

template <class Real>
double FrozenDraws<Real>::mean_steps() const {
  return std::accumulate(steps.begin(), steps.end(), 0.0) / static_cast<double>(steps.size());
}

template <class Real>
void FrozenDraws<Real>::take(const Window<Real>& window) {
  for (Count c = 0; c < chains; ++c)
    for (Count s = 0; s < window.count; ++s) {
      const Count at = c * count + window.first + s;
      lp[static_cast<std::size_t>(at)] = window.lp(c, s);
      steps[static_cast<std::size_t>(at)] = window.stats(2, c, s);
      accepted[static_cast<std::size_t>(c)] += window.acceptance_rate(c, s) / static_cast<double>(count);
      std::copy_n(window.draws.row(c, s).data, dim, x.data() + at * dim);
    }
}

template <class Real>
AuditFigures audit_of(const FrozenDraws<Real>& block, std::span<const Real> began, int threads,
                      const std::function<std::string(Count)>& name_of) {
  AuditFigures out;
  out.ess_per_iteration = effective_draws(block, threads) / static_cast<double>(block.count * block.thin);
  const Count dim = block.dim, half = block.count / 2, third = block.count - block.count / 3;
  std::vector<double> drifts, means;
  for (const auto c : block.running) {
    const double* lp = block.lp_of(c);
    drifts.push_back(mean_of(lp, half, block.count) - mean_of(lp, 0, half));
    means.push_back(mean_of(lp, 0, block.count));
    if (accepts_nothing(block.accepted[static_cast<std::size_t>(c)])) out.stuck.push_back(c);
    out.acceptance += block.accepted[static_cast<std::size_t>(c)] / static_cast<double>(block.running.size());
  }
  const auto fail = [&](std::string text) { out.note += (out.note.empty() ? "" : ", ") + std::move(text); };
  if (!out.stuck.empty()) fail(fmt::format("{} chains accept nothing", out.stuck.size()));

  const double n = static_cast<double>(drifts.size());
  double drift = 0, square = 0;
  for (const double d : drifts) drift += d / n;
  for (const double d : drifts) square += (d - drift) * (d - drift) / std::max(1.0, n - 1);
  const double t = std::abs(drift) / std::sqrt(square / n + 1e-300);
  if (n > 3 && t > 4) fail(fmt::format("the mean log density still moves (t = {:.1f}, 4 at most)", t));

  const double middle = out.lp = median(means);
  const double sd = robust_sd(Eigen::VectorXd::Map(means.data(), std::ssize(means)), middle);
  out.lp_width = 10 * (sd + 1e-12 * std::abs(middle));
  std::vector<std::int64_t> far;
  for (std::size_t k = 0; k < means.size(); ++k)
    if (n > 7 && means[k] < middle - out.lp_width) far.push_back(block.running[k]);
  if (!far.empty()) fail(fmt::format("{} chains are far below the others in log density", far.size()));
  std::vector<std::int64_t> apart;
  std::set_union(far.begin(), far.end(), out.stuck.begin(), out.stuck.end(), std::back_inserter(apart));
  out.stuck = std::move(apart);

  std::vector<double> kept(static_cast<std::size_t>(dim));  // of where each coordinate began
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (Count i = 0; i < dim; ++i) {
    std::vector<double> first(block.running.size()), last(block.running.size());
    for (std::size_t k = 0; k < block.running.size(); ++k) {
      const auto c = block.running[k];
      first[k] = static_cast<double>(began[static_cast<std::size_t>(c * dim + i)]);
      double sum = 0;
      for (Count s = third; s < block.count; ++s) sum += static_cast<double>(block.at(c, s, i));
      last[k] = sum;
    }
    kept[static_cast<std::size_t>(i)] = std::abs(correlation_z(first, last));
  }
  const auto largest = std::ranges::max_element(kept);
  const double worst = *largest;
  const Count where = largest - kept.begin();
  const double bar = -normal_quantile(0.5e-3 / static_cast<double>(dim));
  if (worst > bar)
    fail(fmt::format("{} has not forgotten where it began (z = {:.1f}, {:.1f} at most)", name_of(where), worst, bar));
  out.passed = out.note.empty();
  return out;
}

template struct FrozenDraws<float>;
template struct FrozenDraws<double>;
template AuditFigures audit_of(const FrozenDraws<float>&, std::span<const float>, int,
                               const std::function<std::string(Count)>&);
template AuditFigures audit_of(const FrozenDraws<double>&, std::span<const double>, int,
                               const std::function<std::string(Count)>&);

}  // namespace kilochain
