// Starting points: normal[:sd] | zeros | file:PATH.
#pragma once
#include "host/run/options.hpp"

namespace kilochain {

/// Those of options.num_chains chains; a file is read once. normal: chain k's point depends on (seed, k) alone.
/// Throws Error (usage) for an unknown form or a bad sd, (data) for a file of the wrong shape.
template <class Real>
class StartingPoints {
 public:
  StartingPoints(const Options& options, Index dim);
  /// (count, dim): of chains first .. first + count - 1.
  std::vector<Real> of(Index first, Index count) const;

 private:
  std::uint64_t seed_;
  std::size_t dim_;
  double sd_ = 0;             ///< 0: zeros, or the file's rows
  std::vector<Real> points_;  ///< (rows, dim): one row for all chains, or one for each; empty without a file
};

}  // namespace kilochain
