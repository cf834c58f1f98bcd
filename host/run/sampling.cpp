#include "host/run/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <future>

namespace kilochain {
namespace {

/// Enough iterations for an effective sample size of the slowest coordinate of about 10 000, and for R-hat to tell, from an
/// automatic warm-up's efficiency.
std::int64_t automatic_samples(const Options& o, double ess_per_iteration) {
  const double wanted =
      ess_per_iteration > 0 ? std::max(10000.0, ess_for_rhat * o.num_chains) / ess_per_iteration : 1000;
  const double most = most_automatic_samples;
  const auto samples = static_cast<std::int64_t>(std::clamp(std::isfinite(wanted) ? wanted : most, 200.0, most));
  return (samples + o.thin - 1) / o.thin * o.thin;
}

std::int64_t samples_wanted(const Options& o, const WarmedUp& warm, const RunState* before) {
  if (before) return o.num_samples.value_or(before->wanted);
  return warm.interrupted ? 0 : o.num_samples.value_or(automatic_samples(o, warm.ess_per_iteration));
}

/// The disk may still read a window when an error ends the phase.
struct WrittenFirst {
  explicit WrittenFirst(OutputFile& f) : file(f) {}
  ~WrittenFirst() { file.settle(); }
  OutputFile& file;
};

}  // namespace

template <class Real>
Sampling<Real>::Sampling(const Phases<Real>& run, const WarmedUp& warm, const RunState* before)
    : run_(run),
      warm_(warm),
      before_(before),
      num_warmup_(warm.iterations),
      num_samples_(samples_wanted(run.options, warm, before)),
      look_(run.options.num_chains, run.recorded()) {
  out_.interrupted = warm.interrupted;
  if (!before) return;
  out_.iterations = before->iterations, out_.draws = before->draws;
  out_.num_divergences = before->num_divergences;
}

template <class Real>
Sampled<Real> Sampling<Real>::operator()() {
  begin_ = std::chrono::steady_clock::now();
  run_.reporter.begin("sampling", num_warmup_, num_samples_);
  const std::int64_t num_draws = num_samples_ / run_.options.thin;
  if (num_draws > 0) {
    prepare(num_draws);
    fill_windows();
  }
  out_.seconds = seconds_so_far();
  for (const auto& c : run_.batches.controls())
    out_.acceptance.push_back(c.status == ChainStatus::running ? c.acceptance_sum / c.counted : NAN);
  out_.gradients = run_.batches.take_gradients();
  return std::move(out_);
}

/// Makes room for what is kept.
template <class Real>
void Sampling<Real>::prepare(std::int64_t num_draws) {
  const Options& o = run_.options;
  if (!o.num_samples && !before_) run_.file.set_length(num_warmup_, num_samples_);
  out_.summary_from = before_ ? SummaryFrom::file : summary_from(o, run_.recorded(), num_draws);
  leaves_state_ = bytes_of_run_state(o, run_.context, run_.target.info(), precision_of<Real>, num_draws) > 0;
  if (out_.summary_from == SummaryFrom::memory || (o.keep_draws && o.draws != KeptDraws::none))
    out_.memory = std::make_unique<DrawsInMemory<Real>>(o.num_chains, num_draws, run_.recorded());
  if (out_.summary_from == SummaryFrom::stream)
    out_.streaming = std::make_unique<StreamingSummary>(o.num_chains, run_.recorded(), num_draws);
  if (out_.streaming && run_.context.backend == Backend::cuda) {
    const std::string why = why_summary_on_host(o, run_.target.info(), num_draws);
    if (why.empty()) leaves_host_after_ = StreamingSummary::first_draws(o.num_chains, run_.recorded(), num_draws);
    out_.statistics =
        why.empty() ? fmt::format("summed up on the device after the first {} draws of each chain", *leaves_host_after_)
                    : "summed up by the host: " + why;
  }
}

/// Whether the next window stays on the device, and none did so far.
template <class Real>
bool Sampling<Real>::leaves_host_next() const {
  return leaves_host_after_ && !on_device_ && out_.iterations / run_.options.thin > *leaves_host_after_;
}

/// Draws in the next window, at most: the host sees no more than it must, and the file is told in time where the run stands.
template <class Real>
std::int64_t Sampling<Real>::next_draws(std::int64_t room) {
  if (on_device_) return on_device_->begin(room);
  if (const double every = static_cast<double>(run_.options.checkpoint_seconds); leaves_state_ && every > 0)
    room =
        std::clamp<std::int64_t>(run_.reporter.within(every - seconds_since(saved_at_)) / run_.options.thin, 1, room);
  return leaves_host_after_ ? std::min(room, *leaves_host_after_ + 1 - out_.iterations / run_.options.thin) : room;
}

/// One window after the other. While a device draws one, a thread looks at the one before: this one may have to drive the
/// device, where a sampler asks more than once. The disk may work on the window before that.
template <class Real>
void Sampling<Real>::fill_windows() {
  const Options& o = run_.options;
  Segment<Real> segment;
  segment.seed = o.seed;
  segment.phase_start = num_warmup_;
  segment.schedule.num_warmup = num_warmup_;
  const std::int64_t room = run_.window(num_samples_ / o.thin);
  const bool keeps = o.draws != KeptDraws::none;
  std::deque<DrawsBuffer<Real>> windows;
  for (int k = 0; k < windows_of(o, run_.batches.ahead()); ++k)
    windows.emplace_back(run_.context, run_.batches.num_chains(), run_.batches.batch_size(), run_.dim(), room,
                         run_.num_stats(), recorded_of(o), kept_spins(o, run_.target.info()));
  const WrittenFirst before_windows_go(run_.file);
  struct Begun {
    DrawsBuffer<Real>* buffer;
    std::int64_t first, done;  ///< iterations
  };
  if (leaves_host_after_)
    for (DrawsBuffer<Real>& window : windows) window.prepare_to_stay();
  std::deque<Begun> begun;
  std::size_t next = 0;
  std::future<void> delivery;  // ends before the windows do
  const auto delivered = [&delivery] {
    if (delivery.valid()) delivery.get();
  };
  while (true) {
    const bool save = save_is_due();
    while (!save && std::ssize(begun) < run_.batches.windows_under_way() && out_.iterations < num_samples_ &&
           !out_.interrupted) {
      if (leaves_host_next()) {
        if (!begun.empty()) break;  // the host has to see them first
        delivered();
        on_device_ =
            std::make_unique<SummaryOnDevice<Real>>(run_.context, *out_.streaming, look_, run_.batches.num_chains());
        for (DrawsBuffer<Real>& window : windows) window.leave_host();
      }
      DrawsBuffer<Real>& window = windows[next++ % windows.size()];
      // A run that was interrupted between two kept draws goes on there: its first window begins before.
      const std::int64_t late = out_.iterations % o.thin, now = num_warmup_ + out_.iterations,
                         wanted = std::min(num_samples_ - out_.iterations, next_draws(room) * o.thin - late),
                         done =
                             run_.batches.begin(segment, now, now + wanted, {&window, o.thin, on_device_.get(), late}) -
                             now;
      out_.interrupted = done < wanted;
      out_.iterations += done;
      begun.push_back({&window, now - late, late + done});
    }
    if (begun.empty() && save) {
      delivered();
      save_state();
      continue;
    }
    if (begun.empty()) break;
    const auto [buffer, first, done] = begun.front();
    begun.pop_front();
    delivered();
    const auto controls = run_.batches.take(*buffer, done, first + done);
    if (!keeps || done < o.thin) continue;
    if (buffer->stays()) {
      deliver_digest(*buffer, done / o.thin);
      continue;
    }
    auto made = DrawsMade::until_quarantine(controls, first, o.thin, done / o.thin);
    if (run_.batches.ahead())
      delivery =
          std::async(std::launch::async, [this, window = buffer, of = std::move(made)] { deliver(*window, of); });
    else
      deliver(*buffer, made);
  }
  delivered();
  if (on_device_) out_.streaming->bring_back();
  run_.file.wait();
  if (leaves_state_ && saved_ != out_.iterations) save_state();
}

template <class Real>
double Sampling<Real>::seconds_so_far() const {
  return seconds_since(begin_) + (before_ ? before_->seconds : 0);
}

/// At once, so that a killed run need not warm up again, and then every now and then.
template <class Real>
bool Sampling<Real>::save_is_due() const {
  const std::int64_t every = run_.options.checkpoint_seconds;
  return leaves_state_ && !out_.interrupted && every > 0 && saved_ != out_.iterations &&
         (saved_ < 0 || seconds_since(saved_at_) >= static_cast<double>(every));
}

/// Tells the file where the run stands; no window is under way. Batches of which the last has not come as far as the first are
/// not told: the file keeps what it was told before.
template <class Real>
void Sampling<Real>::save_state() {
  saved_ = out_.iterations, saved_at_ = std::chrono::steady_clock::now();
  if (out_.interrupted && run_.batches.batch_size() < run_.batches.num_chains()) return;
  RunState state{warm_,
                 out_.iterations,
                 out_.draws,
                 num_samples_,
                 out_.num_divergences,
                 seconds_so_far(),
                 value_of_first(run_),
                 run_.batches.save()};
  out_.resumable |= run_.file.save_state(to_bytes(state));  // else from where it stood before
}

/// Hands a window to whoever wants it.
template <class Real>
void Sampling<Real>::deliver(DrawsBuffer<Real>& buffer, const DrawsMade& made) {
  const auto& info = run_.target.info();
  const int threads = run_.context.threads;
  if (info.constrain) buffer.record(made.count, run_.recorded(), info.constrain, threads);
  const Window<Real> window = buffer.window(made.count, made.by_chain);
  for (Count c = 0; c < window.diverging.rows; ++c)
    for (Count t = 0; t < made.count; ++t) out_.num_divergences += window.diverging(c, t);
  const std::vector<Divergence> divergences = note_divergences(buffer, made.count);
  exclude_quarantined();
  if (out_.memory) out_.memory->add(window.draws, made.count);
  if (out_.streaming) out_.streaming->add(window.draws, made.count, threads);
  run_.file.append(out_.draws, made.count, window, divergences);
  out_.draws += made.count;
  look_.add(window.draws, made.count, threads);
  const auto worst = look_.worst();
  run_.reporter.figures(worst.rhat_max, worst.ess_min);
}

/// A window that stayed on the device was added there.
template <class Real>
void Sampling<Real>::deliver_digest(const DrawsBuffer<Real>& buffer, std::int64_t count) {
  const WindowDigest& digest = buffer.digest();
  out_.num_divergences += digest.divergences;
  if (digest.divergences > 0) note_divergences(buffer, count);
  exclude_quarantined();
  out_.draws += count;
  const auto worst = on_device_->worst(digest, out_.draws);
  run_.reporter.figures(worst.rhat_max, worst.ess_min);
}

template <class Real>
void Sampling<Real>::exclude_quarantined() {
  for (const auto chain : run_.batches.quarantine().chains()) {
    look_.exclude(chain);
    if (out_.streaming) out_.streaming->exclude(chain);
  }
}

/// Notes a window's divergences whose points are kept, and returns them in recorded values.
template <class Real>
std::vector<Divergence> Sampling<Real>::note_divergences(const DrawsBuffer<Real>& buffer, std::int64_t count) {
  std::vector<Divergence> found = buffer.divergences(count);
  for (Divergence& d : found) {
    d.draw += out_.draws;
    if (const auto& constrain = run_.target.info().constrain) {
      std::vector<double> values(run_.target.info().names.size());
      constrain(d.point.data(), values.data());
      d.point = std::move(values);
    }
    if (out_.divergences.size() < most_kept_divergences) out_.divergences.push_back(d);
  }
  return found;
}

template <class Real>
Sampled<Real> sample(const Phases<Real>& run, const WarmedUp& warm, const RunState* before) {
  return Sampling<Real>(run, warm, before)();
}

template class Sampling<float>;
template class Sampling<double>;
template Sampled<float> sample(const Phases<float>&, const WarmedUp&, const RunState*);
template Sampled<double> sample(const Phases<double>&, const WarmedUp&, const RunState*);

}  // namespace kilochain
