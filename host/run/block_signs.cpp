#include "host/run/block_signs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/statistics/ess.hpp"
#include "host/statistics/rhat.hpp"

namespace kilochain {
namespace {

struct MeanAndError {
  double mean = 0, square_error = 0;
};
MeanAndError mean_over(const std::vector<double>& v) {
  const double c = v.size();
  MeanAndError m;
  for (const double x : v) m.mean += x / c;
  for (const double x : v) m.square_error += (x - m.mean) * (x - m.mean) / (c * std::max(1.0, c - 1));
  return m;
}

}  // namespace

template <class Real>
BlockSigns signs_of(const BlockOfDraws<Real>& block, int threads) {
  BlockSigns signs;
  const std::int64_t chains = std::ssize(block.running), dim = block.draws.columns;
  const double count = block.count;
  for (const auto c : block.running) {
    double lp = 0;
    for (Count s = 0; s < block.count; ++s) {
      lp += block.lp(c, s) / count;
      signs.acceptance += block.accepted(c, s);
    }
    signs.lp.push_back(lp);
  }
  signs.acceptance = signs.acceptance / chains / count;
  double rhat = 0, ess = INFINITY, ess_of_squares = INFINITY;
  // At most about 64 coordinates and 256 chains: the slowest of a spread sample stands for all.
  const std::int64_t step = std::max<std::int64_t>(1, dim / 64), stride = std::max<std::int64_t>(1, chains / 256);
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(max                   \
                                                                          : rhat) reduction(min \
                                                                                            : ess, ess_of_squares)
  for (std::int64_t i = 0; i < dim; i += step) {
    std::vector<double> values;
    std::int64_t looked_at = 0;
    for (std::int64_t k = 0; k < chains; k += stride, ++looked_at)
      for (Count s = 0; s < block.count; ++s) values.push_back(block.draws(block.running.begin()[k], s, i));
    const BasicSeries<double> series{values.data(), looked_at, block.count};
    rhat = std::max(rhat, rhat_split(series));
    ess = std::min(ess, ess_mean(series) * chains / looked_at);
    ess_of_squares = std::min(ess_of_squares, ess_square(series) * chains / looked_at);
  }
  signs.rhat = rhat;
  signs.ess_per_iteration = ess / count / block.thin;
  signs.ess_of_squares = ess_of_squares / count / block.thin;
  return signs;
}

bool WarmupMonitor::add(const BlockSigns& block) {
  const MeanAndError before = mean_over(last_.lp), now = mean_over(block.lp);
  const bool first = blocks_++ == 0;
  const double z =
      first ? INFINITY : std::abs(now.mean - before.mean) / std::sqrt(before.square_error + now.square_error + 1e-300);
  const bool still = block.lp.size() < 4 ? !first : z < 3;
  const bool near = std::isnan(target_accept_) || std::abs(block.acceptance - target_accept_) < 0.08;
  const bool agree = block.rhat < 1.05;
  const double ratio = block.ess_per_iteration / last_.ess_per_iteration;
  const bool level = !first && ratio < 1.3 && ratio > 0.6;
  last_ = block;
  note_.clear();
  const auto add_note = [&](bool fine, std::string text) {
    if (!fine) note_ += (note_.empty() ? "" : ", ") + std::move(text);
  };
  add_note(still, fmt::format("the mean log density still moves (z = {:.1f} between blocks)", z));
  add_note(near, fmt::format("acceptance {:.2f} is not near its target {:.2f}", block.acceptance, target_accept_));
  add_note(agree, fmt::format("the chains disagree (R-hat {:.3f} within a block)", block.rhat));
  add_note(level, "the sampler still learns");
  return still && near && agree && level;
}

template BlockSigns signs_of(const BlockOfDraws<float>&, int);
template BlockSigns signs_of(const BlockOfDraws<double>&, int);

}  // namespace kilochain
