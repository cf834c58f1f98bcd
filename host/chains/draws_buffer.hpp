// Memory for one window of draws: on the device, where iterations write, and on the host, where they are read. On the
// CPU both are the same memory. On CUDA the device holds the chains of one batch, the host those of all batches, in
// pinned memory: a window is copied while the next one is drawn into another buffer (one copy; of several batches one
// for each array, and a wait). Nothing is allocated or copied for what is not kept.
// Layout, packed for the draws of the window at hand: the chains' records, the first few divergences of each chain with
// the points where they were found, lp (chain, slot), draws (chain, slot, dim), the other statistics as lp.
#pragma once
#include <algorithm>
#include <limits>

#include "host/chains/chains.hpp"
#include "host/chains/window.hpp"
#include "kernels/device/context.hpp"

namespace kilochain {

/// What iterations write.
enum class Recorded { nothing, statistics, draws };

struct WindowShape {
  Count chains, dim, capacity;  ///< capacity: draws of each chain
  Count stats = 0;              ///< of the sampler's own
  Recorded recorded = Recorded::draws;
  Count spins = 0;  ///< of a spin model, kept beside each draw
};

template <class Real>
class DrawsBuffer {
 public:
  /// `batch` chains are on the device at a time.
  DrawsBuffer(const Context& context, const WindowShape& shape, Index batch)
      : place_(context), shape_(shape), slots_(shape.capacity), batch_(batch) {
    host_ = Buffer<char>(place_, bytes(shape), "windows of draws", Memory::pinned);
    if (context.backend == Backend::cuda)
      device_ = Buffer<char>(place_, Arrays(shape, batch, shape.capacity, nullptr).bytes, "windows of draws");
  }
  static std::size_t bytes(const WindowShape& shape) {
    return Arrays(shape, shape.chains, shape.capacity, nullptr).bytes;
  }
  const WindowShape& shape() const { return shape_; }

  /// Where the batch that begins with chain `first_chain` writes a window of `count` draws, whose first iteration is
  /// `first_iteration`. All batches of a window have the same count.
  Recording<Real> recording(Index first_chain, std::int64_t first_iteration, std::int64_t thin, Count count) {
    KC_CHECK(count <= shape_.capacity || shape_.recorded == Recorded::nothing);
    slots_ = count, first_iteration_ = first_iteration, thin_ = thin;
    Recording<Real> r;
    if (shape_.recorded == Recorded::nothing) return r;
    const Arrays to = written();
    const Count first = on_device() ? 0 : first_chain, slot = first * slots_, kept = to.diverged.columns;
    if (shape_.recorded == Recorded::draws) r.draws = to.draws.data + slot * shape_.dim;
    r.lp = to.lp.data + slot;
    r.acceptance_rate = to.acceptance_rate.data + slot;
    r.diverging = to.diverging.data + slot;
    r.stats = to.stats.data + slot;
    r.stat_stride = to.stats.rows * to.stats.columns;
    r.capacity = slots_;
    r.first_iteration = first_iteration;
    r.thin = static_cast<std::int32_t>(thin);
    r.active = true;
    r.diverged = to.diverged.data + first * kept;
    r.diverged_at = to.diverged_at.data + first * kept * shape_.dim;
    r.kept_divergences = static_cast<std::int32_t>(kept);
    if (to.spins.data) r.spins = to.spins.data + slot * shape_.spins;
    const Count chains = std::min<Count>(batch_, to.diverged.rows - first);
    begin_clear(place_, r.diverged, static_cast<std::size_t>(chains * kept) * sizeof(std::int64_t));
    return r;
  }
  /// Copies the batch's part of the window, and its chains' records, to the host, behind the work that is queued. Of
  /// several batches it is there on return; of one, wait() waits for it.
  void copy_to_host(const Chains<Real>& chains, Index first_chain) {
    const Arrays from = written(), to = host();
    chains.leave_controls(from.control.data + (on_device() ? 0 : first_chain));
    if (!on_device()) return;
    if (from.control.size == to.control.size) return send_to_host(place_, host_.data(), device_.data(), from.bytes);
    begin_copy_to_host(place_, to.control.data + first_chain, from.control.data,
                       static_cast<std::size_t>(from.control.size) * sizeof(ChainControl));
    copy_part(to.diverged, from.diverged, first_chain), copy_part(to.diverged_at, from.diverged_at, first_chain);
    copy_part(to.lp, from.lp, first_chain), copy_part(to.draws, from.draws, first_chain);
    copy_part(to.acceptance_rate, from.acceptance_rate, first_chain);
    copy_part(to.diverging, from.diverging, first_chain), copy_part(to.spins, from.spins, first_chain);
    for (Count k = 0; k < to.stats.planes; ++k) copy_part(to.stats.plane(k), from.stats.plane(k), first_chain);
    synchronize(place_);
  }
  void wait() const {
    if (on_device()) wait_for_sent(place_);
  }
  /// The records of all chains after the window.
  std::vector<ChainControl> controls() const {
    const Arrays a = host();
    return {a.control.begin(), a.control.end()};
  }
  /// The window's first `count` draws. What quarantined chains did not draw becomes NaN, spins 0.
  Window<Real> window(Count count) {
    const Arrays a = host();
    for (Count c = 0; c < a.lp.rows; ++c)
      if (a.control[c].status != ChainStatus::running)
        clear(a, c, std::max<Count>(0, (a.control[c].iteration - first_iteration_) / thin_), count);
    Window<Real> w{constant(a.draws),     constant(a.lp),    constant(a.acceptance_rate),
                   constant(a.diverging), constant(a.stats), constant(a.spins)};
    w.count = count;
    w.divergences = divergences(a, count);
    return w;
  }

