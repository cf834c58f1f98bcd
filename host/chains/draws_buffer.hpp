// The draws of a stretch of iterations and the chains' records after it, on the device where they are made and on the host
// where they are used. On the CPU both are the same memory. On CUDA the device holds the chains of one batch, the host those
// of all batches, in pinned memory: what a window keeps leaves in one copy while the next one is drawn into another buffer
// (one copy for each array, and a wait, when there are several batches). Nothing is allocated or copied for what is not kept.
// A window whose draws are used where they lie stays there: what leaves is its digest, and when that tells of divergences or
// of a chain that is quarantined anew, the chains' records and the points of divergences.
// Layout, packed for the draws of the window at hand: draws (chain, slot, dim), statistics (chain, slot), the sampler's own
// (stat, chain, slot). Of a chain's divergences in a window the first few are kept with the points where they were found.
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>

#include "host/chains/chains.hpp"
#include "host/chains/thread_team.hpp"
#include "host/chains/window.hpp"
#include "host/chains/window_digest.hpp"
#include "kernels/device/fetch.hpp"

namespace kilochain {

/// What iterations leave behind.
enum class Recorded { nothing, statistics, draws };

template <class Real>
class DrawsBuffer {
 public:
  /// Room for `capacity` draws of each of num_chains chains, `batch` of them on the device at a time.
  DrawsBuffer(const Context& context, Index num_chains, Index batch, Index dim, std::int64_t capacity, int num_stats,
              Recorded recorded = Recorded::draws, Count spins = 0)
      : place_(context),
        shape_{num_chains, capacity, dim, num_stats, kept_divergences(num_chains), recorded, spins},
        batch_(batch),
        capacity_(capacity) {
    const Arrays host(shape_, num_chains, nullptr), device(shape_, batch, nullptr);
    host_ = Buffer<char>(place_, host.bytes, "windows of draws", Memory::pinned);
    if (context.backend == Backend::cuda) device_ = Buffer<char>(place_, device.bytes, "windows of draws");
  }
  static std::size_t bytes(std::int64_t num_chains, std::int64_t dim, std::int64_t capacity, int num_stats,
                           Recorded recorded = Recorded::draws, Count spins = 0) {
    return Arrays({num_chains, capacity, dim, num_stats, kept_divergences(num_chains), recorded, spins}, num_chains,
                  nullptr)
        .bytes;
  }
  /// Divergences of each chain that a window has room for: 1000 of all chains, at least 1 and at most 100 of each.
  static Count kept_divergences(std::int64_t num_chains) { return std::clamp<Count>(1000 / num_chains, 1, 100); }
  std::int64_t capacity() const { return capacity_; }

