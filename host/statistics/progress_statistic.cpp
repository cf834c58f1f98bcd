#include "host/statistics/progress_statistic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace kilochain {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// `count` of 0 .. size - 1, evenly spread.
std::vector<std::int64_t> spread(std::int64_t size, std::int64_t count) {
  std::vector<std::int64_t> out;
  for (std::int64_t k = 0; k < count; ++k) out.push_back(k * size / count);
  return out;
}

ProgressClock later(const ProgressClock& at, std::int64_t count) {
  return pass(
      at, count, [](const ProgressClock&, Count, Count) {}, [] {});
}

}  // namespace

ProgressStatistic::ProgressStatistic(std::int64_t num_chains, std::int64_t dim)
    : num_chains_(num_chains),
      excluded_(num_chains),
      parameters_(spread(dim, std::min<std::int64_t>(dim, kProgressParameters))) {
  for (const std::int64_t c : spread(num_chains, std::min<std::int64_t>(num_chains, kProgressChains)))
    chains_.push_back({c, false, {}});
}

void ProgressStatistic::exclude(std::int64_t chain) {
  if (std::exchange(excluded_[chain], true)) return;
  ++num_excluded_;
  for (ProgressChain& of : chains_) of.excluded = of.excluded || of.number == chain;
}

template <class Real>
void ProgressStatistic::add(View3<const Real> draws, std::int64_t count, int threads) {
  for (std::size_t k = 0; k < parameters_.size() && num_draws_ == 0 && count > 0; ++k) {
    const double first = draws(chains_[0].number, 0, parameters_[k]);
    if (std::isfinite(first)) shift_[k] = first;
  }
  const std::int64_t num_chains = std::ssize(chains_);
  // A thread that is woken for less than this costs more than it does.
  const auto useful = num_chains * count * std::ssize(parameters_) / 32768;
#pragma omp parallel for num_threads(std::clamp <std::int64_t>(useful, 1, threads))
  for (std::int64_t c = 0; c < num_chains; ++c) add_to_chain(chains_[c], draws, count);
  clock_ = later(clock_, count);
  num_draws_ += count;
}

template <class Real>
void ProgressStatistic::add_to_chain(ProgressChain& chain, View3<const Real> draws, std::int64_t count) const {
  if (chain.excluded || count == 0) return;
  for (int k = 0; k < std::ssize(parameters_); ++k)
    add_to_progress(chain, k, clock_, &draws(chain.number, 0, parameters_[k]), draws.columns, count, shift_[k]);
}

ProgressStatistic::Worst ProgressStatistic::worst() const {
  ProgressFigures of[kProgressParameters];
  std::vector<const ProgressChain*> counted;
  for (const ProgressChain& chain : chains_)
    if (!chain.excluded) counted.push_back(&chain);
  const auto chain_at = [&](Index i) -> const ProgressChain& { return *counted[i]; };
  for (int k = 0; k < std::ssize(parameters_); ++k)
    of[k] = progress_figures(HostTeam{}, static_cast<Index>(counted.size()), chain_at, k, clock_);
  return worst_of(of, num_draws_);
}

ProgressStatistic::Worst ProgressStatistic::worst_of(const ProgressFigures* of, std::int64_t draws_of_each) const {
  if (parameters_.empty()) return {kNaN, kNaN};
  const double draws = draws_of_each * (num_chains_ - num_excluded_);
  Worst worst{0, std::numeric_limits<double>::infinity()};
  for (int k = 0; k < std::ssize(parameters_); ++k) {
    const double rhat = of[k].rhat, ess = draws * of[k].ess_of_draw;
    if (std::isnan(rhat) || std::isnan(ess)) return {kNaN, kNaN};
    worst.rhat_max = std::max(worst.rhat_max, rhat);
    worst.ess_min = std::min({worst.ess_min, ess, draws * std::log10(draws)});  // the bound of antithetic chains
  }
  return worst;
}

void ProgressStatistic::move_to(const Place& place) {
  KC_CHECK(num_draws_ > 0 && !device_);
  device_ = make_device_progress(place, chains_, parameters_, shift_);
}

template <class Real>
void ProgressStatistic::add_on_device(View3<const Real> draws, std::int64_t first_chain, std::int64_t count,
                                      const std::uint8_t* excluded) {
  device_->add(draws, first_chain, count, clock_, excluded);
}

void ProgressStatistic::end_stretch(std::int64_t count, ProgressFigures* to) {
  clock_ = later(clock_, count);
  num_draws_ += count;
  device_->figures(clock_, to);
}

template void ProgressStatistic::add(View3<const float>, std::int64_t, int);
template void ProgressStatistic::add(View3<const double>, std::int64_t, int);
template void ProgressStatistic::add_on_device(View3<const float>, std::int64_t, std::int64_t, const std::uint8_t*);
template void ProgressStatistic::add_on_device(View3<const double>, std::int64_t, std::int64_t, const std::uint8_t*);

#if !defined(KILOCHAIN_HAS_CUDA)
std::unique_ptr<DeviceProgress> make_device_progress(const Place&, const std::vector<ProgressChain>&,
                                                     const std::vector<std::int64_t>&, const double*) {
  throw Error(ExitStatus::usage, "no CUDA device", cuda_unavailable(), "Run with --device cpu?");
}
#endif

}  // namespace kilochain
