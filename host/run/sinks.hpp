// Where the windows of the sampling phase go, beside the file (output_file.hpp): memory, a streaming summary, the
// progress line, and the list of divergences. Each is a sink: it takes one window after the other and knows nothing of
// the others.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "host/run/phases.hpp"
#include "host/statistics/progress_statistic.hpp"
#include "host/statistics/scratch.hpp"
#include "host/statistics/streaming/streaming.hpp"
#include "host/statistics/summary.hpp"

namespace kilochain {

/// An array over all draws of a run, (chain, draw, value), with room for all that may come.
template <class T>
class OfAllDraws {
 public:
  OfAllDraws(std::int64_t num_chains, std::int64_t num_draws, std::int64_t width)
      : room_(make_room<T>(num_chains * num_draws * width)), all_{room_.get(), num_chains, num_draws, width} {}
  /// The next `count` draws of every chain: draws (chain, capacity, width).
  void add(View3<const T> draws, std::int64_t count) {
    const std::int64_t values = count * all_.columns;
#pragma omp parallel for schedule(static) if (all_.planes * values > many)
    for (Count c = 0; c < all_.planes; ++c)
      std::copy_n(draws.plane(c).data, values, all_.plane(c).data + drawn_ * all_.columns);
    drawn_ += count;
  }
  void add(View2<const T> one, std::int64_t count) { add({one.data, one.rows, one.columns, 1}, count); }
  DrawsOfChains<T> drawn() const { return {all_.data, all_.planes, drawn_, all_.columns, all_.rows}; }
  /// The same, copied, without the room for what was not drawn: chain after chain.
  template <class To = T>
  std::vector<To> values() const {
    std::vector<To> out;
    out.reserve(static_cast<std::size_t>(all_.planes * drawn_ * all_.columns));
    for (Count c = 0; c < all_.planes; ++c)
      out.insert(out.end(), all_.plane(c).data, all_.plane(c).data + drawn_ * all_.columns);
    return out;
  }

 private:
  static constexpr std::int64_t many = 1 << 18;  // what a thread copies while others would wake
  std::int64_t drawn_ = 0;                       ///< of each chain
  Room<T> room_;
  View3<T> all_;
};

template <class Real>
class DrawsInMemory final : public Sink<Real>, public OfAllDraws<Real> {
 public:
  using OfAllDraws<Real>::OfAllDraws;
  void take(const Window<Real>& window) override { this->add(window.draws, window.count); }
};

/// What is known of each draw beside its values, (chain, draw).
template <class Real>
class StatisticsInMemory final : public Sink<Real> {
 public:
  StatisticsInMemory(std::int64_t num_chains, std::int64_t num_draws, std::size_t num_stats)
      : lp(num_chains, num_draws, 1), acceptance_rate(num_chains, num_draws, 1), diverging(num_chains, num_draws, 1) {
    for (std::size_t k = 0; k < num_stats; ++k) stats.emplace_back(num_chains, num_draws, 1);
  }
  void take(const Window<Real>& window) override {
    lp.add(window.lp, window.count);
    acceptance_rate.add(window.acceptance_rate, window.count);
    diverging.add(window.diverging, window.count);
    for (std::size_t k = 0; k < stats.size(); ++k)
      stats[k].add(window.stats.plane(static_cast<Count>(k)), window.count);
  }
  OfAllDraws<double> lp;
  OfAllDraws<float> acceptance_rate;
  OfAllDraws<std::uint8_t> diverging;
  std::vector<OfAllDraws<float>> stats;
};

template <class Real>
class SummarySink final : public Sink<Real> {
 public:
  SummarySink(StreamingSummary summary, int threads) : summary_(std::move(summary)), threads_(threads) {}
  void take(const Window<Real>& window) override {
    for (const auto chain : window.quarantined) summary_.exclude(chain);
    summary_.add(window.draws, window.count, threads_);
  }
  const StreamingSummary& summary() const { return summary_; }

 private:
  StreamingSummary summary_;
  int threads_;
};

/// The worst figures so far.
template <class Real>
class ProgressSink final : public Sink<Real> {
 public:
  ProgressSink(ProgressStatistic statistic, Reporter& reporter, int threads)
      : statistic_(std::move(statistic)), reporter_(reporter), threads_(threads) {}
  void take(const Window<Real>& window) override {
    for (const auto chain : window.quarantined) statistic_.exclude(chain);
    statistic_.add(window.draws, window.count, threads_);
    const auto worst = statistic_.worst();
    reporter_.figures(worst.rhat_max, worst.ess_min);
  }

 private:
  ProgressStatistic statistic_;
  Reporter& reporter_;
  int threads_;
};

template <class Real>
class DivergenceSink final : public Sink<Real> {
 public:
  explicit DivergenceSink(std::int64_t before) : count_(before) {}
  void take(const Window<Real>& window) override {
    for (Count c = 0; c < window.diverging.rows; ++c) {
      const std::uint8_t* flags = window.diverging.row(c).data;
      count_ += std::count(flags, flags + window.count, 1);
    }
    const std::size_t room = most_kept_divergences - first_.size();
    first_.insert(first_.end(), window.divergences.begin(),
                  window.divergences.begin() + std::min(room, window.divergences.size()));
  }
  std::int64_t count() const { return count_; }                    ///< draws of chains that are not quarantined
  const std::vector<Divergence>& first() const { return first_; }  ///< most_kept_divergences at most

 private:
  std::int64_t count_;
  std::vector<Divergence> first_;
};

}  // namespace kilochain
