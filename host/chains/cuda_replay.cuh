// A round's launches captured as a CUDA graph and replayed: one submission in place of several.
// What is captured must not allocate, copy to the host or wait; kernel arguments are frozen at capture.
#pragma once
#include <utility>

#include "kernels/device/launch.cuh"

namespace kilochain::cuda {

class Replay {
 public:
  explicit Replay(const Place& place) : place_(place) {}
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;
  ~Replay() {
    if (exec_) cudaGraphExecDestroy(exec_);
  }

  /// Records what body() launches on the context's stream, without running it. A graph of the same shape is updated in place.
  template <class F>
  void capture(F&& body) {
    const cudaStream_t stream = stream_of(place_);
    cudaGraph_t graph = nullptr;
    CUDA_CHECK(cudaSetDevice(place_.device));
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    capturing_ = true;
    try {
      body();
    } catch (...) {  // leave the stream usable
      capturing_ = false;
      cudaStreamEndCapture(stream, &graph);
      if (graph) cudaGraphDestroy(graph);
      cudaGetLastError();
      throw;
    }
    capturing_ = false;
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    if (exec_) {
      cudaGraphExecUpdateResultInfo info;
      if (cudaGraphExecUpdate(exec_, graph, &info) != cudaSuccess) {
        cudaGetLastError();
        cudaGraphExecDestroy(std::exchange(exec_, nullptr));
      }
    }
    const cudaError_t made = exec_ ? cudaSuccess : cudaGraphInstantiate(&exec_, graph, 0);
    cudaGraphDestroy(graph);
    CUDA_CHECK(made);
  }
  /// Whether body() is being recorded: nothing may wait then.
  bool capturing() const { return capturing_; }
  void launch() { CUDA_CHECK(cudaGraphLaunch(exec_, stream_of(place_))); }

 private:
  Place place_;
  bool capturing_ = false;
  cudaGraphExec_t exec_ = nullptr;
};

}  // namespace kilochain::cuda
