#include "papers/titsias2019/repeats.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/chains/thread_seconds.hpp"
#include "host/registry/registry.hpp"
#include "host/run/start.hpp"

namespace kilochain::titsias2019 {

template <class Real>
Repeats<Real>::Repeats(const Setup& setup, Target<Real>& target, Index first, Index count, std::uint64_t seed,
                       const std::atomic<bool>& stop)
    : setup_(setup), context_(cpu_context(1)), first_(first), reporter_([this](const Progress& p) {
        if (tick_) tick_(p.done);
      }) {
  const EnsembleSetup of{setup.sampler, setup.sampler_settings, count, count, Scope::chain, seed, first};
  chains_ = std::make_unique<Ensemble<Real>>(context_, target, of, reporter_, stop);
  Options o;
  o.init = setup.init;
  o.seed = seed;
  o.num_chains = first + count;
  chains_->start([&](Index, Index) { return StartingPoints<Real>(o, target.info().dim).of(first, count); });
  check_chains();
}

template <class Real>
void Repeats<Real>::check_chains() const {
  for (const QuarantinedChain& q : chains_->quarantine().list())
    throw Error(ExitStatus::quarantined, fmt::format("{}: repeat {} ended early", setup_.sampler, first_ + q.chain),
                fmt::format("iteration {}: {}", q.iteration, q.reason), "Try another --seed?");
}

template <class Real>
bool Repeats<Real>::run(std::int64_t until, bool adapting, bool kept, const Tick& tick) {
  tick_ = tick;
  const Segment<Real> segment = adapting ? chains_->adapting(setup_.num_warmup) : chains_->sampling(setup_.num_warmup);
  const double begin = thread_seconds();
  iteration_ = kept ? chains_->run(segment, iteration_, until, windows_, [this](Window<Real>& w) { drawn_ = w; })
                    : chains_->run(segment, iteration_, until);
  seconds_ += thread_seconds() - begin;
  check_chains();
  return iteration_ == until;
}

template <class Real>
bool Repeats<Real>::warm_up(std::int64_t iterations, const Tick& tick) {
  const std::int64_t all = setup_.num_warmup;
  return run(iterations < 0 ? all : std::min(all, iteration_ + iterations), true, false, tick);
}

template <class Real>
bool Repeats<Real>::sample(const Tick& tick) {
  chains_->take_gradients();
  windows_ = chains_->windows(chains_->shape(setup_.num_samples));
  windows_.origin = setup_.num_warmup;
  return run(setup_.num_warmup + setup_.num_samples, false, true, tick);
}

template <class Real>
bool Repeats<Real>::sample_unkept(std::int64_t iterations) {
  return run(iteration_ + iterations, false, false, nullptr);
}

template <class Real>
std::vector<double> Repeats<Real>::draws(Index chain, Index coordinate) const {
  std::vector<double> out;
  for (Count t = 0; t < drawn_.count; ++t) out.push_back(drawn_.draws(chain, t, coordinate));
  return out;
}

template <class Real>
std::vector<double> Repeats<Real>::lp(Index chain) const {
  const double* lp = drawn_.lp.row(chain).data;
  return {lp, lp + drawn_.count};
}

template <class Real>
std::int64_t Repeats<Real>::gradients() const {
  std::int64_t sum = 0;
  for (const ChainControl& c : chains_->controls()) sum += c.gradients;
  return sum;
}

template <class Real>
double Repeats<Real>::acceptance(Index chain) const {
  const ChainControl c = chains_->controls()[chain];
  return c.acceptance_sum / c.counted;
}

template <class Real>
Learnt Repeats<Real>::learnt(Index chain) const {
  Learnt out;
  chains_->each([&](Index, const Chains<Real>& chains) { out = chains.learnt(chain); });
  return out;
}

template class Repeats<float>;
template class Repeats<double>;

}  // namespace kilochain::titsias2019
