#include "host/chains/rounds.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>

#include "host/chains/meeting.hpp"

namespace kilochain {

// Below this an iteration is not worth meeting for: two barriers cost microseconds when the cores are free, and wait for the
// scheduler when they are not.
static constexpr double least_shared_seconds = 40e-6;

const char* quarantine_reason(ChainStatus status) {
  switch (status) {
    case ChainStatus::running:
      return "running";
    case ChainStatus::start_zero_density:
      return "the log density at its starting point is not finite";
    case ChainStatus::start_gradient:
      return "the gradient at its starting point is not finite";
    case ChainStatus::proposal:
      return "its proposal became non-finite";
  }
  return "";
}

template <class Real>
template <class F>
void Rounds<Real>::each_tile(F&& f) {
  const Index tiles = (num_chains_ + tile_ - 1) / tile_;
  if (tiles == 1 || context_.threads == 1) {
    for (Index t = 0; t < tiles; ++t) f(t * tile_, std::min(num_chains_, (t + 1) * tile_));
    return;
  }
  std::exception_ptr failure;  // an exception must not leave an OpenMP region
#pragma omp parallel for schedule(dynamic) num_threads(context_.threads)
  for (Index t = 0; t < tiles; ++t) {
    try {
      f(t * tile_, std::min(num_chains_, (t + 1) * tile_));
    } catch (...) {
#pragma omp critical(kilochain_tile_failure)
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
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
  const Exchange<Real> exchange = sampler_.exchange(segment.phase());
  Index waiting = sampler_.advance(first, last, action_propose, segment);
  while (waiting > 0) {
    target_.evaluate(exchange, first, last);
    waiting = sampler_.advance(first, last, action_update | action_propose, segment);
  }
}

template <class Real>
bool Rounds<Real>::run(const Segment<Real>& segment, const std::atomic<bool>& stop) {
  if (const auto reached = sampler_.replay(target_, segment, stop)) return *reached;
  if (!segment.pools()) {
    each_tile([&](Index first, Index last) { stretch(first, last, segment); });
    return true;
  }
  const auto controls = sampler_.controls();
  std::int64_t now = segment.until;
  for (const auto& c : controls)
    if (c.status == ChainStatus::running) now = std::min(now, c.iteration);
  // One parallel region for the whole stretch, and a barrier that sleeps in the end: thousands of OpenMP regions would spin
  // against whatever else runs on the machine.
  const Index tiles = (num_chains_ + tile_ - 1) / tile_;
  int threads = std::max(1, std::min<int>(context_.threads, tiles));
  if (threads > 1 && alone_seconds_ <= 0) {  // time a few iterations on one thread first
    const std::int64_t few = std::min(segment.until, now + 8);
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t t = now; t < few; ++t) {
      Segment<Real> one = segment;
      one.until = t + 1;
      for (Index k = 0; k < tiles; ++k) stretch(k * tile_, std::min(num_chains_, (k + 1) * tile_), one);
      sampler_.pool(one);
    }
    alone_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() /
                     static_cast<double>(std::max<std::int64_t>(1, few - now));
    now = few;
  }
  if (alone_seconds_ < least_shared_seconds) threads = 1;
  std::exception_ptr failure;
  std::atomic<bool> halt{false};
  std::optional<Meeting> meeting;
#pragma omp parallel num_threads(threads)
  {
#pragma omp single
    {
      threads = omp_get_num_threads();  // the runtime may give fewer than were asked for
      meeting.emplace(threads);
    }
    Meeting& all = *meeting;
    const int me = omp_get_thread_num();
    for (std::int64_t t = now; t < segment.until; ++t) {
      Segment<Real> one = segment;
      one.until = t + 1;
      try {
        for (Index k = me; k < tiles; k += threads) stretch(k * tile_, std::min(num_chains_, (k + 1) * tile_), one);
      } catch (...) {
#pragma omp critical(kilochain_tile_failure)
        failure = std::current_exception();
        halt = true;
      }
      all.wait();
      if (me == 0 && !halt) {
        sampler_.pool(one);
        if (stop) halt = true;
      }
      all.wait();
      if (halt) break;
    }
  }
  if (failure) std::rethrow_exception(failure);
  return !halt;
}

template class Rounds<float>;
template class Rounds<double>;

}  // namespace kilochain
