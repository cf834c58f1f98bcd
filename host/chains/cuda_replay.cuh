// A round's launches captured as a CUDA graph and replayed: one submission in place of several.
// What is captured must not allocate, copy to the host or wait; kernel arguments are frozen at capture.
#pragma once
#include "kernels/device/launch.cuh"

namespace kilochain::cuda {

class Replay {
 public:
  explicit Replay(const Context& context) : context_(context) {}
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;
  ~Replay() {
    if (exec_) cudaGraphExecDestroy(exec_);
  }

  /// Records what body() launches on the context's stream, without running it. A graph of the same shape is updated in place.
  template <class F>
  void capture(F&& body) {
    const cudaStream_t stream = stream_of(context_);
    cudaGraph_t graph = nullptr;
    CUDA_CHECK(cudaSetDevice(context_.device));
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    try {
      body();
    } catch (...) {  // leave the stream usable
      cudaStreamEndCapture(stream, &graph);
      if (graph) cudaGraphDestroy(graph);
      cudaGetLastError();
      throw;
    }
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    if (exec_) {
      cudaGraphExecUpdateResultInfo info;
      if (cudaGraphExecUpdate(exec_, graph, &info) != cudaSuccess) {
        cudaGetLastError();
        cudaGraphExecDestroy(exec_);
        exec_ = nullptr;
      }
    }
    const cudaError_t made = exec_ ? cudaSuccess : cudaGraphInstantiate(&exec_, graph, 0);
    cudaGraphDestroy(graph);
    CUDA_CHECK(made);
  }
  void launch() { CUDA_CHECK(cudaGraphLaunch(exec_, stream_of(context_))); }

 private:
  const Context& context_;
  cudaGraphExec_t exec_ = nullptr;
};

}  // namespace kilochain::cuda
