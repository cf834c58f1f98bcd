// Compiled once for each spin sampler (cmake/Register.cmake): bound to every kind of board, and its row in the registry.
#include "host/registry/spin_samplers.hpp"

#define KILOCHAIN_STRING2(x) #x
#define KILOCHAIN_STRING(x) KILOCHAIN_STRING2(x)

namespace kilochain::discrete {
namespace {

SamplerEntry entry() {
  using Sampler = KILOCHAIN_TYPE<GraphSpins>;  // settings and names are the same on every board
  const std::string name = KILOCHAIN_STRING(KILOCHAIN_NAME);
  SamplerEntry e = spin_entry<Sampler>(name);
  e.make_replicas = replicas_on<OnCpu, KILOCHAIN_TYPE>(name);
  return e;
}

const RegisterSampler registered(entry());

}  // namespace
}  // namespace kilochain::discrete
