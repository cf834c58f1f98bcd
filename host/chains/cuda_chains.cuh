// A sampler's chains on CUDA: the kernel bodies of host/chains/advance.hpp, a warp for each chain, in rounds with the
// target or, where blocks can evaluate that, whole iterations in one kernel (cuda_blocks.cuh). Rounds are cut at the
// products with a factor that all chains share where those are made together (cuda_products.cuh).
// The host runs ahead of the device. A sampler that asks once an iteration (About::asks) is done after as many rounds
// as iterations, so nothing is read back and the host waits for nothing. Of others the number of waiting chains is read
// one round late: the last round of a stretch may find nothing to do. Which iterations to do lies in device memory
// (SegmentOnDevice): a captured graph serves a whole phase.
#pragma once
#include "host/chains/chain_memory.hpp"
#include "host/chains/cuda_blocks.cuh"
#include "host/chains/cuda_pool.cuh"
#include "host/chains/cuda_products.cuh"
#include "host/chains/cuda_queue.cuh"
#include "host/chains/cuda_replay.cuh"

namespace kilochain {
namespace cuda {

template <class Sampler, class Real>
__global__ void __launch_bounds__(max_block, 1)
    start_adaptations(const __grid_constant__ ChainsView<Sampler, Real> c, Index first, Index last) {
  const Index k = chain_of_warp(first);
  if (k >= last) return;
  auto a = c.template adaptation<32>(k);
  Sampler::start_adaptation(WarpTeam{}, c.settings, a, c.dim);
}

template <class Sampler, class Real>
__global__ void __launch_bounds__(max_block, 1)
    start_chains(const __grid_constant__ ChainsView<Sampler, Real> c, Index first, Index last) {
  const Index chain = chain_of_warp(first);
  if (chain < last) start_chain(WarpTeam{}, c, chain);
}

/// Adds the number of waiting chains to *waiting, unless null.
template <class Sampler, class Real>
__global__ void __launch_bounds__(max_block, 1)
    advance_chains(const __grid_constant__ ChainsView<Sampler, Real> c, const Segment<Real>* __restrict__ segment,
                   unsigned actions, int* waiting, Index first, Index last) {
  const Index chain = chain_of_warp(first);
  if (chain >= last) return;
  const bool waits = advance_chain(WarpTeam{}, c, *segment, actions, chain);
  if (waiting && waits) WarpTeam{}.single([&] { atomicAdd(waiting, 1); });
}

/// The same between products of all chains, and the rest of a proposal.
template <class Sampler, class Real>
__global__ void __launch_bounds__(max_block, 1)
    advance_with_products(const __grid_constant__ ChainsView<Sampler, Real> c,
                          const Segment<Real>* __restrict__ segment, unsigned actions, int* waiting, Index first,
                          Index last) {
  const Index chain = chain_of_warp(first);
  if (chain >= last) return;
  const bool waits = advance_chain(ProductsTeam{}, c, *segment, actions, chain);
  if (waiting && waits) WarpTeam{}.single([&] { atomicAdd(waiting, 1); });
}
template <class Sampler, class Real>
__global__ void __launch_bounds__(max_block, 1)
    place_chains(const __grid_constant__ ChainsView<Sampler, Real> c, const Segment<Real>* __restrict__ segment,
                 Index first, Index last) {
  const Index chain = chain_of_warp(first);
  if (chain < last) place_chain(ProductsTeam{}, c, *segment, chain);
}

template <class Real>
__global__ void __launch_bounds__(32, 1) set_segment(const __grid_constant__ Segment<Real> segment, Segment<Real>* to) {
  if (threadIdx.x == 0) *to = segment;
}

template <class Record>
__global__ void __launch_bounds__(max_block, 1) copy_records(const Record* from, Record* to, Index count) {
  const Index i = here::thread_of_all();
  if (i < count) to[i] = from[i];
}

/// The segment that queued rounds read, in device memory: sent in the order of the work, when it is another.
template <class Real>
class SegmentOnDevice {
 public:
  explicit SegmentOnDevice(const Place& place) : place_(place), memory_(place, 1, "queries and answers") {}
  const Segment<Real>* send(const Segment<Real>& segment) {
    if (!sent_ || *sent_ != segment) launch(place_, set_segment<Real>, dim3(1), 32, segment, memory_.data());
    sent_ = segment;
    return memory_.data();
  }

 private:
  Place place_;
  Buffer<Segment<Real>> memory_;
  std::optional<Segment<Real>> sent_;
};

}  // namespace cuda

template <class Sampler, class Real>
class CudaChains final : public Chains<Real> {
  static constexpr bool asks_once = Sampler::about.asks == Asks::once, by_factor = Sampler::moves != Moves::freely;

 public:
  CudaChains(const Context& context, Index num_chains, Index dim, Scope scope,
             const typename Sampler::Settings& settings)
      : context_(context),
        memory_(context, num_chains, dim, scope, settings),
        products_(context, memory_.view()),
        segment_(context),
        counter_(context),
        throttle_(context),
        replays_{cuda::Replay(context), cuda::Replay(context)} {
    const auto& c = memory_.view();
    cuda::for_each_chain(context_, cuda::start_adaptations<Sampler, Real>, 0, memory_.copies(), c);
    if constexpr (Sampler::about.adaptive)
      if (c.scope == Scope::pooled) pool_ = cuda::Pool<Sampler, Real>(context_, c);
  }

