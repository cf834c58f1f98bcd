// The samplers whose whole iterations are compiled with each model, so that they run in one kernel
// (host/chains/cuda_blocks.cuh): those that ask for no Hessian product, in float. Others, and those of another project,
// make rounds.
#pragma once
#include "host/chains/cuda_target.cuh"
#include "kernels/samplers/barker.hpp"
#include "kernels/samplers/ensemble_hmc.hpp"
#include "kernels/samplers/gad_mala_fast.hpp"
#include "kernels/samplers/gad_rwm.hpp"
#include "kernels/samplers/hmc.hpp"
#include "kernels/samplers/mala.hpp"
#include "kernels/samplers/nuts.hpp"
#include "kernels/samplers/rwm.hpp"

namespace kilochain {

template <class Real, class Model>
struct SamplersInside {
  using List = SamplerList<>;
};
template <class Model>
struct SamplersInside<float, Model> {
  template <class... More>
  using And = SamplerList<GadMalaFast<float>, Mala<float>, Barker<float>, Rwm<float>, GadRwm<float>, Hmc<float>,
                          Nuts<float>, More...>;
  /// The default where a block answers for several chains. Where a warp answers its own, nvcc keeps that sampler's
  /// fields in local memory.
  using List = std::conditional_t<BlockModel<Model, float>::by_warps, And<>, And<EnsembleHmc<float>>>;
};

}  // namespace kilochain
