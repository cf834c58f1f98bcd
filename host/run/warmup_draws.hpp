// The last draws of a warm-up, in memory.
#pragma once
#include <cstdint>
#include <vector>

namespace kilochain {

/// A few hundred of each chain at most; of a quarantined one NaN.
struct WarmupDraws {
  std::vector<std::int64_t> iterations;  ///< of the warm-up, counted from 0: one for each draw
  std::vector<double> draws, lp;         ///< (chain, draw, recorded value), (chain, draw)
  std::vector<float> acceptance_rate;    ///< (chain, draw)
  bool of_scouts = false;                ///< in place of the chains, which had not begun
};

}  // namespace kilochain