  static ChainBytes bytes(Index num_chains, Index dim, Scope scope, const typename Sampler::Settings& settings) {
    ChainBytes b = chain_bytes<Sampler, Real, 32>(num_chains, dim, scope, settings);
    if constexpr (Sampler::about.adaptive)
      if (scope == Scope::pooled) b.pooled_sums = cuda::Pool<Sampler, Real>::bytes(num_chains, dim, settings);
    b.pooled_sums += cuda::FactorProducts<Sampler, Real>::bytes(num_chains, dim, scope, settings);
    return b;
  }
  Exchange<Real> exchange(Phase phase) const override { return memory_.exchange(phase); }
  void place(const std::vector<Real>& x) override {
    memory_.place(x);
    reached_ = 0;
  }
  void start(Index first, Index last) override {
    cuda::for_each_chain(context_, cuda::start_chains<Sampler, Real>, first, last, memory_.view());
  }
  /// Returns at least 1 while chains may wait: exactly so for a sampler that asks once, else one round late.
  Index advance(Index first, Index last, unsigned actions, const Segment<Real>& segment) override {
    const bool updates = (actions & action_update) != 0;
    if (!updates) counter_.restart();
    if (updates && reached_ < segment.until) ++reached_;  // no chain can finish more than one iteration in a round
    const bool counts = !asks_once && reached_ >= segment.until;
    int* count = counts ? counter_.open() : nullptr;
    const Segment<Real>* sent = segment_.send(segment);
    if (products_.together())
      advance_together(first, last, actions, segment, sent, count);
    else
      cuda::for_each_chain(context_, cuda::advance_chains<Sampler, Real>, first, last, memory_.view(), sent, actions,
                           count);
    if (updates && !replays_[segment.schedule.adapting].capturing()) throttle_.queued();
    if (!counts) return reached_ < segment.until ? last - first : 0;
    const int waiting = counter_.close();
    return waiting < 0 ? last - first : waiting;
  }
  void pool([[maybe_unused]] const Segment<Real>& segment) override {
    if constexpr (Sampler::about.adaptive) pool_.step(context_, memory_.view(), segment_.send(segment));
    if constexpr (by_factor)
      if (products_.together()) products_.take(memory_.view());
  }
  void multiply_together(bool together) override { products_.choose(memory_.view(), together); }
  std::string products() const override { return products_.text(memory_.view(), products_.together()); }

  /// Whole iterations where the target makes them: all in one launch, or where adaptation is pooled one in each, with
  /// its step behind it. Else, of a sampler that asks once, rounds, each an iteration. What is the same again and again
  /// is replayed.
  std::optional<std::int64_t> replay(Target<Real>& target, const Segment<Real>& segment,
                                     const std::atomic<bool>& stop) override {
    const bool whole = iterates(target, segment, nullptr);
    const bool graphs = makes_graphs(target);
    if (!whole && (!asks_once || !graphs)) return std::nullopt;
    if (stop || reached_ >= segment.until) return reached_;
    if (whole && !segment.pools()) {
      iterates(target, segment, segment_.send(segment));
      throttle_.queued(segment.until - reached_);
      return reached_ = segment.until;
    }
    constexpr std::int64_t several = cuda::Replay::rounds;
    cuda::Replay& graph = replays_[segment.schedule.adapting];
    const auto round = [&] {
      if (whole)
        iterate_once(target, segment);
      else
        iterate_in_rounds(target, segment);
    };
    if (whole)
      segment_.send(segment);  // a graph reads it, and sends none
    else
      advance(0, memory_.view().num_chains, action_propose, segment);
    while (reached_ < segment.until && !stop) {
      const cuda::RoundKind kind = kind_of(target, segment);
      if (segment.until - reached_ >= several && graph.holds(kind)) {
        graph.launch();
        reached_ += several;
        throttle_.queued(several);
        continue;
      }
      round();  // uncaptured, and at least once before a capture: targets allocate in their first call
      if (graphs && segment.until - reached_ >= several && cuda::memory_epoch() == kind.memory && !graph.holds(kind))
        capture(graph, kind, round);
    }
    return reached_;
  }

