// The warm-up of a session: of a given length, or until its signs say that it is over.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/run/approach.hpp"
#include "host/run/session.hpp"
#include "host/statistics/ess.hpp"
#include "host/statistics/rhat.hpp"

namespace kilochain {

template <class Real>
void Session<Real>::warm_up() {
  phase_begin_ = Clock::now();
  if (options_.num_warmup < 0)
    automatic_warmup();
  else
    fixed_warmup();
  num_warmup_ = iteration_;
  warmup_.seconds = seconds_since(phase_begin_);
  for (std::size_t k = 0; k < batches_.size(); ++k) {
    bring(k);
    for (const auto& c : sampler_->controls()) warmup_.gradients += c.gradients;
    sampler_->reset_counts();
  }
}

template <class Real>
void Session<Real>::fixed_warmup() {
  num_warmup_ = options_.num_warmup;
  const bool pool = options_.adapt_scope == Scope::pooled && find_sampler(options_.sampler).adaptive;
  Segment<Real> segment;
  segment.seed = options_.seed;
  segment.schedule.num_warmup = num_warmup_;
  segment.schedule.adapting = true;
  segment.scope = pool ? Scope::pooled : Scope::chain;
  segment.rate_decays = pool;
  if (!options_.save_warmup || !writer_) {
    interrupted_ = !each_batch(0, segment, nullptr, {}, num_warmup_);
    return;
  }
  DrawsBuffer<Real> buffer(context_, num_chains_, batch_size_, dim_,
                           window_draws(num_chains_, dim_, num_warmup_, sizeof(Real)), num_stats_,
                           Recorded::statistics);
  while (iteration_ < num_warmup_ && !interrupted_) {
    const std::int64_t first = iteration_, end = std::min(num_warmup_, first + buffer.capacity());
    Recording<Real> kept;
    kept.first_iteration = first;
    interrupted_ = !each_batch(first, segment, &buffer, kept, end);
    const std::int64_t done = iteration_ - first;
    if (done > 0)
      writer_->append_warmup_stats(
          first, done, buffer.window(done, std::vector<std::int64_t>(static_cast<std::size_t>(num_chains_), done)));
  }
}

template <class Real>
BlockSigns Session<Real>::signs_of(const Window<Real>& window, std::int64_t count,
                                   const std::vector<ChainControl>& controls) const {
  BlockSigns signs;
  std::vector<std::int64_t> running;
  for (std::size_t c = 0; c < controls.size(); ++c)
    if (controls[c].status == ChainStatus::running) running.push_back(static_cast<std::int64_t>(c));
  double acceptance = 0;
  for (const auto c : running) {
    double lp = 0;
    for (std::int64_t s = 0; s < count; ++s) {
      lp += window.lp(c, s) / static_cast<double>(count);
      acceptance += static_cast<double>(window.acceptance_rate(c, s));
    }
    signs.lp.push_back(lp);
  }
  signs.acceptance = acceptance / static_cast<double>(running.size()) / static_cast<double>(count);
  double rhat = 0, ess = INFINITY;
  // At most about 64 coordinates and 256 chains: the slowest of a spread sample stands for all.
  const Index step = std::max<Index>(1, dim_ / 64);
  const std::size_t stride = std::max<std::size_t>(1, running.size() / 256);
#pragma omp parallel for num_threads(context_.threads) schedule(dynamic) reduction(max : rhat) reduction(min : ess)
  for (Index i = 0; i < dim_; i += step) {
    std::vector<double> values;
    std::int64_t chains = 0;
    for (std::size_t k = 0; k < running.size(); k += stride, ++chains)
      for (std::int64_t s = 0; s < count; ++s) values.push_back(static_cast<double>(window.draws(running[k], s, i)));
    const BasicSeries<double> series{values.data(), chains, count};
    rhat = std::max(rhat, rhat_split(series));
    ess = std::min(ess, ess_mean(series) * static_cast<double>(running.size()) / static_cast<double>(chains));
  }
  signs.rhat = rhat;
  signs.ess_per_iteration = ess / static_cast<double>(count);
  return signs;
}

/// Leads chains that accepted nothing in the window to where the density is, and begins all chains again, the adaptation too:
/// it was made for where they were stuck. Returns how many chains that were.
template <class Real>
std::size_t Session<Real>::lead_in(const Window<Real>& window, std::int64_t count) {
  std::size_t led = 0;
  if (target_.info().offers < Needs::gradient) return led;
  const std::size_t n = static_cast<std::size_t>(dim_);
  std::vector<std::vector<Real>> starts;
  for (std::size_t k = 0; k < batches_.size(); ++k) {
    bring(k);
    std::vector<Real> x = sampler_->positions(), stuck;
    const auto controls = sampler_->controls();
    std::vector<std::size_t> which;
    for (std::size_t c = 0; c < controls.size(); ++c) {
      const float* rates = window.acceptance_rate.row(static_cast<Count>(c) + batches_[k].first).data;
      double rate = 0;
      for (std::int64_t s = 0; s < count; ++s) rate += static_cast<double>(rates[s]) / static_cast<double>(count);
      if (controls[c].status != ChainStatus::running || rate > 1e-3) continue;
      which.push_back(c);
      stuck.insert(stuck.end(), x.begin() + static_cast<std::ptrdiff_t>(c * n),
                   x.begin() + static_cast<std::ptrdiff_t>((c + 1) * n));
    }
    if (!which.empty()) warmup_.gradients += approach<Real>(context_, target_, options_.seed, stuck, stop_);
    for (std::size_t i = 0; i < which.size(); ++i)
      std::copy_n(stuck.begin() + static_cast<std::ptrdiff_t>(i * n), n,
                  x.begin() + static_cast<std::ptrdiff_t>(which[i] * n));
    led += which.size();
    starts.push_back(std::move(x));
  }
  if (led == 0) return led;
  for (std::size_t k = 0; k < batches_.size(); ++k) {
    bring(k);
    for (const auto& c : sampler_->controls()) warmup_.gradients += c.gradients;
  }
  const auto fresh =
      make_chains<Real>(context_, options_.sampler, options_.sampler_settings, batch_size_, dim_, options_.adapt_scope)
          ->save();
  for (std::size_t k = 0; k < batches_.size(); ++k) {
    bring(k);
    sampler_->load(fresh);
    rounds_->start(starts[k]);
    note_quarantined(sampler_->controls(), batches_[k].first);
  }
  iteration_ = 0;
  return led;
}

template <class Real>
void Session<Real>::automatic_warmup() {
  const SamplerEntry& entry = find_sampler(options_.sampler);
  const bool pool = options_.adapt_scope == Scope::pooled && entry.adaptive;
  double target_accept = NAN;
  for (const auto& s : entry.settings)
    if (s.name == "target_accept") {
      const auto own = options_.sampler_settings.find("target_accept");
      target_accept = std::stod(own == options_.sampler_settings.end() ? s.default_value : own->second);
    }
  WarmupMonitor monitor(target_accept);
  Segment<Real> segment;
  segment.seed = options_.seed;
  segment.schedule.adapting = true;
  segment.schedule.num_warmup = most_automatic_warmup;
  segment.schedule.rate = pool ? pooled_rate(0) : 1;
  segment.scope = pool ? Scope::pooled : Scope::chain;
  converged_ = false;
  // Blocks grow: slow chains need long blocks before R-hat can tell that they agree. A long block is kept thinned.
  const std::int64_t room = window_draws(num_chains_, dim_, 500, sizeof(Real));
  DrawsBuffer<Real> buffer(context_, num_chains_, batch_size_, dim_, room, num_stats_);
  std::int64_t block = 100, blocks = 0, still_stuck = 0;
  while (!converged_ && !interrupted_ && iteration_ + block <= most_automatic_warmup) {
    const std::int64_t thin = (block + room - 1) / room, first = iteration_, count = block / thin;
    Recording<Real> kept = buffer.recording(0, first, thin);
    interrupted_ = !each_batch(first, segment, &buffer, kept, first + count * thin);
    if (interrupted_) break;
    const auto controls = all_controls();
    const Window<Real> window = buffer.window(count, std::vector<std::int64_t>(controls.size(), count));
    if (++blocks == 2 && led_in_ == 0) {  // a second block: the first may have begun with a bad scale only
      led_in_ = lead_in(window, count);
      if (led_in_ > 0) {
        monitor = WarmupMonitor(target_accept);
        block = 100;
        continue;
      }
    }
    still_stuck = 0;
    for (std::int64_t c = 0; c < num_chains_; ++c) {
      const float* rates = window.acceptance_rate.row(c).data;
      still_stuck += std::all_of(rates, rates + count, [](float rate) { return !(rate > 1e-6F); });
    }
    BlockSigns signs = signs_of(window, count, controls);
    signs.ess_per_iteration /= static_cast<double>(thin);
    converged_ = monitor.add(signs);
    block = block * 3 / 2;
  }
  if (!interrupted_ && pool) {  // let the factor settle while the rate decays
    const std::int64_t last = std::max<std::int64_t>(100, iteration_ / 4), from = iteration_;
    for (int k = 1; k <= 10 && !interrupted_; ++k) {
      segment.schedule.rate = pooled_rate(0.5 + 0.05 * k);
      interrupted_ = !each_batch(iteration_, segment, nullptr, {}, from + last * k / 10);
    }
  }
  if (!interrupted_) {  // the last iteration is known now: dual averaging leaves its average then
    segment.schedule.num_warmup = iteration_ + 1;
    interrupted_ = !each_batch(iteration_, segment, nullptr, {}, iteration_ + 1);
  }
  ess_per_iteration_ = monitor.ess_per_iteration();
  warmup_note_ = converged_ ? fmt::format("converged after {} iterations", iteration_)
                            : fmt::format("not converged after {} iterations: {}", iteration_,
                                          interrupted_ ? "interrupted" : monitor.note());
  if (led_in_ > 0) warmup_note_ += fmt::format("; {} chains that accepted nothing were led in by NUTS", led_in_);
  if (!converged_ && !interrupted_)
    notes_.push_back(
        "warm-up has " + warmup_note_ + ". Do not trust the summary; try " +
        (still_stuck > 0
             ? fmt::format(
                   "other starting points, such as --init zeros or --init normal:0.1 ({} chains accept nothing)?",
                   still_stuck)
             : std::string("--num-warmup with more iterations, or another sampler?")));
}

template class Session<float>;
template class Session<double>;

}  // namespace kilochain
