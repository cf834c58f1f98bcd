// Replicas of a spin model on CUDA: a warp for each chain, from its segment's first iteration to its last in one launch.
// The body is the CPU's (replicas.hpp). A chain's state stays in its own stretch of device memory, which the caches hold.
#pragma once
#include "host/chains/replicas.hpp"
#include "kernels/device/launch.cuh"

namespace kilochain::discrete {
namespace cuda {

template <class Sampler, class Board>
__global__ void __launch_bounds__(kilochain::cuda::max_block, 1)
    advance_replicas(const __grid_constant__ ReplicasView<Sampler, Board> replicas,
                     const __grid_constant__ SpinsView view, const __grid_constant__ SpinSegment segment, Index first,
                     Index last) {
  const Index chain = kilochain::cuda::chain_of_warp(first);
  if (chain < last) advance_replica(WarpTeam{}, replicas.replica, replicas.of(chain), view, segment, chain);
}

template <class Sampler, class Board>
__global__ void __launch_bounds__(kilochain::cuda::max_block, 1)
    tell_replicas(const __grid_constant__ ReplicasView<Sampler, Board> replicas, const __grid_constant__ SpinsView view,
                  double* to, Index first, Index last) {
  const Index chain = kilochain::cuda::chain_of_warp(first);
  if (chain < last) tell_replica(WarpTeam{}, replicas.board(chain), view, to, chain);
}

}  // namespace cuda

/// Owner: keeps the model's arrays alive.
template <class Sampler, class Board, class Owner>
class CudaReplicas final : public Replicas {
 public:
  CudaReplicas(const Context& context, Index num_chains, Replica<Sampler, Board> replica, std::shared_ptr<Owner> owner)
      : place_(context),
        owner_(std::move(owner)),
        num_chains_(num_chains),
        memory_(context, bytes_of(replica) * static_cast<std::size_t>(num_chains), "state of the chains"),
        view_{replica, memory_.data(), bytes_of(replica)} {}
  static std::size_t bytes_of(const Replica<Sampler, Board>& replica) { return (replica.bytes() + 127) / 128 * 128; }

  void advance(const SpinsView& view, const SpinSegment& segment, Index first, Index last) override {
    kilochain::cuda::for_each_chain(place_, cuda::advance_replicas<Sampler, Board>, first, last, view_, view, segment);
  }
  void tell(const SpinsView& view, double* to) override {
    kilochain::cuda::for_each_chain(place_, cuda::tell_replicas<Sampler, Board>, 0, num_chains_, view_, view, to);
  }
  Buffer<char>& memory() override { return memory_; }
  std::size_t bytes(Index num_chains) const override { return view_.bytes * static_cast<std::size_t>(num_chains); }

 private:
  Place place_;
  std::shared_ptr<Owner> owner_;
  Index num_chains_;
  Buffer<char> memory_;
  ReplicasView<Sampler, Board> view_;
};

}  // namespace kilochain::discrete
