// A sampler's chains on CUDA: the kernel bodies of host/chains/advance.hpp, a warp for each chain, in rounds with the target or,
// where that has tiles, whole iterations in one kernel (cuda_tiles.cuh). Rounds are cut at the products with a factor that all
// chains share where those are made together (cuda_products.cuh).
// The host runs ahead of the device. A sampler that asks once an iteration (About::asks) is done after as many
// rounds as iterations, so nothing is read back and the host waits for nothing; others' rounds are loops that the device ends
// (cuda_loop.cuh). Where those are not known, the number of waiting chains is read one round late: the last round may find
// nothing to do. Which iterations to do lies in device memory (SegmentOnDevice): a captured graph serves a whole phase.
#pragma once
#include "host/chains/chain_memory.hpp"
#include "host/chains/cuda_loop.cuh"
#include "host/chains/cuda_pool.cuh"
#include "host/chains/cuda_products.cuh"
#include "host/chains/cuda_queue.cuh"
#include "host/chains/cuda_tiles.cuh"

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

/// The segment that queued rounds read, in device memory: told in the order of the work, when it is another.
template <class Real>
class SegmentOnDevice {
 public:
  explicit SegmentOnDevice(const Place& place) : place_(place), memory_(place, 1, "queries and answers") {}
  Segment<Real>* tell(const Segment<Real>& segment) {
    if (!told_ || *told_ != segment) launch(place_, set_segment<Real>, dim3(1), 32, segment, memory_.data());
    told_ = segment;
    return memory_.data();
  }
  /// What kernels that are queued make of it.
  void becomes(const Segment<Real>& segment) { told_ = segment; }

 private:
  Place place_;
  Buffer<Segment<Real>> memory_;
  std::optional<Segment<Real>> told_;
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
        whole_(context),
        counter_(context),
        throttle_(context),
        replays_{cuda::Replay(context), cuda::Replay(context)},
        loops_{cuda::Loop(context, 12040), cuda::Loop(context, 12060)} {
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
    queue_advance(first, last, actions, segment, segment_.tell(segment), count);
    if (updates && !replays_[segment.schedule.adapting].capturing()) throttle_.queued();
    if (!counts) return reached_ < segment.until ? last - first : 0;
    const int waiting = counter_.close();
    return waiting < 0 ? last - first : waiting;
  }
  void pool(const Segment<Real>& segment) override { queue_pool(segment_.tell(segment)); }
  void multiply_together(bool together) override { products_.choose(memory_.view(), together); }
  std::string products() const override { return products_.why(); }

  /// Whole iterations in one launch where the target has tiles and nothing is pooled. Else rounds that are the same launches:
  /// of a sampler that asks once, when each is an iteration, and of others as loops that the device ends.
  std::optional<std::int64_t> replay(Target<Real>& target, const Segment<Real>& segment,
                                     const std::atomic<bool>& stop) override {
    if (iterate(target, segment, stop)) return reached_;
    if (!asks_once) return loop(target, segment, stop);
    if (!context_.graphs) return std::nullopt;
    constexpr std::int64_t several = cuda::Replay::rounds;
    const Index all = memory_.view().num_chains;
    cuda::Replay& graph = replays_[segment.schedule.adapting];
    const auto round = [&] {
      target.evaluate(exchange(segment.phase()), 0, all);
      if (segment.pools()) {
        advance(0, all, action_update, segment);
        pool(segment);
        advance(0, all, action_propose, segment);
      } else {
        advance(0, all, action_update | action_propose, segment);
      }
    };
    advance(0, all, action_propose, segment);
    while (reached_ < segment.until && !stop) {
      const cuda::RoundKind kind = kind_of(target, segment);
      if (segment.until - reached_ >= several && graph.holds(kind)) {
        graph.launch();
        reached_ += several;
        throttle_.queued(several);
        continue;
      }
      round();  // uncaptured, and at least once before a capture: targets allocate in their first call
      if (segment.until - reached_ >= several && cuda::memory_epoch() == kind.memory && !graph.holds(kind))
        capture(graph, kind, round);
    }
    return reached_;
  }

  bool runs_ahead(Target<Real>& target, const Segment<Real>& segment) const override {
    return tile_of(target, segment) || (asks_once ? context_.graphs : loops(segment));
  }
  std::vector<ChainControl> controls() const override { return memory_.controls(); }
  void leave_controls(ChainControl* to) const override {
    const auto& c = memory_.view();
    const dim3 blocks(static_cast<unsigned>((c.num_chains + cuda::max_block - 1) / cuda::max_block));
    cuda::launch(context_, cuda::copy_records<ChainControl>, blocks, cuda::max_block,
                 static_cast<const ChainControl*>(c.control), to, c.num_chains);
  }
  void reset_counts() override { memory_.reset_counts(); }
  std::vector<Real> positions() const override { return memory_.positions(); }
  Learnt learnt(Index chain) const override { return memory_.learnt(chain); }
  std::vector<char> save() const override { return memory_.save(); }
  void load(const std::vector<char>& bytes) override {
    memory_.load(bytes);
    products_.changed();
    find_reached();
  }
  const ChainsView<Sampler, Real>& view() const { return memory_.view(); }

