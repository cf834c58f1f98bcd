// Where a run stands between two windows of its sampling phase: what it takes to go on with the same draws as if it had not
// stopped. Random numbers are a function of seed, chain and iteration, so no state of theirs is kept.
//   bytes: length of the JSON text, the text, then for each batch of chains the length of its checkpoint, the checkpoint
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "host/run/warmup.hpp"

namespace kilochain {

struct RunState {
  WarmedUp warm;
  std::int64_t iterations = 0, draws = 0;  ///< of each chain while sampling: made; kept
  std::int64_t wanted = 0;                 ///< iterations that the run was to make
  std::int64_t num_divergences = 0;
  double seconds = 0;                     ///< of sampling so far
  double value_of_first = NAN;            ///< see below
  std::vector<std::vector<char>> chains;  ///< Chains::save of each batch
};

std::vector<char> to_bytes(const RunState& state);
/// Throws Error (data) for what to_bytes has not made.
RunState run_state_of(const std::vector<char>& bytes, const std::string& path);

/// The state that a file of draws was left with; empty where the run ended in its warm-up. Throws Error (usage), saying why, where
/// there are draws and no state.
std::optional<RunState> read_run_state(const std::string& path);

/// The target's log density where the first chain stands; of a spin model the energy there.
template <class Real>
double value_of_first(const Phases<Real>& run);

/// Throws Error (data) where chains that were loaded stand on another target than when they were saved.
template <class Real>
void require_same_target(const Phases<Real>& run, const RunState& state);

}  // namespace kilochain
