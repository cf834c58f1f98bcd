#include "papers/titsias2019/repeats.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/chains/thread_seconds.hpp"
#include "host/registry/registry.hpp"
#include "host/run/start.hpp"

namespace kilochain::titsias2019 {

template <class Real>
Repeats<Real>::Repeats(const Setup& setup, Target<Real>& target, Index first, Index count, std::uint64_t seed)
    : setup_(setup),
      context_(cpu_context(1)),
      target_(target),
      first_(first),
      count_(count),
      dim_(target.info().dim),
      seed_(seed) {
  sampler_ = make_chains<Real>(context_, setup.sampler, setup.sampler_settings, count, dim_, Scope::chain);
  rounds_ = std::make_unique<Rounds<Real>>(context_, target_, *sampler_, count);
  Options o;
  o.init = setup.init;
  o.seed = seed;
  o.num_chains = first + count;
  rounds_->start(StartingPoints<Real>(o, dim_).of(first, count));
  check_chains();
}

template <class Real>
void Repeats<Real>::check_chains() const {
  const auto controls = sampler_->controls();
  for (std::size_t k = 0; k < controls.size(); ++k)
    require(controls[k].status == ChainStatus::running, ExitStatus::quarantined,
            fmt::format("{}: repeat {} ended early", setup_.sampler, first_ + k),
            fmt::format("iteration {}: {}", controls[k].iteration, quarantine_reason(controls[k].status)),
            "Try another --seed?");
}

/// In pieces of about two seconds, for the tick; longer ones where an iteration takes longer. Within a piece no chain
/// waits for another.
template <class Real>
bool Repeats<Real>::run(std::int64_t until, bool adapting, const Recording<Real>& recording,
                        const std::atomic<bool>& stop, const Tick& tick) {
  Segment<Real> segment;
  segment.seed = seed_;
  segment.first_chain = static_cast<std::uint32_t>(first_);
  segment.phase_start = adapting ? 0 : setup_.num_warmup;
  segment.schedule.num_warmup = setup_.num_warmup;
  segment.schedule.adapting = adapting;
  segment.recording = recording;
  while (iteration_ < until) {
    if (stop) return false;
    segment.until = std::min(until, iteration_ + piece_);
    const double begin = thread_seconds();
    if (!rounds_->run(segment, stop)) return false;
    const double taken = thread_seconds() - begin;
    seconds_ += taken;
    iteration_ = segment.until;
    if (taken > 4)
      piece_ = std::max<std::int64_t>(8, piece_ / 2);
    else if (taken < 1 && piece_ < 1 << 20)
      piece_ *= 2;
    if (tick) tick(iteration_);
  }
  check_chains();
  return true;
}

template <class Real>
bool Repeats<Real>::warm_up(std::int64_t iterations, const std::atomic<bool>& stop, const Tick& tick) {
  const std::int64_t until = iterations < 0 ? setup_.num_warmup : std::min(setup_.num_warmup, iteration_ + iterations);
  return run(until, true, {}, stop, tick);
}

template <class Real>
bool Repeats<Real>::sample(const std::atomic<bool>& stop, const Tick& tick) {
  sampler_->reset_counts();
  const int stats = static_cast<int>(find_sampler(setup_.sampler).stats.size());
  buffer_ = std::make_unique<DrawsBuffer<Real>>(context_, count_, count_, dim_, setup_.num_samples, stats);
  return run(setup_.num_warmup + setup_.num_samples, false, buffer_->recording(0, setup_.num_warmup, 1), stop, tick);
}

template <class Real>
bool Repeats<Real>::sample_unkept(std::int64_t iterations, const std::atomic<bool>& stop) {
  return run(iteration_ + iterations, false, {}, stop, nullptr);
}

template <class Real>
std::vector<double> Repeats<Real>::draws(Index chain, Index coordinate) const {
  const Recording<Real> r = buffer_->recording(chain, 0, 1);
  std::vector<double> out(setup_.num_samples);
  for (std::size_t t = 0; t < out.size(); ++t) out[t] = r.draws[t * dim_ + coordinate];
  return out;
}

template <class Real>
std::vector<double> Repeats<Real>::lp(Index chain) const {
  const Recording<Real> r = buffer_->recording(chain, 0, 1);
  return {r.lp, r.lp + setup_.num_samples};
}

template <class Real>
std::int64_t Repeats<Real>::gradients() const {
  std::int64_t sum = 0;
  for (const ChainControl& c : sampler_->controls()) sum += c.gradients;
  return sum;
}

template <class Real>
double Repeats<Real>::acceptance(Index chain) const {
  const ChainControl c = sampler_->controls()[chain];
  return c.acceptance_sum / c.counted;
}

template class Repeats<float>;
template class Repeats<double>;

}  // namespace kilochain::titsias2019