 private:
  /// By what whole iterations are made in one launch; null where they cannot be.
  const AnyTile<Real>* tile_of([[maybe_unused]] Target<Real>& target,
                               [[maybe_unused]] const Segment<Real>& segment) const {
    constexpr NeedsByPhase needs = Sampler::about.needs;
    if constexpr (needs.warmup <= Needs::gradient || needs.sampling <= Needs::gradient)
      if (context_.fuse && !segment.pools() && needs.in(segment.phase()) <= Needs::gradient)
        return target.tiles(memory_.view().num_chains, true);
    return nullptr;
  }
  /// Queues the segment as one launch; false where it cannot be.
  bool iterate(Target<Real>& target, const Segment<Real>& segment, const std::atomic<bool>& stop) {
    const AnyTile<Real>* tile = tile_of(target, segment);
    if (!tile) return false;
    if (stop || reached_ >= segment.until) return true;
    constexpr NeedsByPhase needs = Sampler::about.needs;
    if constexpr (needs.warmup <= Needs::gradient || needs.sampling <= Needs::gradient)
      cuda::iterate(context_, *tile, memory_.view(), segment_.tell(segment), exchange(segment.phase()));
    queued(segment);
    return true;
  }
  void queued(const Segment<Real>& segment) {
    throttle_.queued(segment.until - reached_);
    reached_ = segment.until;
  }
  bool loops(const Segment<Real>& segment) const {
    return !asks_once && context_.graphs && loops_[segment.schedule.adapting].able();
  }
  /// Queues the segment as loops; nothing where it cannot be.
  std::optional<std::int64_t> loop(Target<Real>& target, const Segment<Real>& segment, const std::atomic<bool>& stop) {
    if (!loops(segment)) return std::nullopt;
    if (stop || reached_ >= segment.until) return reached_;
    cuda::Loop& graph = loops_[segment.schedule.adapting];
    if (!graph.holds(kind_of(target, segment))) {
      iterate_by_host(target,
                      until(segment, reached_ + 1));  // uncaptured, because targets allocate in their first call
      capture_loop(graph, target, segment);
      if (!graph.able()) return std::nullopt;  // the host goes on where these rounds ended
      if (reached_ >= segment.until) return reached_;
    }
    if constexpr (by_factor)
      if (together()) products_.take_if_changed(memory_.view());
    segment_.tell(segment.pools() ? until(segment, reached_ + 1) : segment);
    if (segment.pools()) whole_.tell(segment);
    graph.launch();
    segment_.becomes(segment);
    queued(segment);
    return reached_;
  }
  /// All chains' next iteration, to segment.until.
  void iterate_by_host(Target<Real>& target, const Segment<Real>& segment) {
    const Index all = memory_.view().num_chains;
    Exchange<Real> e = exchange(segment.phase());
    e.asking = advance(0, all, action_propose, segment);
    while (e.asking > 0) {
      target.evaluate(e, 0, all);
      e.asking = advance(0, all, action_update | action_propose, segment);
    }
    if (segment.pools()) pool(segment);
  }
  void capture_loop(cuda::Loop& graph, Target<Real>& target, const Segment<Real>& segment) {
    const Index all = memory_.view().num_chains;
    Segment<Real>* const now = segment_.tell(segment);
    const Segment<Real>* const whole = whole_.tell(segment);
    graph.capture(kind_of(target, segment), [&](cuda::Branches& branches, int* waiting) {
      const auto iterate = [&](cuda::Condition rounds) {
        queue_advance(0, all, action_propose, segment, now, nullptr);
        branches.repeat(rounds, [&] {
          target.evaluate_in_loop(exchange(segment.phase()), 0, all, branches);
          queue_advance(0, all, action_update | action_propose, segment, now, waiting);
          cuda::launch(context_, cuda::end_round<cuda::Condition>, dim3(1), 32, waiting, rounds);
        });
      };
      if (!segment.pools()) return iterate(branches.condition(true));
      const cuda::Condition iterations = branches.condition(true);
      branches.repeat(iterations, [&] {
        const cuda::Condition rounds = branches.condition();
        cuda::launch(context_, cuda::begin_iteration<cuda::Condition>, dim3(1), 32, rounds);
        iterate(rounds);
        queue_pool(now);
        cuda::launch(context_, cuda::end_iteration<Real, cuda::Condition>, dim3(1), 32, now, whole, iterations);
      });
    });
  }
  cuda::RoundKind kind_of(const Target<Real>& target, const Segment<Real>& segment) const {
    return {&target, segment.schedule.adapting, segment.pools(), together(), cuda::memory_epoch()};
  }

  /// told: the segment on the device.
  void queue_advance(Index first, Index last, unsigned actions, const Segment<Real>& segment, const Segment<Real>* told,
                     int* count) {
    if (together())
      advance_together(first, last, actions, segment, told, count);
    else
      cuda::for_each_chain(context_, cuda::advance_chains<Sampler, Real>, first, last, memory_.view(), told, actions,
                           count);
  }
  void queue_pool([[maybe_unused]] const Segment<Real>* told) {
    if constexpr (Sampler::about.adaptive) pool_.step(context_, memory_.view(), told);
    if constexpr (by_factor)
      if (together()) products_.take(memory_.view());
  }
  bool together() const {
    if constexpr (by_factor) return products_.together();
    return false;
  }
  /// advance_chain cut where a product is wanted: what is to be multiplied, the product, and on.
  void advance_together([[maybe_unused]] Index first, [[maybe_unused]] Index last, [[maybe_unused]] unsigned actions,
                        [[maybe_unused]] const Segment<Real>& segment, [[maybe_unused]] const Segment<Real>* told,
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
        cuda::for_each_chain(context_, cuda::advance_with_products<Sampler, Real>, first, last, c, told, what, into);
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
        cuda::for_each_chain(context_, cuda::place_chains<Sampler, Real>, first, last, c, told);
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
  cuda::SegmentOnDevice<Real> segment_, whole_;  ///< as far as chains go now; of a loop of iterations, the end
  cuda::LateCounter counter_;
  cuda::Throttle throttle_;
  cuda::Replay replays_[2];   ///< of sampling and of warm-up
  cuda::Loop loops_[2];       ///< as those
  std::int64_t reached_ = 0;  ///< iterations that the slowest running chain may have finished, at most
};

}  // namespace kilochain