  /// Forgets the divergences of the batch that begins with chain `first_chain`: before each window.
  void clear(Index first_chain) {
    if (shape_.recorded == Recorded::nothing) return;
    const View2<std::int64_t> all = made().diverged;
    const Count first = on_device() ? 0 : first_chain, chains = std::min<Count>(batch_, all.rows - first);
    begin_clear(place_, all.data + first * shape_.kept,
                static_cast<std::size_t>(chains * shape_.kept) * sizeof(std::int64_t));
  }
  /// Where the batch that begins with chain `first_chain` leaves its chains' records after the window.
  ChainControl* records(Index first_chain) { return made().control.data + (on_device() ? 0 : first_chain); }
  /// Where the batch that begins with chain `first_chain` leaves the window's `count` draws (the whole capacity when -1); the
  /// first kept one is `first_iteration + thin - 1`. All batches of a window have the same count.
  Recording<Real> recording(Index first_chain, std::int64_t first_iteration, std::int64_t thin, Count count = -1) {
    KC_CHECK(count <= capacity_);
    shape_.slots = count < 0 ? capacity_ : count;
    first_iteration_ = first_iteration, thin_ = thin;
    stays_ = has_records_ = settled_ = false;
    Recording<Real> r;
    if (shape_.recorded == Recorded::nothing) return r;
    const Arrays to = made();
    const Count first = on_device() ? 0 : first_chain, slot = first * shape_.slots;
    if (shape_.recorded == Recorded::draws) r.draws = to.draws.data + slot * shape_.dim;
    r.lp = to.lp.data + slot;
    r.acceptance_rate = to.acceptance_rate.data + slot;
    r.diverging = to.diverging.data + slot;
    r.stats = to.stats.data + slot;
    r.stat_stride = to.stats.rows * to.stats.columns;
    r.capacity = shape_.slots;
    r.first_iteration = first_iteration;
    r.thin = static_cast<std::int32_t>(thin);
    r.active = true;
    r.diverged = to.diverged.data + first * shape_.kept;
    r.diverged_at = to.diverged_at.data + first * shape_.kept * shape_.dim;
    r.kept_divergences = static_cast<std::int32_t>(shape_.kept);
    if (to.spins.data) r.spins = to.spins.data + slot * shape_.spins;
    return r;
  }
  /// Sends the batch's part of a window to the host, when the work queued so far has filled it. Of several batches it is
  /// there on return; else arrive() waits for it.
  void send(Index first_chain) {
    if (!on_device()) return;
    const Arrays from = made(), to = host();
    if (from.control.size == to.control.size) {
      send_to_host(place_, host_.data(), device_.data(), from.bytes);
      return;
    }
    begin_copy_to_host(place_, to.control.data + first_chain, from.control.data,
                       static_cast<std::size_t>(from.control.size) * sizeof(ChainControl));
    if (shape_.recorded != Recorded::nothing) {
      copy_part(to.lp, from.lp, first_chain), copy_part(to.diverged, from.diverged, first_chain);
      copy_part(to.diverged_at, from.diverged_at, first_chain), copy_part(to.draws, from.draws, first_chain);
      copy_part(to.acceptance_rate, from.acceptance_rate, first_chain);
      copy_part(to.diverging, from.diverging, first_chain), copy_part(to.spins, from.spins, first_chain);
      for (Count k = 0; k < shape_.stats; ++k) copy_part(to.stats.plane(k), from.stats.plane(k), first_chain);
    }
    synchronize(place_);
  }
  /// Waits for the window that was sent last.
  void arrive() const {
    if (on_device()) wait_for_sent(place_);
  }
  /// Room for the digests of windows that stay on the device.
  void prepare_to_stay() {
    if (digest_.size() > 0) return;
    digest_ = Buffer<WindowDigest>(place_, 1, "windows of draws");
    digest_on_host_ = Buffer<WindowDigest>(place_, 1, "windows of draws", Memory::pinned);
    quarantined_ = Buffer<std::uint8_t>(place_, static_cast<std::size_t>(batch_), "windows of draws");
  }
  /// From now on windows stay: gives back what the host has for draws, and keeps room for records and divergences.
  void leave_host() {
    const Arrays all(shape_, shape_.chains, nullptr);
    host_ = {};
    host_ = Buffer<char>(place_, all.bytes_of_records, "windows of draws", Memory::pinned);
  }
  std::size_t bytes_on_host() const { return host_.size(); }
  /// In place of send(), for a window that stays: the batch's part of it, of `count` draws, goes to `user`.
  void stay(Index first_chain, Count count, WindowUser<Real>& user) {
    const Arrays from = made();
    const Count chains = std::min<Count>(batch_, shape_.chains - first_chain);
    const View2<const std::uint8_t> diverging{from.diverging.data, chains, from.diverging.columns};
    digest_window(place_, {from.control.data, diverging, first_iteration_, thin_, count}, quarantined_.data(),
                  digest_.data());
    user.use({{from.draws.data, chains, from.draws.rows, from.draws.columns},
              quarantined_.data(),
              first_chain,
              count,
              told_on_device()});
    send_to_host(place_, digest_on_host_.data(), digest_.data(), sizeof(WindowDigest));
    if (first_chain == 0) total_ = {};
    stays_ = true;
    if (batch_ < shape_.chains) settle_batch(first_chain, from);
  }
  bool stays() const { return stays_; }
  /// Waits for the digest of a window that stays, and fetches the records of chains that it asks for: so many quarantined
  /// ones were known.
  void settle(Count known) {
    if (settled_ || batch_ < shape_.chains) return;
    settled_ = true;
    wait_for_sent(place_);
    total_ = *digest_on_host_.data();
    has_records_ = total_.quarantined > known || total_.divergences > 0;
    if (has_records_) fetch_sent(place_, host_.data(), device_.data(), made().bytes_of_records);
  }
  const WindowDigest& digest() const { return total_; }
  /// Whether controls() and divergences() of a window that stays are there.
  bool has_records() const { return has_records_; }
  /// The records of all chains after the window, once it has arrived.
  std::vector<ChainControl> controls() const {
    const Arrays a = host();
    return {a.control.begin(), a.control.end()};
  }
  /// Values recorded in place of the coordinates, (chain, slot, width), of `count` draws. The window then holds these.
  /// Throws what `constrain` throws.
  void record(Count count, Count width, const std::function<void(const double*, double*)>& constrain, int threads) {
    const View3<Real> draws = host().draws;
    width_ = width;
    values_.resize(static_cast<std::size_t>(draws.planes * draws.rows * width));
    const View3<Real> values = recorded_values();
    in_team(threads, [&](const TeamMember& member) {
      std::vector<double> x(static_cast<std::size_t>(draws.columns)), v(static_cast<std::size_t>(width));
      for (Count c = member.rank; c < draws.planes; c += member.size)
        for (Count s = 0; s < count; ++s) {
          std::copy_n(draws.row(c, s).data, draws.columns, x.begin());
          constrain(x.data(), v.data());
          std::transform(v.begin(), v.end(), values.row(c, s).data, [](double one) { return static_cast<Real>(one); });
        }
    });
  }
  /// The divergences of a window of `count` draws, in the order of draws (counted from the window's first) and chains.
  std::vector<Divergence> divergences(Count count) const {
    std::vector<Divergence> out;
    const Arrays a = host();
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
  /// The window on the host. What quarantined chains did not draw (slots from[chain] .. count - 1) becomes NaN, spins 0.
  Window<Real> window(Count count, const std::vector<std::int64_t>& from) {
    const Arrays a = host();
    const View3<Real> draws = width_ > 0 ? recorded_values() : a.draws;
    for (Count c = 0; c < a.lp.rows; ++c)
      for (Count s = std::max<Count>(0, from[static_cast<std::size_t>(c)]); s < count; ++s) {
        if (draws.columns > 0) std::fill_n(draws.row(c, s).data, draws.columns, std::numeric_limits<Real>::quiet_NaN());
        a.lp(c, s) = std::numeric_limits<double>::quiet_NaN();
        a.acceptance_rate(c, s) = std::numeric_limits<float>::quiet_NaN();
        a.diverging(c, s) = 0;
        if (a.spins.data) std::fill_n(a.spins.row(c, s).data, shape_.spins, std::int8_t(0));
      }
    return {constant(draws),       constant(a.lp),    constant(a.acceptance_rate),
            constant(a.diverging), constant(a.stats), constant(a.spins)};
  }

 private:
  struct Shape {
    Count chains, slots, dim, stats, kept;  ///< kept: divergences of each chain
    Recorded recorded;
    Count spins = 0;  ///< of a spin model, kept beside each draw
  };
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
    std::size_t bytes = 0, bytes_of_records = 0;  ///< of_records: of those in front, which do not depend on the slots

    Arrays(const Shape& s, Count chains, char* base) {
      control = {take<ChainControl>(base, chains), chains};
      bytes_of_records = bytes;
      if (s.recorded == Recorded::nothing) return;
      diverged = {take<std::int64_t>(base, chains * s.kept), chains, s.kept};
      diverged_at = {take<Real>(base, chains * s.kept * s.dim), chains, s.kept, s.dim};
      bytes_of_records = bytes;
      lp = {take<double>(base, chains * s.slots), chains, s.slots};
      const Count coordinates = s.recorded == Recorded::draws ? s.dim : 0;
      draws = {take<Real>(base, chains * s.slots * coordinates), chains, s.slots, coordinates};
      acceptance_rate = {take<float>(base, chains * s.slots), chains, s.slots};
      stats = {take<float>(base, s.stats * chains * s.slots), s.stats, chains, s.slots};
      diverging = {take<std::uint8_t>(base, chains * s.slots), chains, s.slots};
      const Count kept_spins = s.recorded == Recorded::draws ? s.spins : 0;
      if (kept_spins > 0) spins = {take<std::int8_t>(base, chains * s.slots * kept_spins), chains, s.slots, kept_spins};
    }

   private:
    template <class T>
    T* take(char* base, Count count) {
      const std::size_t at = bytes;
      bytes += (static_cast<std::size_t>(count) * sizeof(T) + 127) / 128 * 128;
      return base ? reinterpret_cast<T*>(base + at) : nullptr;
    }
  };

