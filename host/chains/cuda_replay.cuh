// Rounds captured as a CUDA graph and replayed: one submission in place of many. Once for each kind of round: what
// changes from window to window lies in device memory. A graph holds addresses, so it is captured anew when device
// memory was given back since. What is captured must not allocate, copy to the host or wait.
#pragma once
#include <optional>
#include <utility>

#include "kernels/device/cuda_device.hpp"
#include "kernels/device/launch.cuh"

namespace kilochain::cuda {

/// What a captured round was made for.
struct RoundKind {
  const void* target;
  bool adapting, pools, together;  ///< together: products with a shared factor are
  std::uint64_t memory;            ///< memory_epoch() when it was captured
  bool operator==(const RoundKind&) const = default;
};

/// Several rounds, one after another.
class Replay {
 public:
  static constexpr std::int64_t rounds = 8;  ///< in one graph

  explicit Replay(const Place& place) : place_(place) {}
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;
  ~Replay() {
    if (exec_) cudaGraphExecDestroy(exec_);
  }

  bool holds(const RoundKind& kind) const { return exec_ && kind_ == kind; }
  /// Whether body() is being recorded: nothing may wait then.
  bool capturing() const { return capturing_; }
  void launch() { CUDA_CHECK(cudaGraphLaunch(exec_, stream_of(place_))); }

  /// Records what body() launches on the context's stream, without running it. A graph of the same shape is updated in
  /// place.
  template <class F>
  void capture(const RoundKind& kind, F&& body) {
    kind_.reset();
    CUDA_CHECK(set_device(place_.device));
    CUDA_CHECK(cudaStreamBeginCapture(stream_of(place_), cudaStreamCaptureModeThreadLocal));
    const cudaGraph_t graph = record(body);
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
    kind_ = kind;
  }

 private:
  /// Ends the capture that has begun in the place's stream.
  template <class F>
  cudaGraph_t record(F&& body) {
    const cudaStream_t stream = stream_of(place_);
    cudaGraph_t graph = nullptr;
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
    return graph;
  }

  Place place_;
  bool capturing_ = false;
  cudaGraphExec_t exec_ = nullptr;
  std::optional<RoundKind> kind_;
};

}  // namespace kilochain::cuda
