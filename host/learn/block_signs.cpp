#include "host/learn/block_signs.hpp"

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
BlockOfDraws<Real>::BlockOfDraws(std::int64_t num_chains, std::int64_t dim)
    : num_chains_(num_chains), step_(std::max<std::int64_t>(1, dim / 64)), coordinates_((dim + step_ - 1) / step_) {}

template <class Real>
void BlockOfDraws<Real>::begin(std::int64_t count, std::int64_t thin) {
  count_ = count, thin_ = thin;
  values_.resize(static_cast<std::size_t>(coordinates_ * num_chains_ * count));
  lp_.assign(static_cast<std::size_t>(num_chains_), 0), accepted_ = lp_;
}

template <class Real>
void BlockOfDraws<Real>::take(const Window<Real>& window) {
  const View3<Real> values{values_.data(), coordinates_, num_chains_, count_};
  for (Count c = 0; c < num_chains_; ++c)
    for (Count s = 0; s < window.count; ++s) {
      lp_.data()[c] += window.lp(c, s);
      accepted_.data()[c] += window.acceptance_rate(c, s);
      for (Count i = 0; i < coordinates_; ++i) values(i, c, window.first + s) = window.draws(c, s, i * step_);
    }
}

template <class Real>
std::vector<double> BlockOfDraws<Real>::acceptance() const {
  std::vector<double> out;
  for (const double sum : accepted_) out.push_back(sum / static_cast<double>(count_));
  return out;
}

template <class Real>
BlockSigns BlockOfDraws<Real>::signs(const std::vector<std::int64_t>& running, int threads) const {
  BlockSigns signs;
  const std::int64_t chains = std::ssize(running);
  const double count = static_cast<double>(count_);
  for (const auto c : running) {
    signs.lp.push_back(lp_.data()[c] / count);
    signs.acceptance += accepted_.data()[c];
  }
  signs.acceptance = signs.acceptance / chains / count;
  double rhat = 0, ess = INFINITY, ess_of_squares = INFINITY;
  const std::int64_t stride = std::max<std::int64_t>(1, chains / 256);  // at most about 256 chains
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(max                   \
                                                                          : rhat) reduction(min \
                                                                                            : ess, ess_of_squares)
  for (std::int64_t i = 0; i < coordinates_; ++i) {
    std::vector<double> values;
    std::int64_t chosen = 0;
    for (std::int64_t k = 0; k < chains; k += stride, ++chosen) {
      const Real* draws = values_.data() + (i * num_chains_ + running.data()[k]) * count_;
      values.insert(values.end(), draws, draws + count_);
    }
    const Series series{values.data(), chosen, count_};
    rhat = std::max(rhat, rhat_split(series));
    ess = std::min(ess, ess_mean(series) * chains / chosen);
    ess_of_squares = std::min(ess_of_squares, ess_square(series) * chains / chosen);
  }
  signs.rhat = rhat;
  signs.ess_per_iteration = ess / count / thin_;
  signs.ess_of_squares = ess_of_squares / count / thin_;
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
  add_note(still, fmt::format("the mean log density still moves (z = {:.1f} between blocks, below 3 wanted)", z));
  add_note(near, fmt::format("acceptance {:.2f} is not near its target {:.2f}", block.acceptance, target_accept_));
  add_note(agree, fmt::format("the chains disagree (R-hat {:.3f} within a block, below 1.05 wanted)", block.rhat));
  add_note(level, first ? "one block cannot tell whether the sampler still learns"
                        : fmt::format("the sampler still learns (efficiency times {:.2f}, 0.6 to 1.3 wanted)", ratio));
  return still && near && agree && level;
}

std::string WarmupMonitor::frozen(const BlockSigns& block, const std::vector<double>& rates) const {
  const MeanAndError before = mean_over(last_.lp), now = mean_over(block.lp);
  const double z = std::abs(now.mean - before.mean) / std::sqrt(before.square_error + now.square_error + 1e-300);
  const std::int64_t stuck = std::count_if(rates.begin(), rates.end(), [](double r) { return r <= 1e-3; });
  std::string out;
  if (block.acceptance < 0.5 * last_.acceptance)
    out = fmt::format(", acceptance {:.2g} once it was frozen, {:.2g} before", block.acceptance, last_.acceptance);
  if (stuck > 0) out += fmt::format(", {} of the frozen chains accept nothing", stuck);
  if (block.lp.size() >= 16 && z > 5)
    out += fmt::format(", the mean log density moved when it was frozen (z = {:.1f})", z);
  return out.empty() ? out : out.substr(2);
}

template class BlockOfDraws<float>;
template class BlockOfDraws<double>;

}  // namespace kilochain
