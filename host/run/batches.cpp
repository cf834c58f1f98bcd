#include "host/run/batches.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kilochain {

template <class Real>
Batches<Real>::Batches(const Options& options, const Context& context, Target<Real>& target, Reporter& reporter,
                       const std::atomic<bool>& stop)
    : options_(options),
      context_(context),
      target_(target),
      reporter_(reporter),
      stop_(stop),
      num_chains_(static_cast<Index>(options.num_chains)),
      batch_size_(static_cast<Index>(kilochain::batch_size(options))),
      chains_(fresh()),
      rounds_(context, target, *chains_, batch_size_) {
  for (Index first = 0; first < num_chains_; first += batch_size_) batches_.push_back({first, {}});
}

template <class Real>
std::unique_ptr<Chains<Real>> Batches<Real>::fresh() const {
  return make_chains<Real>(context_, options_.sampler, options_.sampler_settings, batch_size_, target_.info(),
                           options_.adapt_scope);
}

template <class Real>
void Batches<Real>::start(const StartingPoints<Real>& points) {
  std::vector<char> unstarted;
  if (batches_.size() > 1) unstarted = chains_->save();
  for (std::size_t k = 0; k < batches_.size(); ++k) {
    if (k > 0) {
      batches_[k - 1].saved = chains_->save();
      chains_->load(unstarted);
    }
    rounds_.start(points.of(batches_[k].first, batch_size_));
    quarantine_.note(chains_->controls(), batches_[k].first);
    on_device_ = k;
  }
  require(quarantine_.size() < num_chains_, ExitStatus::data, "no chain can start",
          fmt::format("all {} starting points are refused: {}", num_chains_,
                      quarantine_.size() > 0 ? quarantine_.list()[0].reason : ""),
          "Choose other starting points with --init?");
}

template <class Real>
void Batches<Real>::restart(const std::vector<std::vector<Real>>& x) {
  const std::vector<char> unstarted = fresh()->save();
  for (std::size_t k = 0; k < batches_.size(); ++k) {
    bring(k);
    chains_->load(unstarted);
    rounds_.start(x[k]);
    quarantine_.note(chains_->controls(), batches_[k].first);
  }
}

/// Puts a batch on the device, and the one that was there aside.
template <class Real>
void Batches<Real>::bring(std::size_t batch) {
  if (batch == on_device_) return;
  batches_[on_device_].saved = chains_->save();
  chains_->load(batches_[batch].saved);
  batches_[batch].saved.clear();
  on_device_ = batch;
}

template <class Real>
std::int64_t Batches<Real>::run(Segment<Real> segment, std::int64_t from, std::int64_t until, Into<Real> into) {
  const std::int64_t reached = fill(std::move(segment), from, until, into, true);
  if (into.buffer) into.buffer->arrive();
  return reached;
}

template <class Real>
std::int64_t Batches<Real>::begin(Segment<Real> segment, std::int64_t from, std::int64_t until, Into<Real> into) {
  if (under_way_++ == 0) since_ = std::chrono::steady_clock::now();
  return fill(std::move(segment), from, until, into, !ahead());
}

template <class Real>
std::vector<ChainControl> Batches<Real>::take(DrawsBuffer<Real>& buffer, std::int64_t iterations,
                                              std::int64_t reached) {
  --under_way_;
  if (buffer.stays())
    settle(buffer);
  else if (under_way_ == 0)
    buffer.arrive();  // else it was there before the next one could be sent
  std::vector<ChainControl> controls;
  if (!buffer.stays() || buffer.has_records()) controls = buffer.controls();
  if (ahead()) {
    if (iterations > 0) reporter_.took(iterations, seconds_since(since_));
    since_ = std::chrono::steady_clock::now();
    if (controls.empty())
      report(buffer.digest().acceptance_sum, buffer.digest().counted, reached);
    else
      look_at_chains(controls, 0, reached);
  }
  return controls;
}

template <class Real>
void Batches<Real>::settle(DrawsBuffer<Real>& buffer) {
  buffer.settle(quarantine_.size());
  if (staying_ == &buffer) staying_ = nullptr;
}

template <class Real>
std::int64_t Batches<Real>::fill(Segment<Real> segment, std::int64_t from, std::int64_t until, Into<Real> into,
                                 bool waits) {
  std::int64_t reached = until;
  for (std::size_t k = 0; k < batches_.size() && reached == until; ++k) {
    bring(k);
    const Index first = batches_[k].first;
    segment.first_chain = static_cast<std::uint32_t>(first);
    segment.recording = {};
    if (into.buffer) {
      into.buffer->clear(first);
      const std::int64_t begin = from - into.late;
      segment.recording = into.buffer->recording(first, begin, into.thin, (until - begin) / into.thin);
    }
    // What a batch has handed to the user of windows cannot be taken back, so the others follow.
    static const std::atomic<bool> go_on{false};
    reached = run_batch(segment, from, until, waits, into.user && k > 0 ? go_on : stop_);
    if (!into.buffer) continue;
    chains_->leave_controls(into.buffer->records(first));
    if (!into.user) {
      into.buffer->send(first);
    } else if (reached == until || batches_.size() == 1) {
      if (staying_ && staying_ != into.buffer) settle(*staying_);  // before the next digest is sent
      into.buffer->stay(first, (reached - from + into.late) / into.thin, *into.user);
      staying_ = into.buffer;
    }
  }
  return reached == until || batches_.size() == 1 ? reached : from;  // other batches have not come as far
}

