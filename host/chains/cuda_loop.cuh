// Rounds that a device itself repeats until no chain waits, for samplers that ask a different number of times: a graph with one
// node, a loop (CUDA 12.4). A segment is one launch then, and the host learns nothing in between; what a round is follows from
// no number that only the host could know (Target::follows_asking).
#pragma once
#include "host/chains/cuda_replay.cuh"

namespace kilochain::cuda {

#if CUDART_VERSION >= 12040
/// Ends a round: `waiting` chains go on, or the loop does not.
template <class Handle>
__global__ void __launch_bounds__(32) end_round(int* waiting, Handle loop) {
  if (threadIdx.x != 0) return;
  if (*waiting == 0) cudaGraphSetConditional(loop, 0);
  *waiting = 0;
}
#endif

class Loop : public Captured {
 public:
  explicit Loop(const Place& place) : Captured(place) {
#if CUDART_VERSION >= 12040
    int driver = 0;
    able_ = cudaDriverGetVersion(&driver) == cudaSuccess && driver >= 12040;
#endif
  }
  /// Whether device and driver know such graphs; what they refuse at a capture they do not.
  bool able() const { return able_; }

  /// Records round(waiting), which adds to *waiting for every chain that waits at its end. At least one round is made at
  /// each launch. Nothing is recorded where it turns out that such graphs are not known.
  template <class F>
  void capture([[maybe_unused]] const RoundKind& kind, [[maybe_unused]] F&& round) {
#if CUDART_VERSION >= 12040
    kind_.reset();
    forget();
    CUDA_CHECK(set_device(place_.device));
    if (waiting_.size() == 0) waiting_ = Buffer<int>(place_, 32);
    CUDA_CHECK(cudaMemsetAsync(waiting_.data(), 0, sizeof(int), stream_of(place_)));
    CUDA_CHECK(cudaGraphCreate(&graph_, 0));  // it stays: its loop can be instantiated once only
    cudaGraphConditionalHandle loop;
    if (refused(cudaGraphConditionalHandleCreate(&loop, graph_, 1, cudaGraphCondAssignDefault))) return;
    cudaGraphNodeParams node = {};
    node.type = cudaGraphNodeTypeConditional;
    node.conditional.handle = loop;
    node.conditional.type = cudaGraphCondTypeWhile;
    node.conditional.size = 1;
    cudaGraphNode_t added;
#if CUDART_VERSION >= 13000
    if (refused(cudaGraphAddNode(&added, graph_, nullptr, nullptr, 0, &node))) return;
#else
    if (refused(cudaGraphAddNode(&added, graph_, nullptr, 0, &node))) return;
#endif
    CUDA_CHECK(cudaStreamBeginCaptureToGraph(stream_of(place_), node.conditional.phGraph_out[0], nullptr, nullptr, 0,
                                             cudaStreamCaptureModeThreadLocal));
    record([&] {
      round(waiting_.data());
      cuda::launch(place_, end_round<cudaGraphConditionalHandle>, dim3(1), 32, waiting_.data(), loop);
    });
    if (refused(cudaGraphInstantiate(&exec_, graph_, 0))) return;
    kind_ = kind;
#endif
  }

 private:
  bool refused([[maybe_unused]] cudaError_t status) {
    if (status != cudaErrorNotSupported && status != cudaErrorInvalidValue) {
      CUDA_CHECK(status);
      return false;
    }
    cudaGetLastError();
    able_ = false;
    return true;
  }

  bool able_ = false;
  Buffer<int> waiting_;
};

}  // namespace kilochain::cuda
