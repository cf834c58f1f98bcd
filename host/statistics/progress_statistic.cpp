#include "host/statistics/progress_statistic.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "host/statistics/rhat.hpp"

namespace kilochain {
namespace {

/// `count` of 0 .. size - 1, evenly spread.
std::vector<std::int64_t> spread(std::int64_t size, std::int64_t count) {
  std::vector<std::int64_t> out;
  for (std::int64_t k = 0; k < count; ++k) out.push_back(k * size / count);
  return out;
}

}  // namespace

ProgressStatistic::ProgressStatistic(std::int64_t num_chains, std::int64_t dim, std::int64_t superchains)
    : superchains_(superchains),
      num_chains_(num_chains),
      excluded_(num_chains),
      parameters_(spread(dim, std::min<std::int64_t>(dim, most_parameters))) {
  for (const std::int64_t c : spread(num_chains, std::min<std::int64_t>(num_chains, most_chains)))
    chains_.push_back({c, false, {}});
}

void ProgressStatistic::exclude(std::int64_t chain) {
  if (std::exchange(excluded_[chain], true)) return;
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
  for (std::int64_t first = 0, draws_now; first < count; first += draws_now) {
    if (complete_ == most_blocks) join_blocks();
    draws_now = std::min(count - first, block_draws_ - filled_);
    // A thread that is woken for less than this costs more than it does.
    const auto useful = num_chains * draws_now * std::ssize(parameters_) / 32768;
#pragma omp parallel for num_threads(std::clamp <std::int64_t>(useful, 1, threads))
    for (std::int64_t c = 0; c < num_chains; ++c) add_to_block(chains_[c], draws, first, draws_now);
    filled_ += draws_now;
    if (filled_ == block_draws_) ++complete_, filled_ = 0;
  }
  num_draws_ += count;
}

/// Draws `first` to `first` + `count` - 1 of a window, which lie in one block.
template <class Real>
void ProgressStatistic::add_to_block(Chain& chain, View3<const Real> draws, std::int64_t first,
                                     std::int64_t count) const {
  if (chain.excluded) return;
  for (std::size_t k = 0; k < parameters_.size(); ++k) {
    Sums sums = filled_ == 0 ? Sums() : chain.blocks[complete_][k];
    for (std::int64_t t = first; t < first + count; ++t) {
      const double value = draws(chain.number, t, parameters_[k]) - shift_[k];
      sums.x += value;
      sums.square += value * value;
    }
    chain.blocks[complete_][k] = sums;
  }
}

void ProgressStatistic::join_blocks() {
  complete_ = most_blocks / 2;
  block_draws_ *= 2;
  for (Chain& chain : chains_)
    for (int b = 0; b < complete_; ++b)
      for (int k = 0; k < most_parameters; ++k) {
        const Sums left = chain.blocks[2 * b][k], right = chain.blocks[2 * b + 1][k];
        chain.blocks[b][k] = {left.x + right.x, left.square + right.square};
      }
}

/// Of rows of draws: each chain has rows_of_chain of them, of neighbouring blocks, the first ones.
ProgressStatistic::Rows ProgressStatistic::rows(int parameter, int blocks_of_row, int rows_of_chain) const {
  const std::int64_t length = blocks_of_row * block_draws_;
  double squares = 0;
  std::vector<double> means;
  for (const Chain& chain : chains_)
    for (int row = 0; row < rows_of_chain && !chain.excluded; ++row) {
      Sums sums;
      for (int b = row * blocks_of_row; b < (row + 1) * blocks_of_row; ++b) {
        sums.x += chain.blocks[b][parameter].x;
        sums.square += chain.blocks[b][parameter].square;
      }
      means.push_back(sums.x / length);
      squares += sums.square / length;
    }
  const double count = means.size();
  return {std::move(means), length, squares / count};
}

ProgressStatistic::Worst ProgressStatistic::worst() const {
  constexpr int fewest_batches = 64, fewest_draws = 4;
  const int half = complete_ / 2, used = 2 * half;
  const auto counted =
      static_cast<int>(std::count_if(chains_.begin(), chains_.end(), [](const Chain& c) { return !c.excluded; }));
  if (parameters_.empty() || counted == 0 || used * block_draws_ < fewest_draws) return {NAN, NAN};
  const int batches_of_chain = (fewest_batches + counted - 1) / counted, blocks = std::max(1, used / batches_of_chain);
  std::vector<std::int64_t> kept;
  for (const Chain& c : chains_)
    if (!c.excluded) kept.push_back(c.number);
  const Superchains superchains(kept, superchains_);
  const double draws = static_cast<double>(num_draws_ * (num_chains_ - num_excluded_));
  Worst worst{0, draws * std::log10(draws)};  // the bound of antithetic chains
  for (int k = 0; k < std::ssize(parameters_); ++k) {
    const auto variances = [](const Rows& r) { return row_variances(r.means, r.length, r.mean_square); };
    const Rows split = rows(k, half, 2);
    const RowVariances halves = variances(split), batches = variances(rows(k, blocks, used / blocks));
    const double n = halves.length, variance = (n - 1) / n * halves.within + halves.between,
                 rhat = superchains.empty() ? rhat_of(halves)
                                            : rhat_of_superchains(split.means, split.mean_square, superchains),
                 ess = draws * variance / (batches.length * batches.between);
    if (std::isnan(rhat) || std::isnan(ess)) return {NAN, NAN};
    worst.rhat_max = std::max(worst.rhat_max, rhat);
    worst.ess_min = std::min(worst.ess_min, ess);
  }
  return worst;
}

template void ProgressStatistic::add(View3<const float>, std::int64_t, int);
template void ProgressStatistic::add(View3<const double>, std::int64_t, int);

}  // namespace kilochain
