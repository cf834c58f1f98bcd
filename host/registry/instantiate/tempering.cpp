// tempering in the registry: bound to every spin sampler on every kind of board.
#include "host/registry/tempering.hpp"

namespace kilochain::discrete {
namespace {

SamplerEntry entry() {
  SamplerEntry e = spin_entry<Tempering>("tempering");
  e.make_replicas = tempered<OnCpu>;
  return e;
}

const RegisterSampler registered(entry());
#if defined(KILOCHAIN_HAS_CUDA)
const RegisterCudaSampler on_cuda("tempering", {{}, nullptr, tempered<OnCuda>});
#endif

}  // namespace
}  // namespace kilochain::discrete
