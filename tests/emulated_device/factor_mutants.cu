#include "host/chains/cuda_chains.cuh"
#include "kernels/samplers/gad_mala_fast.hpp"
#include "tests/emulated_device/factor_mutants.hpp"

namespace kilochain {
namespace {

template <TableMutant mutant>
struct Mutant : GadMalaFast<double> {
  using Base = GadMalaFast<double>;
  template <class V>
  static void products(V&& visit, const typename Base::Settings& s, bool adapting, const typename Base::State& st,
                       const Query<double>& query, const Reply<double>& reply) {
    Base::products(
        [&](Before when, Times times, const Row<double>& from, const Row<double>& to) {
          if (mutant == TableMutant::stale_drift && when == Before::draw) return;
          if (mutant == TableMutant::stale_gradient && when == Before::update) return;
          const bool other = mutant == TableMutant::swapped && when == Before::place;
          visit(when, other ? Times::transposed : times, from, to);
        },
        s, adapting, st, query, reply);
  }
};

template <TableMutant mutant>
std::unique_ptr<Chains<double>> make(const Context& context, Index num_chains, Index dim) {
  typename Mutant<mutant>::Settings settings;
  Mutant<mutant>::resolve(settings, Scope::pooled);
  auto chains = std::make_unique<CudaChains<Mutant<mutant>, double>>(context, num_chains, dim, Scope::pooled, settings);
  chains->multiply_together(true);
  return chains;
}

}  // namespace

std::unique_ptr<Chains<double>> make_mutant(const Context& context, TableMutant mutant, Index num_chains, Index dim) {
  switch (mutant) {
    case TableMutant::none:
      return make<TableMutant::none>(context, num_chains, dim);
    case TableMutant::swapped:
      return make<TableMutant::swapped>(context, num_chains, dim);
    case TableMutant::stale_drift:
      return make<TableMutant::stale_drift>(context, num_chains, dim);
    case TableMutant::stale_gradient:
      return make<TableMutant::stale_gradient>(context, num_chains, dim);
  }
  return nullptr;
}

}  // namespace kilochain
