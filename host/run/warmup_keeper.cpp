#include "host/run/warmup_keeper.hpp"

#include <cmath>

#include "host/run/recorded_values.hpp"
#include "host/run/sinks.hpp"

namespace kilochain {
namespace {

/// Enough for R-hat of few chains; fewer of each of many.
template <class Real>
Count room_for_last(const Phases<Real>& run) {
  return run.window(std::clamp<std::int64_t>(20000 / run.options.num_chains, 100, 500));
}

}  // namespace

template <class Real>
void LastDraws<Real>::take(const Window<Real>& window, std::int64_t origin, std::int64_t thin) {
  if (stale_) *this = LastDraws(room_);
  if (taken_ == 0) {
    chains_ = window.draws.planes, dim_ = window.draws.columns;
    x_.resize(static_cast<std::size_t>(chains_ * room_ * dim_));
    lp_.resize(static_cast<std::size_t>(chains_ * room_)), accepted_.resize(lp_.size());
    iterations_.resize(static_cast<std::size_t>(room_));
  }
  for (Count s = std::max<Count>(0, window.count - room_); s < window.count; ++s) {
    const Count slot = taken_++ % room_;
    iterations_.data()[slot] = origin + (window.first + s + 1) * thin - 1;
    for (Count c = 0; c < chains_; ++c) {
      std::copy_n(window.draws.row(c, s).data, dim_, x_.data() + (c * room_ + slot) * dim_);
      lp_.data()[c * room_ + slot] = window.lp(c, s);
      accepted_.data()[c * room_ + slot] = window.acceptance_rate(c, s);
    }
  }
}

template <class Real>
Window<Real> LastDraws<Real>::in_order() {
  const Count count = std::min(taken_, room_), oldest = taken_ > room_ ? taken_ % room_ : 0;
  const auto turn = [&](auto& values, Count rows, Count width) {
    for (Count r = 0; r < rows; ++r) {
      const auto row = values.begin() + r * room_ * width;
      std::rotate(row, row + oldest * width, row + room_ * width);
    }
  };
  turn(x_, chains_, dim_), turn(lp_, chains_, 1), turn(accepted_, chains_, 1), turn(iterations_, taken_ > 0, 1);
  iterations_.resize(static_cast<std::size_t>(count));
  Window<Real> out{
      {x_.data(), chains_, room_, dim_}, {lp_.data(), chains_, room_}, {accepted_.data(), chains_, room_}, {}, {}};
  out.count = count;
  return out;
}

template <class Real>
WarmupKeeper<Real>::WarmupKeeper(const Phases<Real>& run, const RunState* before)
    : run_(run), last_(room_for_last(run)), begin_(std::chrono::steady_clock::now()), saved_at_(begin_) {
  const Options& o = run.options;
  if (before) out_ = before->warm, out_.resumable = true;
  seconds_before_ = out_.seconds;
  const std::int64_t draws = std::max<std::int64_t>(1, o.num_samples.value_or(most_automatic_samples / 10) / o.thin);
  saves_ = run.file.is_open() && bytes_of_run_state(o, run.context, run.target.info(), precision_of<Real>, draws) > 0;
  every_ = std::min<double>(10, static_cast<double>(o.checkpoint_seconds));
}

template <class Real>
bool WarmupKeeper<Real>::run(Ensemble<Real>& chains, const Segment<Real>& segment, std::int64_t& now,
                             std::int64_t until, Windows<Real>& windows, const Take& take) {
  const Take both = [&](Window<Real>& window) {
    scouts_ = &chains != &run_.chains;
    last_.take(window, windows.origin, windows.thin);
    if (take) take(window);
  };
  while (now < until) {
    const double left = every_ - seconds_since(saved_at_);
    const std::int64_t end = saves_ && every_ > 0 ? std::min(until, now + run_.reporter.within(left)) : until;
    now = windows.buffers.empty() ? chains.run(segment, now, end) : chains.run(segment, now, end, windows, both);
    const bool ended = now < end;
    if (!chains.any_left()) return now == until;
    if (ended ? !chains.in_batches() && !chains.broken_off() : every_ > 0 && seconds_since(saved_at_) >= every_)
      save(state());
    if (ended) return false;
  }
  return true;
}

template <class Real>
void WarmupKeeper<Real>::forget_now() {
  last_ = LastDraws<Real>(room_for_last(run_));
}

template <class Real>
std::vector<char> WarmupKeeper<Real>::state() {
  if (!saves_) return {};
  RunState s;
  s.warm = out_;
  s.warm.seconds = seconds_before_ + seconds_since(begin_);
  s.value_of_first = value_of_first(run_);
  s.chains = run_.chains.save();
  nlohmann::json::to_cbor(where(), s.within_warmup);
  return to_bytes(s);
}

template <class Real>
void WarmupKeeper<Real>::save(const std::vector<char>& state) {
  if (state.empty()) return;
  const auto begin = std::chrono::steady_clock::now();
  out_.resumable = run_.file.save_state(state) || out_.resumable;
  saved_at_ = std::chrono::steady_clock::now();
  if (every_ > 0) every_ = std::max(every_, 20 * seconds_since(begin));
}

template <class Real>
WarmedUp WarmupKeeper<Real>::end() {
  out_.seconds = seconds_before_ + seconds_since(begin_);
  out_.gradients += run_.chains.take_gradients();
  const Options& o = run_.options;
  if (o.draws != KeptDraws::none && !out_.fewer_chains && (out_.interrupted || (o.keep_draws && o.keep_warmup)))
    leave_draws();
  return std::move(out_);
}

template <class Real>
void WarmupKeeper<Real>::leave_draws() {
  Window<Real> window = last_.in_order();
  if (window.count == 0) return;
  const TargetInfo& info = run_.target.info();
  RecordedValues<Real> values(run_);
  values.put_into(window);
  const auto& iterations = last_.iterations();
  const Count chains = window.draws.planes, width = window.draws.columns;
  std::vector<std::int64_t> quarantined;
  std::vector<double> acceptance;
  WarmupDraws kept{iterations, {}, {}, {}, scouts_};
  for (Count c = 0; c < chains; ++c) {
    const auto* row = window.draws.plane(c).data;
    kept.draws.insert(kept.draws.end(), row, row + window.count * width);
    const auto *lp = &window.lp(c, 0), *rate = &window.acceptance_rate(c, 0);
    kept.lp.insert(kept.lp.end(), lp, lp + window.count);
    kept.acceptance_rate.insert(kept.acceptance_rate.end(), rate, rate + window.count);
    double sum = 0;
    for (Count s = 0; s < window.count; ++s) sum += window.acceptance_rate(c, s);
    acceptance.push_back(sum / static_cast<double>(window.count));
    if (std::isnan(window.lp(c, window.count - 1))) quarantined.push_back(c), acceptance.back() = NAN;
  }
  if (out_.interrupted) {
    out_.last = LastOfWarmup{iterations.front(), iterations.back(), window.count, scouts_};
    out_.last_acceptance = std::move(acceptance);
    out_.last_figures =
        summarise_draws(info.names, kept.draws.data(), chains, window.count, quarantined, out_.superchains);
    out_.last_figures.resize(std::min(out_.last_figures.size(), info.num_posterior));
    run_.file.write_last_of_warmup(window, iterations, *out_.last);
  }
  if (run_.options.keep_draws) out_.draws = std::make_shared<WarmupDraws>(std::move(kept));
}

template class LastDraws<float>;
template class LastDraws<double>;
template class WarmupKeeper<float>;
template class WarmupKeeper<double>;

}  // namespace kilochain
