// Repeats of one row: chains that adapt alone, side by side on one core, every draw in memory.
// Chain k draws the same whatever runs beside it, so a repeat can be timed alone as well.
// Layout of draws: (chain, draw, dim). Cost in memory: chains * num_samples * (dim + 3) * sizeof(Real).
#pragma once
#include <atomic>
#include <memory>

#include "host/run/ensemble.hpp"
#include "papers/titsias2019/paper.hpp"

namespace kilochain::titsias2019 {

/// Called from time to time with how many of the row's iterations (num_warmup + num_samples) are done.
using Tick = std::function<void(std::int64_t iterations)>;

template <class Real>
class Repeats {
 public:
  /// Chains first .. first + count - 1 of the seed. Throws Error when a chain cannot start.
  Repeats(const Setup& setup, Target<Real>& target, Index first, Index count, std::uint64_t seed,
          const std::atomic<bool>& stop);
  Repeats(const Repeats&) = delete;

  /// Runs the next `iterations` of the warm-up, or all that are left (-1). Counts go on until sample. False: stopped.
  bool warm_up(std::int64_t iterations, const Tick& tick = nullptr);
  /// Draws num_samples of every chain into memory. False when `stop` became true.
  bool sample(const Tick& tick = nullptr);
  /// Runs `iterations` after the warm-up that are not kept, to be timed.
  bool sample_unkept(std::int64_t iterations);

  double seconds() const { return seconds_; }  ///< of the loops so far, all chains together
  /// Draws of one coordinate of one chain: num_samples values.
  std::vector<double> draws(Index chain, Index coordinate) const;
  /// Log density after each iteration of the sampling phase.
  std::vector<double> lp(Index chain) const;
  /// Gradients of all chains in this phase: warm-up, or since it ended.
  std::int64_t gradients() const;
  double acceptance(Index chain) const;  ///< mean over the sampling phase
  Learnt learnt(Index chain) const;

 private:
  bool run(std::int64_t until, bool adapting, bool kept, const Tick& tick);
  void check_chains() const;
  const Setup& setup_;
  Context context_;
  Index first_;
  Tick tick_;  ///< of the run under way
  Reporter reporter_;
  std::unique_ptr<Ensemble<Real>> chains_;
  Windows<Real> windows_;  ///< one that holds all draws
  Window<Real> drawn_;
  std::int64_t iteration_ = 0;
  double seconds_ = 0;
};

extern template class Repeats<float>;
extern template class Repeats<double>;

}  // namespace kilochain::titsias2019
