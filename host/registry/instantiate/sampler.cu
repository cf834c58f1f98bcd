// Compiled once for each sampler where CUDA is (cmake/Register.cmake): its chains on CUDA, in both precisions.
#include "host/chains/cuda_chains.cuh"
#include "host/registry/instantiate/sampler_makers.hpp"

namespace kilochain {
namespace {

const RegisterSampler registered(name, MakersOf<CudaChains>::all());

}  // namespace
}  // namespace kilochain
