// The state of a run between two windows of a phase: what it takes to resume it with the same draws as if it had not
// stopped. Random numbers are a function of seed, chain and iteration, so no state of theirs is kept.
//   bytes: length of the JSON text, the text; within a warm-up length and bytes of what that knows; then for each batch
//   of chains length and bytes of its checkpoint
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "host/run/warmup.hpp"

namespace kilochain {

struct RunState {
  WarmedUp warm;
  std::int64_t iterations = 0, draws = 0;  ///< of each chain while sampling: made; kept
  std::int64_t wanted = 0;                 ///< iterations that the run was to make
  std::int64_t num_divergences = 0;
  double seconds = 0;                            ///< of sampling so far
  double value_of_first = NAN;                   ///< see below
  std::vector<std::vector<char>> chains;         ///< Ensemble::save
  std::vector<double> in_modes = {};             ///< draws of all chains in each of the modes laid over each other
  std::vector<std::uint8_t> within_warmup = {};  ///< WarmupKeeper::where as CBOR; empty: it was sampling
  /// What the run has read, as its file says; empty: an old file, which does not say it
  std::optional<std::vector<Input>> inputs = {};
};

std::vector<char> to_bytes(const RunState& state);
/// Throws Error (data) for what to_bytes has not made.
RunState run_state_of(const std::vector<char>& bytes, const std::string& path);

/// Whether options ask to resume a run that was stopped in its warm-up, or killed there.
inline bool resumes_warmup(const Options& o) { return o.resume && !o.resume->within_warmup.empty(); }

/// The last state in a file of draws; null where the run ended before it saved one. Throws Error (usage), saying why,
/// where there are draws and no state.
std::shared_ptr<const RunState> read_run_state(const std::string& path);

/// The target's log density at the first chain's position; of a model that has none to evaluate the first recorded
/// value, an energy.
template <class Real>
double value_of_first(const Phases<Real>& run);

/// Throws Error (data) where the target of chains that were loaded is another than when they were saved,
/// in code that no hash has seen.
template <class Real>
void require_same_target(const Phases<Real>& run, const RunState& state);

}  // namespace kilochain
