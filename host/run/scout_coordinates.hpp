// Coordinates learnt before chains start: effects that another coordinate scales are centred as far as it helps
// (host/learn/learn_coordinates.hpp). Points about places, as far apart as draws, tell which effects those are, and
// how much data tell of them. Places are scouts', or where climbs ended: no draws, but priors are exact there.
// Cost: 4 n gradients, 2 n more for priors and 4 n for each coordinate that scales one; 4 n again where coordinates
// have to be tried, 2 n where climbs go on in them.
#pragma once
#include <vector>

#include "host/learn/learn_coordinates.hpp"
#include "host/run/phases.hpp"

namespace kilochain {

/// Whether any can be, and none have been.
template <class Real>
bool may_learn_coordinates(const Phases<Real>& run);

/// Of size 0 where the target's own are as good. Places: in those. Factor: of a metric there. Adds to `gradients`.
template <class Real>
LearntCoordinates coordinates_about(const Phases<Real>& run, const std::vector<std::vector<Real>>& places,
                                    const std::vector<double>& factor, std::int64_t& gradients);

/// In which to climb on; whether they help, only the climb can tell.
template <class Real>
class ClimbCoordinates {
 public:
  ClimbCoordinates(const Phases<Real>& run, std::int64_t& gradients) : run_(run), gradients_(gradients) {}
  /// What data tell is as at places that the run's coordinates have, which become the target's own. The first time,
  /// effects are looked for, too. Of size 0 where there are none.
  LearntCoordinates operator()(const std::vector<std::vector<Real>>& places, const std::vector<double>& factor);

 private:
  const Phases<Real>& run_;
  std::int64_t& gradients_;
  EffectGroups groups_;
  Eigen::VectorXd middle_;  ///< of points, where groups were looked at last; empty: they were not
};

}  // namespace kilochain