/// In pieces, so that progress and Ctrl-C are prompt; what is only queued needs none.
template <class Real>
std::int64_t Batches<Real>::run_batch(Segment<Real>& segment, std::int64_t from, std::int64_t until, bool waits,
                                      const std::atomic<bool>& stop) {
  if (waits && ahead() && chains_->runs_ahead(target_, segment)) return run_ahead(segment, from, until);
  const bool whole =
      !waits && chains_->exchange(segment.phase()).asks == Asks::once && chains_->runs_ahead(target_, segment);
  for (std::int64_t now = from; now < until; now = segment.until) {
    if (stop) return now;
    segment.until = whole ? until : std::min(until, now + reporter_.piece());
    const auto begin = std::chrono::steady_clock::now();
    if (!rounds_.run(segment, stop)) return rounds_.reached();
    if (!waits) continue;
    synchronize(context_);
    reporter_.took(segment.until - now, seconds_since(begin));
    look_at_chains(chains_->controls(), static_cast<std::int64_t>(segment.first_chain), segment.until);
  }
  return until;
}

/// The same where a piece is only queued: a device does the next one while the host looks at the records after the one before.
template <class Real>
std::int64_t Batches<Real>::run_ahead(Segment<Real>& segment, std::int64_t from, std::int64_t until) {
  while (pieces_.size() < 2)
    pieces_.emplace_back(context_, num_chains_, batch_size_, target_.info().dim, 1, 0, Recorded::nothing);
  struct Piece {
    const DrawsBuffer<Real>* records = nullptr;
    std::int64_t first = 0, end = 0;
  } before;
  auto since = std::chrono::steady_clock::now();
  const auto look = [&](const Piece& piece) {
    if (!piece.records) return;
    if (piece.end > piece.first) reporter_.took(piece.end - piece.first, seconds_since(since));
    since = std::chrono::steady_clock::now();
    look_at_chains(piece.records->controls(), static_cast<std::int64_t>(segment.first_chain), piece.end);
  };
  std::int64_t now = from;
  for (std::size_t k = 0; now < until && !stop_; k = 1 - k) {
    const std::int64_t first = now;
    segment.until = std::min(until, now + reporter_.piece());
    rounds_.run(segment, stop_);
    now = rounds_.reached();
    chains_->leave_controls(pieces_[k].records(0));
    pieces_[k].send(0);  // the records before have arrived then
    look(before);
    before = {&pieces_[k], first, now};
  }
  if (before.records) before.records->arrive();
  look(before);
  return now;
}

template <class Real>
void Batches<Real>::look_at_chains(const std::vector<ChainControl>& controls, std::int64_t first,
                                   std::int64_t iteration) {
  double sum = 0, count = 0;
  for (const auto& c : controls)
    if (c.status == ChainStatus::running) sum += c.acceptance_sum, count += c.counted;
  quarantine_.note(controls, first);
  require(
      quarantine_.size() < num_chains_, ExitStatus::data, "no chain is left",
      fmt::format("all {} are quarantined by iteration {}", num_chains_, iteration),
      "Does the target have a finite density where the chains start? Try another --init or a smaller initial step?");
  report(sum, count, iteration);
}

template <class Real>
void Batches<Real>::report(double acceptance_sum, double counted, std::int64_t iteration) {
  reporter_.report(iteration, counted > 0 ? acceptance_sum / counted : 0, quarantine_.size());
}

template <class Real>
std::vector<ChainControl> Batches<Real>::controls() {
  std::vector<ChainControl> out;
  each([&](Index, const Chains<Real>& chains) {
    const auto part = chains.controls();
    out.insert(out.end(), part.begin(), part.end());
  });
  return out;
}

template <class Real>
std::vector<Real> Batches<Real>::first_positions() {
  bring(0);
  return chains_->positions();
}

template <class Real>
std::vector<std::vector<char>> Batches<Real>::save() {
  std::vector<std::vector<char>> out;
  for (std::size_t k = 0; k < batches_.size(); ++k)
    out.push_back(k == on_device_ ? chains_->save() : batches_[k].saved);
  return out;
}

template <class Real>
void Batches<Real>::load(const std::vector<std::vector<char>>& saved) {
  require(saved.size() == batches_.size(), ExitStatus::data, "the state of the chains does not fit this run",
          fmt::format("{} batches of chains, this run has {}", saved.size(), batches_.size()),
          "Was the file changed by another program?");
  for (std::size_t k = 0; k < batches_.size(); ++k) {
    batches_[on_device_].saved = saved[on_device_];
    chains_->load(saved[k]);
    batches_[k].saved.clear();
    on_device_ = k;
    quarantine_.note(chains_->controls(), batches_[k].first);
  }
}

template <class Real>
std::int64_t Batches<Real>::take_gradients() {
  std::int64_t gradients = 0;
  each([&](Index, Chains<Real>& chains) {
    for (const auto& c : chains.controls()) gradients += c.gradients;
    chains.reset_counts();
  });
  return gradients;
}

template class Batches<float>;
template class Batches<double>;

}  // namespace kilochain
