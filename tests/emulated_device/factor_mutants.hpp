// Chains on a device whose sampler's table of products has one mistake.
#pragma once
#include <memory>

#include "host/chains/chains.hpp"

namespace kilochain {

enum class TableMutant { none, swapped, stale_drift, stale_gradient };

/// Of gad_mala_fast: pooled, by products of all chains, with the sampler's own settings.
std::unique_ptr<Chains<double>> make_mutant(const Context& context, TableMutant mutant, Index num_chains, Index dim);
/// Of hmc with a dense mass, three steps of 0.3.
std::unique_ptr<Chains<double>> make_hmc_mutant(const Context& context, TableMutant mutant, Index num_chains,
                                                Index dim);

}  // namespace kilochain
