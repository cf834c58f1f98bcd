#include "host/statistics/progress_statistic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/statistics/rhat.hpp"

namespace kilochain {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kMostChains = 256, kFewestBatches = 64;

/// `count` of 0 .. size - 1, evenly spread.
std::vector<std::int64_t> spread(std::int64_t size, std::int64_t count) {
  std::vector<std::int64_t> out;
  for (std::int64_t k = 0; k < count; ++k) out.push_back(k * size / count);
  return out;
}

}  // namespace

ProgressStatistic::ProgressStatistic(std::int64_t num_chains, std::int64_t dim)
    : num_chains_(num_chains), parameters_(spread(dim, std::min<std::int64_t>(dim, kMostParameters))) {
  for (const std::int64_t c : spread(num_chains, std::min(num_chains, kMostChains))) chains_.push_back({c, false, {}});
}

void ProgressStatistic::exclude(std::int64_t chain) {
  ++num_excluded_;
  for (Chain& of : chains_) of.excluded = of.excluded || of.number == chain;
}

template <class Real>
void ProgressStatistic::add(View3<const Real> draws, std::int64_t count, int threads) {
  for (std::size_t k = 0; k < parameters_.size() && num_draws_ == 0 && count > 0; ++k) {
    const double first = draws(chains_[0].number, 0, parameters_[k]);
    if (std::isfinite(first)) shift_[k] = first;
  }
  const std::int64_t num_chains = std::ssize(chains_);
  for (std::int64_t done = 0; done < count;) {
    if (complete_ == kMostBlocks) join_blocks();
    const std::int64_t now = std::min(count - done, block_draws_ - filled_);
    // A thread that is woken for less than this costs more than it does.
    const auto useful = num_chains * now * std::ssize(parameters_) / 32768;
#pragma omp parallel for num_threads(std::clamp <std::int64_t>(useful, 1, threads))
    for (std::int64_t c = 0; c < num_chains; ++c) add_to_block(chains_[c], draws, done, now);
    done += now;
    filled_ += now;
    if (filled_ == block_draws_) ++complete_, filled_ = 0;
  }
  num_draws_ += count;
}

template <class Real>
void ProgressStatistic::add_to_block(Chain& chain, View3<const Real> draws, std::int64_t first,
                                     std::int64_t count) const {
  if (chain.excluded) return;
  Sums* const block = chain.blocks[complete_];
  for (std::size_t k = 0; k < parameters_.size(); ++k) {
    Sums sums = filled_ == 0 ? Sums() : block[k];
    for (std::int64_t t = first; t < first + count; ++t) {
      const double x = draws(chain.number, t, parameters_[k]) - shift_[k];
      sums.x += x;
      sums.square += x * x;
    }
    block[k] = sums;
  }
}

void ProgressStatistic::join_blocks() {
  for (Chain& chain : chains_) {
    for (int b = 0; b < kMostBlocks / 2; ++b) {
      for (int k = 0; k < kMostParameters; ++k) {
        const Sums &left = chain.blocks[2 * b][k], &right = chain.blocks[2 * b + 1][k];
        chain.blocks[b][k] = {left.x + right.x, left.square + right.square};
      }
    }
  }
  complete_ = kMostBlocks / 2;
  block_draws_ *= 2;
}

RowVariances ProgressStatistic::variances_of_groups(int parameter, int blocks_of_group, int groups) const {
  const std::int64_t length = blocks_of_group * block_draws_;
  std::vector<double> means;
  double square = 0;
  for (const Chain& chain : chains_) {
    if (chain.excluded) continue;
    for (int g = 0; g < groups; ++g) {
      Sums sums;
      for (int b = g * blocks_of_group; b < (g + 1) * blocks_of_group; ++b) {
        sums.x += chain.blocks[b][parameter].x;
        sums.square += chain.blocks[b][parameter].square;
      }
      means.push_back(sums.x / length);
      square += sums.square;
    }
  }
  return row_variances(means, length, square / (std::ssize(means) * length));
}

ProgressStatistic::Worst ProgressStatistic::worst() const {
  const int half = complete_ / 2, used = 2 * half;
  const auto counted = std::count_if(chains_.begin(), chains_.end(), [](const Chain& c) { return !c.excluded; });
  if (counted == 0 || parameters_.empty() || used * block_draws_ < kFewestDraws) return {kNaN, kNaN};
  const auto batches_of_chain = (kFewestBatches + counted - 1) / counted;
  const int group = std::max<std::int64_t>(1, used / batches_of_chain);
  const double draws = num_draws_ * (num_chains_ - num_excluded_);
  Worst worst{0, std::numeric_limits<double>::infinity()};
  for (int k = 0; k < std::ssize(parameters_); ++k) {
    const RowVariances halves = variances_of_groups(k, half, 2), batches = variances_of_groups(k, group, used / group);
    const double rhat = rhat_of(halves), n = halves.length;
    const double variance = (n - 1) / n * halves.within + halves.between;
    const double ess = draws * variance / (batches.length * batches.between);
    if (std::isnan(rhat) || std::isnan(ess)) return {kNaN, kNaN};
    worst.rhat_max = std::max(worst.rhat_max, rhat);
    worst.ess_min = std::min({worst.ess_min, ess, draws * std::log10(draws)});  // the bound of antithetic chains
  }
  return worst;
}

template void ProgressStatistic::add(View3<const float>, std::int64_t, int);
template void ProgressStatistic::add(View3<const double>, std::int64_t, int);

}  // namespace kilochain
