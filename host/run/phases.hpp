// What the phases of a run share. Each phase owns what it needs besides and hands on a value: WarmedUp, then Sampled.
#pragma once
#include "host/run/batches.hpp"
#include "host/run/output_file.hpp"

namespace kilochain {

template <class Real>
struct Phases {
  const Options& options;
  const Context& context;
  Target<Real>& target;
  Batches<Real>& batches;
  OutputFile& file;
  Reporter& reporter;
  const std::atomic<bool>& stop;

  Index dim() const { return target.info().dim; }
  /// Values recorded of each draw: the coordinates, or what the target makes of them.
  Index recorded() const { return static_cast<Index>(target.info().names.size()); }
  int num_stats() const { return static_cast<int>(find_sampler(options.sampler).stats.size()); }
  DrawsBuffer<Real> buffer(std::int64_t capacity, Recorded what) const {
    return {context, batches.num_chains(), batches.batch_size(), dim(), capacity, num_stats(), what};
  }
  /// Draws in a window of this run.
  std::int64_t window(std::int64_t num_draws) const {
    return window_draws(options.num_chains, window_values(options, target.info(), precision_of<Real>), num_draws,
                        precision_of<Real>);
  }
};

/// How many of a window's draws each chain has made: after its quarantine it makes none, and they read as NaN.
struct DrawsMade {
  std::int64_t count;                  ///< of the window
  std::vector<std::int64_t> by_chain;  ///< at most count

  static DrawsMade all(std::int64_t num_chains, std::int64_t count) {
    return {count, std::vector<std::int64_t>(static_cast<std::size_t>(num_chains), count)};
  }
  /// The window began with iteration `first`.
  static DrawsMade until_quarantine(const std::vector<ChainControl>& controls, std::int64_t first, std::int64_t thin,
                                    std::int64_t count) {
    DrawsMade made{count, {}};
    for (const auto& c : controls)
      made.by_chain.push_back(c.status == ChainStatus::running ? count : (c.iteration - first) / thin);
    return made;
  }
};

}  // namespace kilochain
