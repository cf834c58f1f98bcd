// Starting points: normal[:sd] | zeros | file:PATH.
#pragma once
#include "host/run/options.hpp"

namespace kilochain {

/// How often a point without a finite density or gradient is drawn again, as Stan does.
inline constexpr std::int64_t most_starts = 100;

/// Those of options.num_chains chains; a file is read once. normal: chain k's point depends on (seed, k) alone.
/// With superchains chain k begins where chain k mod superchains does.
/// Throws Error (usage) for an unknown form or a bad sd, (data) for a file of the wrong shape.
template <class Real>
class StartingPoints {
 public:
  StartingPoints(const Options& options, Index dim);
  /// (count, dim): of chains first .. first + count - 1.
  std::vector<Real> of(Index first, Index count) const;
  /// Where chains begin at zeros, every second scout begins at a point drawn about them: all would climb one way, and a
  /// mode that no scout has seen is seen by no audit.
  std::vector<Real> of_scouts(Index count) const;
  /// Another point for one chain, where its own has no finite density; attempt > 0. The same one where none is drawn.
  std::vector<Real> again(Index chain, std::int64_t attempt) const { return drawn(chain, 1, attempt); }
  bool are_drawn() const { return sd_ > 0; }

 private:
  std::vector<Real> drawn(Index first, Index count, std::int64_t attempt) const;

  std::uint64_t seed_;
  std::size_t dim_;
  std::int64_t superchains_;
  double sd_ = 0;             ///< 0: zeros, or the file's rows
  std::vector<Real> points_;  ///< (rows, dim): one row for all chains, or one for each; empty without a file
};

}  // namespace kilochain
