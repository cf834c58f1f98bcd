// What a stretch of sampling hands on: a window of draws, and where trajectories diverged.
#pragma once
#include <cstdint>
#include <vector>

namespace kilochain {

/// What is kept of a run's draws: every one, what the summary needs, or nothing.
enum class KeptDraws { all, moments, none };
inline constexpr const char* kept_draws_names[] = {"all", "moments", "none"};  ///< in the order of KeptDraws
constexpr const char* name_of(KeptDraws kept) { return kept_draws_names[static_cast<int>(kept)]; }

/// Where a trajectory went wrong: the draw that was being made (the flag `diverging` of it is set), and the point at which
/// the energy error or the density was found to be out of bounds.
struct Divergence {
  std::int64_t chain, draw;
  std::vector<double> point;  ///< one value for each name
};

/// A window of draws in the sampler's buffers, chain-major; draw t of the window is at index t of each chain.
struct Window {
  const void* draws = nullptr;              ///< [chain][capacity][dim], header.real; unused for warm-up
  const double* lp = nullptr;               ///< [chain][capacity]
  const float* acceptance_rate = nullptr;   ///< [chain][capacity]
  const std::uint8_t* diverging = nullptr;  ///< [chain][capacity], 0 or 1
  const float* stats = nullptr;             ///< [stat][chain][capacity]; null when header.stats is empty
  std::int64_t capacity = 0;                ///< draws from one chain to the next
};

}  // namespace kilochain
