// Compiled once for each spin sampler where CUDA is (cmake/Register.cmake): bound to every kind of board on CUDA, for
// itself and for tempering.
#define KILOCHAIN_SPIN_SAMPLER
#include "host/chains/cuda_replicas.cuh"
#include "host/chains/cuda_rows.cuh"
#include "host/registry/instantiate/entry.hpp"
#include "host/registry/spin_samplers.hpp"

namespace kilochain::discrete {

struct CudaBoards {  // not unnamed: nvcc warns of members that a sampler does not use
  using Interface = Replicas;
  static constexpr int stride = cuda::row_block;
  template <class Sampler, class Board>
  using Bound = std::conditional_t<in_rows<Board>, CudaRows<Sampler, Board, LoadedSpins>,
                                   CudaReplicas<Sampler, Board, LoadedSpins>>;
};

template <template <class> class Sampler, class Settings>
std::unique_ptr<Replicas> OnCuda::bind(const std::string& name, const Context& context, Index num_chains,
                                       const SpinModel& model, const Settings& settings, const Rungs& rungs) {
  return discrete::bind<Sampler, CudaBoards>(name, context, num_chains, model, settings, rungs);
}
template std::unique_ptr<Replicas> OnCuda::bind<KILOCHAIN_TYPE>(const std::string&, const Context&, Index,
                                                                const SpinModel&,
                                                                const KILOCHAIN_TYPE<GraphSpins>::Settings&,
                                                                const Rungs&);

namespace {

const RegisterCudaSampler registered(name, {{}, nullptr, replicas_on<OnCuda, KILOCHAIN_TYPE>(name)});

}  // namespace
}  // namespace kilochain::discrete
