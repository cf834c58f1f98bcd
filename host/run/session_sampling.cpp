// The sampling phase of a session: windows are filled, given to the streaming statistics and sent to the disk.
#include <algorithm>
#include <cmath>

#include "host/run/session.hpp"

namespace kilochain {

/// Enough iterations for an effective sample size of the slowest coordinate of about 10 000, and of 150 for each chain
/// (split R-hat of chains shorter than that exceeds 1.01 by their shortness alone), from the warm-up's efficiency.
template <class Real>
std::int64_t Session<Real>::automatic_samples() const {
  const double wanted =
      ess_per_iteration_ > 0 ? std::max(10000.0, 150.0 * static_cast<double>(num_chains_)) / ess_per_iteration_ : 1000;
  const double most = static_cast<double>(most_automatic_samples);
  const auto samples = static_cast<std::int64_t>(std::clamp(std::isfinite(wanted) ? wanted : most, 200.0, most));
  return (samples + options_.thin - 1) / options_.thin * options_.thin;
}

template <class Real>
void Session<Real>::wait_for_disk() {
  if (pending_.valid()) pending_.get();
}

/// Adds a window to the draws in memory, which are brought into [chain, draw, dim] at the end.
template <class Real>
void Session<Real>::keep(const Window<Real>& window, std::int64_t count) {
  const std::int64_t all = num_samples_ / options_.thin;
  kept_.resize(static_cast<std::size_t>(num_chains_ * all * recorded_));
  for (std::int64_t c = 0; c < num_chains_; ++c)
    std::copy_n(window.draws.plane(c).data, count * recorded_, kept_.begin() + (c * all + draws_) * recorded_);
}

/// Counts a window's divergences, and returns those whose points are kept, in recorded values.
template <class Real>
std::vector<Divergence> Session<Real>::note_divergences(const DrawsBuffer<Real>& buffer, const Window<Real>& window,
                                                        std::int64_t count) {
  for (std::int64_t c = 0; c < num_chains_; ++c)
    for (std::int64_t t = 0; t < count; ++t) num_divergences_ += window.diverging(c, t);
  std::vector<Divergence> found = buffer.divergences(count);
  for (Divergence& d : found) {
    d.draw += draws_;
    if (target_.info().constrain) {
      std::vector<double> values(static_cast<std::size_t>(recorded_));
      target_.info().constrain(d.point.data(), values.data());
      d.point = std::move(values);
    }
  }
  for (const Divergence& d : found)
    if (divergences_.size() < most_kept_divergences) divergences_.push_back(d);
  return found;
}

/// Hands a window to whoever wants it. The disk works while the next window is sampled.
template <class Real>
void Session<Real>::deliver(DrawsBuffer<Real>& buffer, std::int64_t count, const std::vector<ChainControl>& controls,
                            std::int64_t first) {
  std::vector<std::int64_t> from;  // the first slot that each chain has not drawn
  for (const auto& c : controls)
    from.push_back(c.status == ChainStatus::running ? count : (c.iteration - first) / options_.thin);
  if (target_.info().constrain) buffer.record(count, recorded_, target_.info().constrain, context_.threads);
  const Window<Real> window = buffer.window(count, from);
  const std::vector<Divergence> divergences = note_divergences(buffer, window, count);
  if (options_.keep_draws) keep(window, count);
  if (streaming_) streaming_->add(window.draws.data, window.capacity(), count, context_.threads);
  wait_for_disk();
  if (writer_ && stores_draws(options_)) {
    pending_ = std::async(std::launch::async, [this, window, divergences, first_draw = draws_, count] {
      writer_->append(first_draw, count, window, divergences);
    });
  }
  draws_ += count;
}

template <class Real>
void Session<Real>::sample() {
  phase_begin_ = Clock::now();
  num_samples_ = options_.num_samples < 0 ? automatic_samples() : options_.num_samples;
  if (interrupted_) num_samples_ = 0;
  if (options_.num_samples < 0 && writer_ && !interrupted_) create_file(num_samples_);
  const std::int64_t num_draws = num_samples_ / options_.thin;
  if (options_.draws != KeptDraws::none && num_draws > 0)
    streaming_ = std::make_unique<StreamingSummary>(num_chains_, recorded_, num_draws);
  if (streaming_)
    for (const auto chain : quarantined_chains()) streaming_->exclude(chain);
  Segment<Real> segment;
  segment.seed = options_.seed;
  segment.phase_start = num_warmup_;
  segment.schedule.num_warmup = num_warmup_;
  const std::int64_t room = window_draws(num_chains_, dim_, std::max<std::int64_t>(1, num_draws), sizeof(Real));
  std::deque<DrawsBuffer<Real>> buffers;
  for (int k = 0; k < (stores_draws(options_) ? 2 : 1) && num_draws > 0; ++k)
    buffers.emplace_back(context_, num_chains_, batch_size_, dim_, room, num_stats_,
                         options_.draws == KeptDraws::none ? Recorded::nothing : Recorded::draws);
  for (std::size_t window = 0; sampled_ < num_samples_ && !interrupted_; ++window) {
    DrawsBuffer<Real>& buffer = buffers[window % buffers.size()];
    const std::int64_t first = iteration_, wanted = std::min(num_samples_ - sampled_, room * options_.thin);
    Recording<Real> kept = buffer.recording(0, first, options_.thin);
    interrupted_ = !each_batch(first, segment, &buffer, kept, first + wanted);
    const std::int64_t done = iteration_ - first, count = done / options_.thin;
    if (count > 0 && options_.draws != KeptDraws::none) deliver(buffer, count, all_controls(), first);
    sampled_ += done;
  }
  wait_for_disk();
  sampling_.seconds = seconds_since(phase_begin_);
  final_controls_ = all_controls();
  for (const auto& c : final_controls_) sampling_.gradients += c.gradients;
}

template class Session<float>;
template class Session<double>;

}  // namespace kilochain
