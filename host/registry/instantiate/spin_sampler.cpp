// Compiled once for each spin sampler (cmake/Register.cmake): bound to every kind of board, and its row in the registry.
#define KILOCHAIN_SPIN_SAMPLER
#include "host/registry/instantiate/entry.hpp"
#include "host/registry/spin_samplers.hpp"

namespace kilochain::discrete {
namespace {

SamplerEntry entry() {
  using Sampler = KILOCHAIN_TYPE<GraphSpins>;  // settings and names are the same on every board
  SamplerEntry e = spin_entry<Sampler>(name);
  e.make_replicas = replicas_on<OnCpu, KILOCHAIN_TYPE>(name);
  return e;
}

const RegisterSampler registered(entry());

}  // namespace
}  // namespace kilochain::discrete
