// Which device and precision a run uses, and whether it fits there.
#pragma once
#include "host/run/run.hpp"

namespace kilochain {

/// auto: CUDA when a device can be used, else the CPU with a note. Throws Error (usage) for an unknown or unusable device.
Context choose_device(const Options& options, std::vector<std::string>& notes);
/// Default: double on the CPU, float on CUDA.
Precision choose_precision(const Options& options, const Context& context);
/// Draws of one window: enough to be written in large pieces, few enough to stay small in memory.
std::int64_t window_draws(std::int64_t num_chains, std::int64_t dim, std::int64_t num_draws, std::size_t real_bytes);
/// The accounting of a run whose target is loaded; without a predicted time.
Estimate estimate_for(const Options& options, const Context& context, const TargetInfo& info, Precision precision);
/// Throws Error (usage) with the table when the estimate does not fit.
void refuse_if_too_large(const Options& options, const Estimate& estimate);
/// Whether draws are stored, which needs an output and draws = all.
inline bool stores_draws(const Options& o) { return !o.output.empty() && o.draws == KeptDraws::all; }
/// Whether streaming statistics make the summary.
inline bool streams(const Options& o) {
  return o.draws == KeptDraws::moments || (o.draws == KeptDraws::all && o.output.empty());
}

/// What automatic num_warmup and num_samples stop at.
inline constexpr std::int64_t most_automatic_warmup = 20000, most_automatic_samples = 20000;

}  // namespace kilochain
