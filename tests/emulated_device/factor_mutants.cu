#include "host/chains/cuda_chains.cuh"
#include "kernels/samplers/gad_mala_fast.hpp"
#include "kernels/samplers/hmc.hpp"
#include "tests/emulated_device/factor_mutants.hpp"

namespace kilochain {
namespace {

template <class Base, TableMutant mutant>
struct Mutant : Base {
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

template <class Base, TableMutant mutant>
std::unique_ptr<Chains<double>> make(const Context& context, Index num_chains, Index dim,
                                     typename Base::Settings settings) {
  using Sampler = Mutant<Base, mutant>;
  Sampler::resolve(settings, Scope::pooled);
  auto chains = std::make_unique<CudaChains<Sampler, double>>(context, num_chains, dim, Scope::pooled, settings);
  chains->multiply_together(true);
  return chains;
}

template <class Base>
std::unique_ptr<Chains<double>> make(const Context& context, TableMutant mutant, Index num_chains, Index dim,
                                     const typename Base::Settings& settings) {
  switch (mutant) {
    case TableMutant::none:
      return make<Base, TableMutant::none>(context, num_chains, dim, settings);
    case TableMutant::swapped:
      return make<Base, TableMutant::swapped>(context, num_chains, dim, settings);
    case TableMutant::stale_drift:
      return make<Base, TableMutant::stale_drift>(context, num_chains, dim, settings);
    case TableMutant::stale_gradient:
      return make<Base, TableMutant::stale_gradient>(context, num_chains, dim, settings);
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<Chains<double>> make_mutant(const Context& context, TableMutant mutant, Index num_chains, Index dim) {
  return make<GadMalaFast<double>>(context, mutant, num_chains, dim, {});
}
std::unique_ptr<Chains<double>> make_hmc_mutant(const Context& context, TableMutant mutant, Index num_chains,
                                                Index dim) {
  Hmc<double>::Settings settings;
  settings.mass = Mass::dense;
  settings.step_size = 0.3;
  settings.num_steps = 3;
  return make<Hmc<double>>(context, mutant, num_chains, dim, settings);
}

}  // namespace kilochain