  /// Of several batches: nothing of theirs is overwritten before all is known of it.
  void settle_batch(Index first_chain, const Arrays& from) {
    wait_for_sent(place_);
    const WindowDigest& d = *digest_on_host_.data();
    total_.quarantined += d.quarantined, total_.divergences += d.divergences;
    total_.acceptance_sum += d.acceptance_sum, total_.counted += d.counted;
    std::copy(std::begin(d.told), std::end(d.told), std::begin(total_.told));  // of the last one, in the end
    const Arrays to = host();
    begin_copy_to_host(place_, to.control.data + first_chain, from.control.data,
                       static_cast<std::size_t>(from.control.size) * sizeof(ChainControl));
    if (d.divergences > 0)
      copy_part(to.diverged, from.diverged, first_chain), copy_part(to.diverged_at, from.diverged_at, first_chain);
    else
      std::fill_n(to.diverged.data + first_chain * shape_.kept, from.diverged.rows * shape_.kept, 0);
    synchronize(place_);
    has_records_ = true;
  }
  double* told_on_device() const {
    return reinterpret_cast<double*>(reinterpret_cast<char*>(digest_.data()) + offsetof(WindowDigest, told));
  }

  bool on_device() const { return device_.data() != nullptr; }
  Arrays host() const { return Arrays(shape_, shape_.chains, host_.data()); }
  /// Where iterations write.
  Arrays made() const { return on_device() ? Arrays(shape_, batch_, device_.data()) : host(); }
  View3<Real> recorded_values() { return {values_.data(), shape_.chains, shape_.slots, width_}; }

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
    begin_copy_to_host(place_, to.data + first * to.columns, from.data,
                       static_cast<std::size_t>(from.rows * from.columns) * sizeof(T));
  }
  template <class T>
  void copy_part(View3<T> to, View3<T> from, Count first) const {
    copy_part(View2<T>{to.data, to.planes, to.rows * to.columns}, {from.data, from.planes, from.rows * from.columns},
              first);
  }

  Place place_;
  Shape shape_;  ///< slots: of the window at hand
  Index batch_;
  Count capacity_;
  Buffer<char> host_, device_;  ///< device_: none on the CPU
  Count width_ = 0;
  std::vector<Real> values_;
  Buffer<WindowDigest> digest_, digest_on_host_;  ///< of the batch at hand
  Buffer<std::uint8_t> quarantined_;
  WindowDigest total_;  ///< of all batches
  std::int64_t first_iteration_ = 0, thin_ = 1;
  bool stays_ = false, has_records_ = false, settled_ = false;
};

}  // namespace kilochain
