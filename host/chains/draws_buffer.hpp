// The draws of a stretch of iterations, on the device where they are made and on the host where they are used.
// On the CPU both are the same memory. On CUDA the device holds the chains of one batch, the host those of all batches.
// Layout (chain, capacity, dim), statistics (chain, capacity), the sampler's own (stat, chain, capacity). Of a chain's
// divergences in a window the first few are kept with the points where they were found.
#pragma once
#include <algorithm>
#include <deque>
#include <exception>
#include <functional>
#include <limits>

#include "host/chains/chains.hpp"
#include "host/chains/window.hpp"

namespace kilochain {

template <class Real>
class DrawsBuffer {
 public:
  DrawsBuffer(const Context& context, Index num_chains, Index batch, Index dim, std::int64_t capacity, int num_stats)
      : context_(context),
        batch_(static_cast<std::size_t>(batch)),
        dim_(static_cast<std::size_t>(dim)),
        capacity_(capacity),
        num_stats_(num_stats),
        host_(cpu_context(1), static_cast<std::size_t>(num_chains), kept_divergences(num_chains), dim_,
              static_cast<std::size_t>(capacity), num_stats) {
    if (context.backend == Backend::cuda)
      device_.emplace_back(context, batch_, kept_divergences(num_chains), dim_, static_cast<std::size_t>(capacity),
                           num_stats);
  }
  static std::size_t bytes(std::int64_t num_chains, std::int64_t dim, std::int64_t capacity, int num_stats) {
    return static_cast<std::size_t>(num_chains * capacity) *
               (static_cast<std::size_t>(dim) * sizeof(Real) + 13 + 4 * static_cast<std::size_t>(num_stats)) +
           static_cast<std::size_t>(num_chains) * kept_divergences(num_chains) *
               (static_cast<std::size_t>(dim) * sizeof(Real) + 8);
  }
  /// Divergences of each chain that a window has room for: 1000 of all chains, at least 1 and at most 100 of each.
  static std::size_t kept_divergences(std::int64_t num_chains) {
    return static_cast<std::size_t>(std::clamp<std::int64_t>(1000 / num_chains, 1, 100));
  }
  std::int64_t capacity() const { return capacity_; }

