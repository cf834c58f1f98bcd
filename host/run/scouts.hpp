// Scouts find where the posterior is, before all chains share a proposal (docs/decisions/0031-arrival.md).
// A logistic regression needs none (row_start.hpp). Else starting points climb to where the mass begins (climb.hpp);
// in one of its places, where the posterior has several alike (find_symmetries.hpp).
// Where a normal law fits from there, chains begin at its draws (normal_arrival.hpp). Else each scout is a NUTS chain
// that adapts its own step: one in a bad place holds nobody else. They run until their log densities agree and stand
// still, or until a limit, with metrics learnt on the way (probes.hpp), and after a round in coordinates that undo a
// funnel (scout_coordinates.hpp). Scouts that stay far below the others go on from others' places after a round; they,
// and those that end there, are named by number.
// Cost: 16 chains times 32 iterations, of which the first 8 know no scales; twice as many again where they go on.
#pragma once
#include <string>
#include <vector>

#include "host/run/phases.hpp"

namespace kilochain {

template <class Real>
struct Scouted {
  Index scouts = 0;             ///< that ran
  std::int64_t iterations = 0;  ///< of each scout
  std::int64_t gradients = 0;   ///< of all scouts
  bool arrived = false;         ///< their log densities agree and stand still
  bool normal = false;          ///< a normal law fits from where climbs ended: none was sent
  bool rows = false;            ///< that law is of a regression's observations (row_start.hpp)
  bool interrupted = false;
  double seconds = 0, seconds_of_iteration = 0;  ///< of all; of one scout's in the last round
  std::string seen;                              ///< how many agree, when they were looked at last
  std::vector<std::int64_t> left;                ///< scouts that stood far below the others after a round, ascending
  double left_below = 0;                         ///< how far the lowest of them ended below the others, in log density
  Metric metric;                                 ///< from the scouts' draws
  std::vector<double> agreement;                 ///< of positions and gradients, where `rows`
  std::vector<double> symmetries;                ///< as numbers (symmetries.hpp); empty: none that matters
  std::vector<double> coordinates;               ///< of metric and points, as numbers; empty: the target's own
  std::vector<std::vector<Real>> points;         ///< of each scout that arrived: (draw, dim), late draws first
  /// The starting points of chains first .. first + count - 1: chain c begins where scout c mod points.size() was, with
  /// superchains where scout (c mod superchains) mod points.size() was.
  std::vector<Real> starts(Index first, Index count, Index dim, std::int64_t superchains = 0) const;
};

template <class Real>
class WarmupKeeper;

/// `stand`: where they stand, for the keeper's state; not empty: they go on from there. Throws Error (data) when no
/// scout can start.
template <class Real>
Scouted<Real> send_scouts(const Phases<Real>& run, WarmupKeeper<Real>& keeper, std::vector<std::uint8_t>& stand);

}  // namespace kilochain
