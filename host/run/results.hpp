// What a run ends with: the file completed, the draws summarised, everything in one Result.
#pragma once
#include "host/run/sampling.hpp"

namespace kilochain {

/// Takes the draws out of `sampled`.
template <class Real>
Result results(const Phases<Real>& run, const WarmedUp& warm, Sampled<Real>& sampled);

/// Of sampling that goes on, with the draws in memory.
template <class Real>
Result results_so_far(const Phases<Real>& run, const WarmedUp& warm, const Sampled<Real>& sampled);

}  // namespace kilochain
