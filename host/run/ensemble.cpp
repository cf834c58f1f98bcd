#include "host/run/ensemble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

namespace kilochain {

EnsembleSetup setup_of(const Options& o) {
  return {o.sampler, o.sampler_settings, o.num_chains, batch_size(o), o.adapt_scope, o.seed};
}

template <class Real>
Ensemble<Real>::Ensemble(const Context& context, Target<Real>& target, EnsembleSetup setup, Reporter& reporter,
                         const std::atomic<bool>& stop)
    : context_(context), target_(target), setup_(std::move(setup)), reporter_(reporter), stop_(stop) {
  for (std::int64_t first = 0; first < setup_.num_chains; first += setup_.batch_size)
    batches_.push_back({static_cast<Index>(first), {}});
  make();
}

template <class Real>
void Ensemble<Real>::make() {
  rounds_.reset(), chains_.reset();
  const auto size = static_cast<Index>(setup_.batch_size);
  chains_ = make_chains<Real>(context_, setup_.sampler, setup_.settings, size, target_.info(), setup_.scope);
  rounds_ = std::make_unique<Rounds<Real>>(context_, target_, *chains_, size);
  on_device_ = 0;
}

template <class Real>
void Ensemble<Real>::start(const Points& points, const Metric* metric, std::int64_t iteration) {
  if (started_) make();
  started_ = true;
  quarantine_ = {};
  if (metric) chains_->set_metric(*metric);
  const std::vector<char> unstarted = in_batches() ? chains_->save() : std::vector<char>();
  for (std::size_t k = 0; k < batches_.size(); ++k) {
    if (k > 0) {
      batches_[k - 1].saved = chains_->save();
      chains_->load(unstarted);
    }
    on_device_ = k;
    rounds_->start(points(batches_[k].first, static_cast<Index>(setup_.batch_size)));
    chains_->begin_at(iteration);
    quarantine_.note(chains_->controls(), batches_[k].first);
  }
}

template <class Real>
void Ensemble<Real>::start_again(const std::function<void(std::vector<Real>&)>& change, const Metric* metric,
                                 std::int64_t iteration) {
  const std::int64_t dim = target_.info().dim;
  std::vector<Real> x = positions();
  change(x);
  const auto of = [&](Index first, Index count) {
    return std::vector<Real>(x.begin() + first * dim, x.begin() + (first + count) * dim);
  };
  start(of, metric, iteration);
}

template <class Real>
void Ensemble<Real>::set_metric(const Metric& metric) {
  each([&](Index, Chains<Real>& chains) { chains.set_metric(metric); });
}

template <class Real>
std::int64_t Ensemble<Real>::relocate(const std::vector<std::int64_t>& stuck, std::int64_t superchains) {
  std::int64_t moved = 0;
  each([&](Index first, Chains<Real>& chains) {
    const auto controls = chains.controls();
    const Index size = static_cast<Index>(controls.size()),
                groups = static_cast<Index>(std::max<std::int64_t>(1, superchains));
    std::vector<char> serves(controls.size());
    for (Index c = 0; c < size; ++c) serves[c] = controls[c].status == ChainStatus::running;
    for (const auto c : stuck)
      if (first <= c && c < first + size) serves[c - first] = false;
    const auto after = [&](std::int64_t c, auto&& fits) {
      for (Index k = 0; k < size; ++k)
        if (const auto next = static_cast<Index>((c + k) % size); serves[next] && fits(next)) return next;
      return Index(-1);
    };
    for (const auto c : stuck) {
      if (c < first || c >= first + size) continue;
      Index from = after(c - first, [&](Index next) { return (first + next) % groups == c % groups; });
      // A superchain that is stuck as a whole is relocated to one place, as it began at one.
      if (from < 0) from = after(c % groups, [](Index) { return true; });
      if (from < 0) continue;
      chains.relocate(from, static_cast<Index>(c) - first);
      ++moved;
    }
  });
  return moved;
}

template <class Real>
double Ensemble<Real>::averaged_step() {
  bring(0);
  return chains_->averaged_step();
}

template <class Real>
Segment<Real> Ensemble<Real>::adapting(std::int64_t num_warmup) const {
  Segment<Real> segment = sampling(num_warmup);
  segment.phase_start = 0;
  segment.schedule.adapting = true;
  segment.scope = find_sampler(setup_.sampler).adaptive ? setup_.scope : Scope::chain;
  return segment;
}

template <class Real>
Segment<Real> Ensemble<Real>::sampling(std::int64_t num_warmup) const {
  Segment<Real> segment;
  segment.seed = setup_.seed;
  segment.phase_start = segment.schedule.num_warmup = num_warmup;
  return segment;
}

template <class Real>
Windows<Real> Ensemble<Real>::windows(const WindowShape& shape, int lent) const {
  Windows<Real> out;
  for (int k = 0; k < windows_of(ahead()) + lent; ++k)
    out.buffers.emplace_back(context_, shape, static_cast<Index>(setup_.batch_size));
  return out;
}

template <class Real>
WindowShape Ensemble<Real>::shape(std::int64_t capacity, Recorded recorded) const {
  return {setup_.num_chains, target_.info().dim, capacity, std::ssize(find_sampler(setup_.sampler).stats), recorded};
}

template <class Real>
std::int64_t Ensemble<Real>::run(const Segment<Real>& segment, std::int64_t from, std::int64_t until) {
  if (nothing_.buffers.empty()) nothing_ = windows(shape(0, Recorded::nothing));
  return run(segment, from, until, nothing_, nullptr);
}

template <class Real>
std::int64_t Ensemble<Real>::run(const Segment<Real>& segment, std::int64_t now, std::int64_t until,
                                 Windows<Real>& windows, const Take& take) {
  std::deque<Drawn> begun;
  std::future<void> taking;  // ends before the buffers do
  since_ = std::chrono::steady_clock::now();
  for (bool ended = false; !begun.empty() || (now < until && !ended);) {
    if (now < until && !ended && std::ssize(begun) < (ahead() ? 2 : 1)) {
      DrawsBuffer<Real>& buffer = windows.turn();
      const std::int64_t end = end_of_window(segment, now, until, windows, buffer);
      begun.push_back({&buffer, now, fill(buffer, segment, now, end, windows)});
      now = begun.back().to, ended = now < end;
      continue;
    }
    const Drawn window = begun.front();
    begun.pop_front();
    if (taking.valid()) taking.get();
    if (begun.empty()) window.buffer->wait();  // else it was there before the next one could be sent
    taking = hand_on(window, windows, take);
  }
  if (taking.valid()) taking.get();
  return now;
}

/// Hands a window on that is on the host: by a thread, where the device draws the next one meanwhile.
template <class Real>
std::future<void> Ensemble<Real>::hand_on(const Drawn& drawn, const Windows<Real>& windows, const Take& take) {
  if (ahead()) {
    reporter_.took(drawn.to - drawn.from, seconds_since(since_));
    since_ = std::chrono::steady_clock::now();
    note(drawn.buffer->controls(), 0, drawn.to);
  }
  const std::int64_t first = (drawn.from - windows.origin) / windows.thin,
                     count = (drawn.to - windows.origin) / windows.thin - first;
  if (!take || count == 0 || !any_left()) return {};
  const auto taken = [&take, drawn, first, count, quarantined = quarantine_.chains()] {
    Window<Real> window = drawn.buffer->window(count);
    window.first = first;
    for (Divergence& d : window.divergences) d.draw += first;
    window.quarantined = quarantined;
    take(window);
  };
  if (ahead()) return std::async(std::launch::async, taken);
  taken();
  return {};
}

/// As far as there is room for draws. On a device a window is the shortest stretch that can be interrupted: where
/// windows need not be long, they are short enough for progress and Ctrl-C.
template <class Real>
std::int64_t Ensemble<Real>::end_of_window(const Segment<Real>& segment, std::int64_t from, std::int64_t until,
                                           const Windows<Real>& windows, const DrawsBuffer<Real>& buffer) const {
  const bool keeps = buffer.shape().recorded != Recorded::nothing;
  if (keeps) {
    const std::int64_t late = (from - windows.origin) % windows.thin;
    std::int64_t draws = buffer.shape().capacity;
    if (windows.seconds > 0)
      draws = std::clamp<std::int64_t>(reporter_.within(windows.seconds) / windows.thin, 1, draws);
    until = std::min(until, from - late + draws * windows.thin);
  }
  return ahead() && (!keeps || segment.schedule.adapting) ? std::min(until, from + reporter_.piece()) : until;
}

/// Fills a window, batch after batch. Returns where all chains are: at `from` where only some batches have come
/// farther.
template <class Real>
std::int64_t Ensemble<Real>::fill(DrawsBuffer<Real>& buffer, Segment<Real> segment, std::int64_t from,
                                  std::int64_t until, const Windows<Real>& windows) {
  const std::int64_t late = (from - windows.origin) % windows.thin, begin = from - late;
  std::int64_t reached = until;
  for (std::size_t k = 0; k < batches_.size() && reached == until; ++k) {
    bring(k);
    segment.first_chain = static_cast<std::uint32_t>(setup_.first_chain + batches_[k].first);
    segment.recording = buffer.recording(batches_[k].first, begin, windows.thin, (until - begin) / windows.thin);
    reached = run_batch(batches_[k], segment, from, until);
    buffer.copy_to_host(*chains_, batches_[k].first);
  }
  return reached == until || !in_batches() ? reached : from;
}

/// In pieces, so that progress and Ctrl-C are prompt; what a device only queues needs none.
template <class Real>
std::int64_t Ensemble<Real>::run_batch(const Batch& batch, Segment<Real>& segment, std::int64_t from,
                                       std::int64_t until) {
  const bool queues =
      ahead() && chains_->exchange(segment.phase()).asks == Asks::once && chains_->runs_ahead(target_, segment);
  for (std::int64_t now = from; now < until; now = segment.until) {
    if (ends()) return now;
    segment.until = queues ? until : std::min(until, now + reporter_.piece());
    const auto begin = std::chrono::steady_clock::now();
    if (!rounds_->run(segment, stop_)) return rounds_->reached();
    if (ahead()) continue;
    synchronize(context_);
    reporter_.took(segment.until - now, seconds_since(begin));
    note(chains_->controls(), batch.first, segment.until);
  }
  return until;
}

template <class Real>
void Ensemble<Real>::note(const std::vector<ChainControl>& controls, std::int64_t first, std::int64_t iteration) {
  double sum = 0, count = 0;
  for (const auto& c : controls)
    if (c.status == ChainStatus::running) sum += c.acceptance_sum, count += static_cast<double>(c.counted);
  quarantine_.note(controls, first);
  reporter_.report(iteration, count > 0 ? sum / count : 0, quarantine_.size());
}

/// Puts a batch on the device, and the one that was there aside.
template <class Real>
void Ensemble<Real>::bring(std::size_t batch) {
  if (batch == on_device_) return;
  batches_[on_device_].saved = chains_->save();
  chains_->load(batches_[batch].saved);
  batches_[batch].saved.clear();
  on_device_ = batch;
}

template <class Real>
std::vector<ChainControl> Ensemble<Real>::controls() {
  std::vector<ChainControl> out;
  each([&](Index, const Chains<Real>& chains) {
    const auto part = chains.controls();
    out.insert(out.end(), part.begin(), part.end());
  });
  return out;
}

template <class Real>
std::vector<Real> Ensemble<Real>::first_positions() {
  bring(0);
  return chains_->positions();
}

template <class Real>
std::vector<std::vector<char>> Ensemble<Real>::save() {
  std::vector<std::vector<char>> out;
  for (std::size_t k = 0; k < batches_.size(); ++k)
    out.push_back(k == on_device_ ? chains_->save() : batches_[k].saved);
  return out;
}

template <class Real>
void Ensemble<Real>::load(const std::vector<std::vector<char>>& saved) {
  require(saved.size() == batches_.size(), ExitStatus::data, "the state of the chains does not fit this run",
          fmt::format("{} batches of chains, this run has {}", saved.size(), batches_.size()),
          "Was the file changed by another program?");
  started_ = true;
  for (std::size_t k = 0; k < batches_.size(); ++k) {
    batches_[on_device_].saved = saved[on_device_];
    chains_->load(saved[k]);
    batches_[k].saved.clear();
    on_device_ = k;
    quarantine_.note(chains_->controls(), batches_[k].first);
  }
}

template <class Real>
std::vector<Real> Ensemble<Real>::positions() {
  std::vector<Real> x;
  each([&](Index, Chains<Real>& chains) {
    const std::vector<Real> part = chains.positions();
    x.insert(x.end(), part.begin(), part.end());
  });
  return x;
}

template <class Real>
std::int64_t Ensemble<Real>::take_gradients() {
  std::int64_t gradients = 0;
  each([&](Index, Chains<Real>& chains) {
    for (const auto& c : chains.controls()) gradients += c.gradients;
    chains.reset_counts();
  });
  return gradients;
}

template class Ensemble<float>;
template class Ensemble<double>;

}  // namespace kilochain