  bool runs_ahead(Target<Real>& target, const Segment<Real>& segment) const override {
    return iterates(target, segment, nullptr) || (asks_once && makes_graphs(target));
  }
  std::vector<ChainControl> controls() const override { return memory_.controls(); }
  void leave_controls(ChainControl* to) const override {
    const auto& c = memory_.view();
    const dim3 blocks(static_cast<unsigned>((c.num_chains + cuda::max_block - 1) / cuda::max_block));
    cuda::launch(context_, cuda::copy_records<ChainControl>, blocks, cuda::max_block,
                 static_cast<const ChainControl*>(c.control), to, c.num_chains);
  }
  void reset_counts() override { memory_.reset_counts(); }
  void begin_at(std::int64_t iteration) override { memory_.begin_at(iteration); }
  std::vector<Real> positions() const override { return memory_.positions(); }
  std::vector<Real> gradients() const override { return memory_.gradients(); }
  Learnt learnt(Index chain) const override { return memory_.learnt(chain); }
  bool set_metric(const Metric& metric) override {
    products_.changed();
    return memory_.set_metric(metric);
  }
  double averaged_step() const override { return memory_.averaged_step(); }
  void relocate(Index from, Index to) override { memory_.relocate(from, to); }
  std::vector<char> save() const override { return memory_.save(); }
  void load(const std::vector<char>& bytes) override {
    memory_.load(bytes);
    products_.changed();
    find_reached();
  }
  const ChainsView<Sampler, Real>& view() const { return memory_.view(); }

 private:
  /// Queues whole iterations of the segment, which is `sent` to the device: one where it pools, else all. Null: asks
  /// whether that can be.
  bool iterates(Target<Real>& target, const Segment<Real>& segment, const Segment<Real>* sent) const {
    if (!context_.fuse || products_.together() || Sampler::about.needs.in(segment.phase()) > Needs::gradient)
      return false;
    const auto& c = memory_.view();
    return target.iterate({typeid(Sampler), &c, c.num_chains, sent, segment.pools(), exchange(segment.phase())});
  }
  bool makes_graphs(const Target<Real>& target) const { return context_.graphs && target.can_be_captured(); }
  void iterate_once(Target<Real>& target, const Segment<Real>& segment) {
    iterates(target, segment, segment_.send(segment));
    ++reached_;
    if (!replays_[segment.schedule.adapting].capturing()) throttle_.queued();
    pool(segment);
  }
  void iterate_in_rounds(Target<Real>& target, const Segment<Real>& segment) {
    const Index all = memory_.view().num_chains;
    target.evaluate(exchange(segment.phase()), 0, all);
    if (!segment.pools()) {
      advance(0, all, action_update | action_propose, segment);
      return;
    }
    advance(0, all, action_update, segment);
    pool(segment);
    advance(0, all, action_propose, segment);
  }
  cuda::RoundKind kind_of(const Target<Real>& target, const Segment<Real>& segment) const {
    return {&target, segment.schedule.adapting, segment.pools(), products_.together(), cuda::memory_epoch()};
  }

  /// advance_chain cut where a product is wanted: what is to be multiplied, the product, and on.
  void advance_together([[maybe_unused]] Index first, [[maybe_unused]] Index last, [[maybe_unused]] unsigned actions,
                        [[maybe_unused]] const Segment<Real>& segment, [[maybe_unused]] const Segment<Real>* sent,
                        [[maybe_unused]] int* count) {
    if constexpr (by_factor) {
      const auto& c = memory_.view();
      const bool adapting = segment.schedule.adapting,
                 begins = !(actions & action_update),  // the segment, perhaps the first after an adaptation
          proposes = (actions & action_propose) != 0 && (begins || !segment.pools());  // a pooled one: at its beginning
      const auto make = [&](Before when) {
        products_.make(c, when, adapting || (begins && when == Before::draw), first, last);
      };
      const auto advance = [&](unsigned what, int* into) {
        cuda::for_each_chain(context_, cuda::advance_with_products<Sampler, Real>, first, last, c, sent, what, into);
      };
      products_.take_if_changed(c);
      unsigned left = (actions & action_update) | (proposes ? action_propose : 0u);
      if (actions & action_update) {
        make(Before::update);
        if (proposes && products_.any(c, Before::draw, adapting)) {
          advance(action_update, nullptr);
          left = action_propose;
        }
      }
      if (proposes) make(Before::draw);
      advance(left, count);
      if (proposes || Sampler::moves == Moves::in_steps) {
        make(Before::place);
        cuda::for_each_chain(context_, cuda::place_chains<Sampler, Real>, first, last, c, sent);
      }
      make(Before::evaluation);
    }
  }
  template <class Round>
  void capture(cuda::Replay& graph, const cuda::RoundKind& kind, Round& round) {
    const std::int64_t first = reached_;
    graph.capture(kind, [&] {
      for (std::int64_t k = 0; k < cuda::Replay::rounds; ++k) round();
    });
    reached_ = first;  // what a capture counts did not run
  }
  void find_reached() {
    reached_ = -1;
    for (const auto& c : memory_.controls())
      if (c.status == ChainStatus::running && (reached_ < 0 || c.iteration < reached_)) reached_ = c.iteration;
    if (reached_ < 0) reached_ = 0;
  }

  Context context_;
  ChainMemory<Sampler, Real, 32> memory_;
  cuda::Pool<Sampler, Real> pool_;
  cuda::FactorProducts<Sampler, Real> products_;
  cuda::SegmentOnDevice<Real> segment_;
  cuda::LateCounter counter_;
  cuda::Throttle throttle_;
  cuda::Replay replays_[2];   ///< of sampling and of warm-up
  std::int64_t reached_ = 0;  ///< iterations that the slowest running chain may have finished, at most
};

}  // namespace kilochain
