// Chains of gad_mala_fast on a device whose table of products has one mistake.
#pragma once
#include <memory>

#include "host/chains/chains.hpp"

namespace kilochain {

enum class TableMutant { none, swapped, stale_drift, stale_gradient };

/// Pooled, by products of all chains, with the sampler's own settings.
std::unique_ptr<Chains<double>> make_mutant(const Context& context, TableMutant mutant, Index num_chains, Index dim);

}  // namespace kilochain
