// The values of one parameter in order, exact, and linear in time for usual draws.
// Each value becomes a 32-bit key: t = (x - centre) / scale, u = t / (1 + |t|), key = floor((u + 1) 2^31), monotone in
// floating point because every step is. Radix sort of key and index, then the few runs of equal keys are put in order
// by their values, so the result does not depend on how good centre and scale (from a sample) are.
// Cost: about 20 ns per draw for 2e7 draws; memory 16 n bytes of scratch beside the result.
#pragma once
#include <cstdint>
#include <utility>

#include "host/statistics/scratch.hpp"

namespace kilochain {

struct Sorted {
  Scratch<double> values;        ///< [n] ascending
  Scratch<std::uint32_t> index;  ///< [n] where each came from; equal values in no promised order
};

/// Sorts n finite values (a NaN has no place in an order: check first). Throws Error for n >= 2^32.
Sorted argsort(const double* values, std::int64_t n);

/// Centre and inverse width of the bulk of n > 0 values, from a sample: only speed depends on them.
std::pair<double, double> bulk_of(const double* values, std::int64_t n);

}  // namespace kilochain
