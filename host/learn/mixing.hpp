// What a trial of trajectories is judged by: how quickly draws become new.
#pragma once
#include "host/learn/audit.hpp"

namespace kilochain {

/// Independent draws that one iteration of a chain is worth: (1 - rho)/(1 + rho), rho the correlation of neighbouring
/// draws, of f = x_i and |x_i - mean|, the slowest eighth together; or with `along` of the directions in which draws
/// are widest by the metric, if that is less: where it fits them, those are its noise. Unlike an effective sample size
/// it tells slow from slower where no chain crosses the posterior within the block.
/// factor: (dim, dim), lower, row-major. Of thinned blocks: of one kept draw.
template <class Real>
double mixing_of(const FrozenDraws<Real>& draws, const std::vector<double>& factor, bool along = true);

/// Of a law whose draws a normal proposes, how many draws a chain stands, on average, at the worst of these places:
/// where the normal's density is small beside the law's. factor, mean: of the normal.
template <class Real>
double longest_stay(const FrozenDraws<Real>& draws, const std::vector<double>& factor, const std::vector<double>& mean);

/// Whether many trajectories were made again with finer steps, and in all chains alike: then a rejection is cheaper. In
/// a funnel's neck it is always the same chains, which do not come out without.
template <class Real>
bool finer_for_all(const FrozenDraws<Real>& draws);

/// Whether the log density rises or falls between the halves of a block: surely, and by half of what it differs by
/// between chains.
template <class Real>
bool still_moves(const FrozenDraws<Real>& block);

}  // namespace kilochain
