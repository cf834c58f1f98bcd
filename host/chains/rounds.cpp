#include "host/chains/rounds.hpp"

#include <algorithm>
#include <chrono>

#include "base/units.hpp"
#include "host/chains/thread_team.hpp"

namespace kilochain {
namespace {
constexpr std::chrono::milliseconds patience{500};  // after a stop, for the iterations under way
}

const char* quarantine_reason(ChainStatus status) {
  switch (status) {
    case ChainStatus::running:
      return "running";
    case ChainStatus::start_zero_density:
      return "the log density at its starting point is not finite";
    case ChainStatus::start_gradient:
      return "the gradient at its starting point is not finite";
    case ChainStatus::proposal:
      return "its own state, or what it has learnt, is no longer finite";
  }
  return "";
}

template <class Real>
template <class F>
void Rounds<Real>::each_tile(F&& f) {
  if (tiles() == 1 || context_.threads == 1) {
    for (Index k = 0; k < tiles(); ++k) f(k * tile_, end_of(k));
    return;
  }
  // Neighbours write to the same cache lines: a thread has its own part of them, and takes of others' when it is done.
  const Index parts = std::min<Index>(context_.threads, tiles());
  struct alignas(64) Next {
    std::atomic<Index> tile{0};
  };
  std::vector<Next> next(parts);
  const auto begin_of = [&](Index part) { return first_tile_of(part, parts); };
  for (Index part = 0; part < parts; ++part) next[part].tile = begin_of(part);
  in_team(static_cast<int>(parts), [&](const TeamMember& member) {
    for (Index turn = 0; turn < parts; ++turn) {
      const Index part = (member.rank + turn) % parts;
      for (Index k = next[part].tile++; k < begin_of(part + 1); k = next[part].tile++) f(k * tile_, end_of(k));
    }
  });
}

template <class Real>
void Rounds<Real>::start(const std::vector<Real>& x) {
  sampler_.place(x);
  each_tile([&](Index first, Index last) {
    target_.evaluate(sampler_.exchange(Phase::start), first, last);
    sampler_.start(first, last);
  });
}

template <class Real>
void Rounds<Real>::stretch(Index first, Index last, const Segment<Real>& segment) {
  Exchange<Real> exchange = sampler_.exchange(segment.phase());
  exchange.asking = sampler_.advance(first, last, action_propose, segment);
  while (exchange.asking > 0) {
    if (out_of_patience()) return;
    target_.evaluate(exchange, first, last);
    exchange.asking = sampler_.advance(first, last, action_update | action_propose, segment);
  }
}

template <class Real>
bool Rounds<Real>::out_of_patience() {
  if (!*stop_) return false;
  using Clock = std::chrono::steady_clock;
  const std::int64_t now = Clock::now().time_since_epoch().count();
  std::int64_t seen = 0;
  if (stop_seen_.compare_exchange_strong(seen, now)) seen = now;
  if (Clock::duration(now - seen) < patience) return false;
  broken_off_ = true;
  return true;
}

template <class Real>
bool Rounds<Real>::run(const Segment<Real>& segment, const std::atomic<bool>& stop) {
  KC_CHECK(!broken_off_);
  reached_ = segment.until;
  stop_ = &stop, stop_seen_ = 0;
  if (const auto reached = sampler_.replay(target_, segment, stop)) {
    reached_ = *reached;
  } else if (segment.pools()) {
    reached_ = run_together(segment, stop);
  } else {
    each_tile([&](Index first, Index last) { stretch(first, last, segment); });
  }
  if (broken_off_) reached_ = slowest_iteration(segment.until);
  return reached_ == segment.until && !broken_off_;
}

/// An iteration of all chains, then one step of the adaptation that they share, and again. Returns the iteration
/// reached.
template <class Real>
std::int64_t Rounds<Real>::run_together(const Segment<Real>& segment, const std::atomic<bool>& stop) {
  std::int64_t now = slowest_iteration(segment.until);
  if (context_.threads > 1 && tiles() > 1 && alone_seconds_ <= 0) now = time_alone(now, segment);
  const int threads = threads_for_pooled();
  const auto begin = std::chrono::steady_clock::now();
  FirstFailure failure;
  std::atomic<bool> failed{false};
  // Written by one member between two meetings, read by all after the second: they leave together.
  bool ended = broken_off_;
  std::int64_t reached = now;  // as that
  in_team(threads, [&](const TeamMember& member) {
    const auto guarded = [&](auto&& work) {  // whoever fails must still come to the meetings
      try {
        work();
      } catch (...) {
        failure.keep();
        failed = true;
      }
    };
    for (std::int64_t t = now; t < segment.until && !ended; ++t) {
      const Segment<Real> one = until(segment, t + 1);
      guarded([&] {
        const Index last = first_tile_of(member.rank + 1, member.size);
        for (Index k = first_tile_of(member.rank, member.size); k < last; ++k) stretch(k * tile_, end_of(k), one);
      });
      member.meet();
      if (member.rank == 0) {
        if (!failed && !broken_off_) guarded([&] { sampler_.pool(one); });
        reached = t + 1;
        ended = failed || stop;
      }
      member.meet();
    }
  });
  failure.rethrow();
  if (reached > now) {
    const double each = seconds_since(begin) / static_cast<double>(reached - now);
    double& known = threads == 1 ? alone_seconds_ : team_seconds_;
    known = known > 0 ? (known + each) / 2 : each;
  }
  return reached;
}

/// Where other programs want the cores too, every iteration waits for a thread that has none: one thread may be faster
/// than several. The faster of the two is taken, and every sixteenth time the other, to see whether that has changed.
template <class Real>
int Rounds<Real>::threads_for_pooled() {
  const int all = std::min<int>(context_.threads, tiles());
  if (alone_seconds_ < least_shared_seconds_) return 1;
  if (team_seconds_ <= 0) return all;
  const bool team = team_seconds_ < alone_seconds_, other = ++pooled_runs_ % 16 == 0;
  return team != other ? all : 1;
}

/// Does a few iterations on this thread and notes what one takes, so that short ones are not shared. Returns where it
/// got to.
template <class Real>
std::int64_t Rounds<Real>::time_alone(std::int64_t now, const Segment<Real>& segment) {
  const std::int64_t few = std::min(segment.until, now + 8);
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t t = now; t < few; ++t) {
    const Segment<Real> one = until(segment, t + 1);
    for (Index k = 0; k < tiles(); ++k) stretch(k * tile_, end_of(k), one);
    if (broken_off_) return t;
    sampler_.pool(one);
    if (*stop_) return t + 1;
  }
  alone_seconds_ = seconds_since(begin) / static_cast<double>(std::max<std::int64_t>(1, few - now));
  return few;
}

/// Where the running chain that has come least far stands.
template <class Real>
std::int64_t Rounds<Real>::slowest_iteration(std::int64_t until) const {
  std::int64_t now = until;
  for (const auto& c : sampler_.controls())
    if (c.status == ChainStatus::running) now = std::min(now, c.iteration);
  return now;
}

template class Rounds<float>;
template class Rounds<double>;

}  // namespace kilochain