  /// Forgets the divergences of the batch that begins with chain `first_chain`: before each window.
  void clear(Index first_chain) {
    Arrays& to = device_.empty() ? host_ : device_[0];
    const std::size_t chain = device_.empty() ? static_cast<std::size_t>(first_chain) : 0;
    const std::vector<std::int64_t> none(std::min(batch_, to.chains - chain) * to.kept, 0);
    copy_to_device(to.home, to.diverged.data() + chain * to.kept, none.data(), none.size() * sizeof(std::int64_t));
  }
  /// Where the batch that begins with chain `first_chain` leaves its draws: the first kept one is `first_iteration + thin - 1`.
  Recording<Real> recording(Index first_chain, std::int64_t first_iteration, std::int64_t thin) {
    const bool on_device = !device_.empty();
    Arrays& to = on_device ? device_[0] : host_;
    const std::size_t chain = on_device ? 0 : static_cast<std::size_t>(first_chain),
                      at = chain * static_cast<std::size_t>(capacity_);
    return {to.draws.data() + at * dim_,
            to.lp.data() + at,
            to.acceptance.data() + at,
            to.diverging.data() + at,
            to.stats.data() + at,
            static_cast<std::int64_t>(to.chains) * capacity_,
            capacity_,
            first_iteration,
            static_cast<std::int32_t>(thin),
            true,
            to.diverged.data() + chain * to.kept,
            to.diverged_at.data() + chain * to.kept * dim_,
            static_cast<std::int32_t>(to.kept)};
  }
  /// Brings the batch's part of a filled window to the host.
  void collect(Index first_chain) {
    if (device_.empty()) return;
    const Arrays& from = device_[0];
    const std::size_t at = static_cast<std::size_t>(first_chain) * static_cast<std::size_t>(capacity_),
                      slots = batch_ * static_cast<std::size_t>(capacity_);
    copy_to_host(context_, host_.draws.data() + at * dim_, from.draws.data(), slots * dim_ * sizeof(Real));
    copy_to_host(context_, host_.lp.data() + at, from.lp.data(), slots * sizeof(double));
    copy_to_host(context_, host_.acceptance.data() + at, from.acceptance.data(), slots * sizeof(float));
    copy_to_host(context_, host_.diverging.data() + at, from.diverging.data(), slots);
    const std::size_t first = static_cast<std::size_t>(first_chain) * host_.kept, count = batch_ * host_.kept;
    copy_to_host(context_, host_.diverged.data() + first, from.diverged.data(), count * sizeof(std::int64_t));
    copy_to_host(context_, host_.diverged_at.data() + first * dim_, from.diverged_at.data(),
                 count * dim_ * sizeof(Real));
    for (int k = 0; k < num_stats_; ++k)
      copy_to_host(
          context_,
          host_.stats.data() + static_cast<std::size_t>(k) * host_.chains * static_cast<std::size_t>(capacity_) + at,
          from.stats.data() + static_cast<std::size_t>(k) * slots, slots * sizeof(float));
  }
  /// Values recorded in place of the coordinates, (chain, capacity, width), of `count` draws. The window then holds these.
  void record(std::int64_t count, std::size_t width, const std::function<void(const double*, double*)>& constrain,
              int threads) {
    recorded_width_ = width;
    recorded_.resize(host_.chains * static_cast<std::size_t>(capacity_) * width);
    std::exception_ptr failure;  // of the model: an exception must not leave an OpenMP region
#pragma omp parallel for num_threads(threads)
    for (std::size_t c = 0; c < host_.chains; ++c) {
      try {
        std::vector<double> x(dim_), values(width);
        for (std::int64_t s = 0; s < count; ++s) {
          const std::size_t at = c * static_cast<std::size_t>(capacity_) + static_cast<std::size_t>(s);
          std::copy_n(host_.draws.data() + at * dim_, dim_, x.begin());
          constrain(x.data(), values.data());
          for (std::size_t i = 0; i < width; ++i) recorded_[at * width + i] = static_cast<Real>(values[i]);
        }
      } catch (...) {
#pragma omp critical(kilochain_record_failure)
        failure = std::current_exception();
      }
    }
    if (failure) std::rethrow_exception(failure);
  }
  /// The divergences of a window of `count` draws, in the order of draws (counted from the window's first) and chains.
  std::vector<Divergence> divergences(std::int64_t count) const {
    std::vector<Divergence> out;
    for (std::size_t k = 0; k < host_.chains * host_.kept; ++k) {
      const std::int64_t slot = host_.diverged.data()[k] - 1;
      if (slot < 0 || slot >= count) continue;
      const Real* point = host_.diverged_at.data() + k * dim_;
      out.push_back({static_cast<std::int64_t>(k / host_.kept), slot, {point, point + dim_}});
    }
    std::stable_sort(out.begin(), out.end(), [](const Divergence& a, const Divergence& b) { return a.draw < b.draw; });
    return out;
  }
  /// The window on the host. What quarantined chains did not draw (slots from[chain] .. count - 1) becomes NaN.
  Window window(std::int64_t count, const std::vector<std::int64_t>& from) {
    for (std::size_t c = 0; c < host_.chains; ++c)
      for (std::int64_t s = std::max<std::int64_t>(0, from[c]); s < count; ++s) {
        const std::size_t at = c * static_cast<std::size_t>(capacity_) + static_cast<std::size_t>(s);
        const auto nan = std::numeric_limits<Real>::quiet_NaN();
        if (recorded_width_ > 0)
          std::fill_n(recorded_.data() + at * recorded_width_, recorded_width_, nan);
        else
          std::fill_n(host_.draws.data() + at * dim_, dim_, nan);
        host_.lp.data()[at] = std::numeric_limits<double>::quiet_NaN();
        host_.acceptance.data()[at] = std::numeric_limits<float>::quiet_NaN();
        host_.diverging.data()[at] = 0;
      }
    return {recorded_width_ > 0 ? recorded_.data() : host_.draws.data(),
            host_.lp.data(),
            host_.acceptance.data(),
            host_.diverging.data(),
            num_stats_ ? host_.stats.data() : nullptr,
            capacity_};
  }

 private:
  struct Arrays {
    Arrays(const Context& context, std::size_t chains_, std::size_t kept_, std::size_t dim, std::size_t capacity,
           int num_stats)
        : chains(chains_),
          kept(kept_),
          home(context),
          draws(home, chains * capacity * dim),
          lp(home, chains * capacity),
          acceptance(home, chains * capacity),
          diverging(home, chains * capacity),
          stats(home, chains * capacity * static_cast<std::size_t>(std::max(1, num_stats))),
          diverged(home, chains * kept),
          diverged_at(home, chains * kept * dim) {}
    Arrays(const Arrays&) = delete;
    std::size_t chains, kept;  ///< kept: divergences of each chain
    Context home;              ///< buffers keep a reference to it
    Buffer<Real> draws;
    Buffer<double> lp;
    Buffer<float> acceptance;
    Buffer<std::uint8_t> diverging;
    Buffer<float> stats;
    Buffer<std::int64_t> diverged;
    Buffer<Real> diverged_at;
  };
  const Context& context_;
  std::size_t batch_, dim_;
  std::int64_t capacity_;
  int num_stats_;
  Arrays host_;
  std::size_t recorded_width_ = 0;
  std::vector<Real> recorded_;
  std::deque<Arrays> device_;  ///< one on CUDA, none on the CPU
};

}  // namespace kilochain