 private:
  /// Where each array of `chains` chains lies from `base` on, and how many bytes they take together.
  struct Arrays {
    View1<ChainControl> control;
    View2<std::int64_t> diverged;
    View3<Real> diverged_at, draws;
    View2<double> lp;
    View2<float> acceptance_rate;
    View3<float> stats;
    View2<std::uint8_t> diverging;
    View3<std::int8_t> spins;
    std::size_t bytes = 0;

    Arrays(const WindowShape& s, Count chains, Count slots, char* base) {
      control = {take<ChainControl>(base, chains), chains};
      if (s.recorded == Recorded::nothing) return;
      const Count kept = std::clamp<Count>(1000 / s.chains, 1, 100);  // divergences of each chain: 1000 of all, or so
      const Count dim = s.recorded == Recorded::draws ? s.dim : 0, kept_spins = dim > 0 ? s.spins : 0;
      diverged = {take<std::int64_t>(base, chains * kept), chains, kept};
      diverged_at = {take<Real>(base, chains * kept * s.dim), chains, kept, s.dim};
      lp = {take<double>(base, chains * slots), chains, slots};
      draws = {take<Real>(base, chains * slots * dim), chains, slots, dim};
      acceptance_rate = {take<float>(base, chains * slots), chains, slots};
      stats = {take<float>(base, s.stats * chains * slots), s.stats, chains, slots};
      diverging = {take<std::uint8_t>(base, chains * slots), chains, slots};
      if (kept_spins > 0) spins = {take<std::int8_t>(base, chains * slots * kept_spins), chains, slots, kept_spins};
    }

   private:
    template <class T>
    T* take(char* base, Count count) {
      const std::size_t at = bytes;
      bytes += (static_cast<std::size_t>(count) * sizeof(T) + 127) / 128 * 128;
      return base ? reinterpret_cast<T*>(base + at) : nullptr;
    }
  };

  static void clear(const Arrays& a, Count chain, Count from, Count to) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (Count s = from; s < to; ++s) {
      if (a.draws.columns > 0) std::fill_n(a.draws.row(chain, s).data, a.draws.columns, static_cast<Real>(nan));
      a.lp(chain, s) = nan;
      a.acceptance_rate(chain, s) = static_cast<float>(nan);
      a.diverging(chain, s) = 0;
      if (a.spins.data) std::fill_n(a.spins.row(chain, s).data, a.spins.columns, std::int8_t(0));
    }
  }
  /// In the order of draws, counted from the window's first, and chains.
  static std::vector<Divergence> divergences(const Arrays& a, Count count) {
    std::vector<Divergence> out;
    for (Count c = 0; c < a.diverged.rows; ++c)
      for (Count k = 0; k < a.diverged.columns; ++k) {
        const std::int64_t slot = a.diverged(c, k) - 1;
        if (slot < 0 || slot >= count) continue;
        const View1<Real> point = a.diverged_at.row(c, k);
        out.push_back({c, slot, {point.begin(), point.end()}});
      }
    std::stable_sort(out.begin(), out.end(), [](const Divergence& a, const Divergence& b) { return a.draw < b.draw; });
    return out;
  }

  bool on_device() const { return device_.data() != nullptr; }
  Arrays host() const { return Arrays(shape_, shape_.chains, slots_, host_.data()); }
  /// Where iterations write.
  Arrays written() const { return on_device() ? Arrays(shape_, batch_, slots_, device_.data()) : host(); }

  template <class T>
  static View2<const T> constant(View2<T> v) {
    return {v.data, v.rows, v.columns};
  }
  template <class T>
  static View3<const T> constant(View3<T> v) {
    return {v.data, v.planes, v.rows, v.columns};
  }
  template <class T>
  void copy_part(View2<T> to, View2<T> from, Count first) const {
    if (from.rows * from.columns == 0) return;
    begin_copy_to_host(place_, to.data + first * to.columns, from.data,
                       static_cast<std::size_t>(from.rows * from.columns) * sizeof(T));
  }
  template <class T>
  void copy_part(View3<T> to, View3<T> from, Count first) const {
    copy_part(View2<T>{to.data, to.planes, to.rows * to.columns}, {from.data, from.planes, from.rows * from.columns},
              first);
  }

  Place place_;
  WindowShape shape_;
  Count slots_;  ///< draws of the window at hand
  Index batch_;
  std::int64_t first_iteration_ = 0, thin_ = 1;
  Buffer<char> host_, device_;  ///< device_: none on the CPU
};

}  // namespace kilochain
