// The draws of a stretch of iterations, on the device where they are made and on the host where they are used.
// On the CPU both are the same memory. Layout (chain, capacity, dim), statistics (chain, capacity).
#pragma once
#include <limits>

#include "host/io/draws_file.hpp"
#include "host/run/sampler.hpp"

namespace kilochain {

template <class Real>
class DrawsBuffer {
 public:
  DrawsBuffer(const Context& context, Index num_chains, Index dim, std::int64_t capacity, int num_stats)
      : context_(context), chains_(static_cast<std::size_t>(num_chains)), dim_(static_cast<std::size_t>(dim)), capacity_(capacity), num_stats_(num_stats) {
    const std::size_t slots = chains_ * static_cast<std::size_t>(capacity);
    draws_ = Buffer<Real>(context, slots * dim_);
    lp_ = Buffer<double>(context, slots);
    acceptance_ = Buffer<float>(context, slots);
    diverging_ = Buffer<std::uint8_t>(context, slots);
    stats_ = Buffer<float>(context, slots * static_cast<std::size_t>(std::max(1, num_stats)));
    if (context.backend == Backend::cuda) {
      host_draws_.resize(slots * dim_), host_lp_.resize(slots), host_acceptance_.resize(slots), host_diverging_.resize(slots);
      host_stats_.resize(slots * static_cast<std::size_t>(std::max(1, num_stats)));
    }
  }
  static std::size_t bytes(std::int64_t num_chains, std::int64_t dim, std::int64_t capacity, int num_stats) {
    return static_cast<std::size_t>(num_chains * capacity) * (static_cast<std::size_t>(dim) * sizeof(Real) + 13 + 4 * static_cast<std::size_t>(num_stats));
  }
  std::int64_t capacity() const { return capacity_; }

  /// Where iterations leave their draws: the first kept one is `first_iteration + thin - 1`.
  Recording<Real> recording(std::int64_t first_iteration, std::int64_t thin) {
    return {draws_.data(), lp_.data(), acceptance_.data(), diverging_.data(), stats_.data(), capacity_, first_iteration, static_cast<std::int32_t>(thin), true};
  }
  /// Brings a filled window to the host and marks what quarantined chains did not draw (slots from[chain]..) as NaN.
  Window fetch(std::int64_t count, const std::vector<std::int64_t>& from) {
    if (context_.backend == Backend::cuda) {
      draws_.download(host_draws_.data()), lp_.download(host_lp_.data()), acceptance_.download(host_acceptance_.data());
      diverging_.download(host_diverging_.data()), stats_.download(host_stats_.data());
    }
    const bool own = context_.backend == Backend::cuda;
    Real* draws = own ? host_draws_.data() : draws_.data();
    double* lp = own ? host_lp_.data() : lp_.data();
    float* acceptance = own ? host_acceptance_.data() : acceptance_.data();
    std::uint8_t* diverging = own ? host_diverging_.data() : diverging_.data();
    for (std::size_t c = 0; c < chains_; ++c)
      for (std::int64_t s = std::max<std::int64_t>(0, from[c]); s < count; ++s) {
        const std::size_t at = c * static_cast<std::size_t>(capacity_) + static_cast<std::size_t>(s);
        std::fill_n(draws + at * dim_, dim_, std::numeric_limits<Real>::quiet_NaN());
        lp[at] = std::numeric_limits<double>::quiet_NaN();
        acceptance[at] = std::numeric_limits<float>::quiet_NaN();
        diverging[at] = 0;
      }
    return {draws, lp, acceptance, diverging, num_stats_ ? (own ? host_stats_.data() : stats_.data()) : nullptr, capacity_};
  }

 private:
  const Context& context_;
  std::size_t chains_, dim_;
  std::int64_t capacity_;
  int num_stats_;
  Buffer<Real> draws_;
  Buffer<double> lp_;
  Buffer<float> acceptance_;
  Buffer<std::uint8_t> diverging_;
  Buffer<float> stats_;
  std::vector<Real> host_draws_;
  std::vector<double> host_lp_;
  std::vector<float> host_acceptance_;
  std::vector<std::uint8_t> host_diverging_;
  std::vector<float> host_stats_;
};

}  // namespace kilochain
