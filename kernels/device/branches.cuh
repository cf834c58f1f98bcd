// A graph with parts that the device runs if, or as long as, a number is not zero that its kernels set: conditional nodes of
// CUDA 12.4. What is launched on a place's stream while it is recorded becomes part of the graph.
//   record_graph(place, graph, body)   body(branches) launches, and calls
//   branches.condition()               the number of a part to come, which a kernel before that part must set, each time
//   branches.when(condition, part)     part() launches what runs if it is not zero
//   branches.repeat(condition, part)   the same as long as it is not zero
// A part is recorded where it stands: the recording before it ends, its own begins and ends, and the first goes on behind it,
// so that one stream (and whatever library works in it) is enough.
// Errors: NoBranches where this toolkit, driver or device does not know such nodes.
#pragma once
#include <vector>

#include "kernels/device/launch.cuh"

namespace kilochain::cuda {

struct NoBranches {};

#if CUDART_VERSION >= 12040
inline constexpr bool has_branches = true;
using Condition = cudaGraphConditionalHandle;
#else
inline constexpr bool has_branches = false;
using Condition = unsigned long long;
#endif

/// In a kernel of the graph.
__device__ __forceinline__ void set_condition([[maybe_unused]] Condition condition, [[maybe_unused]] bool value) {
#if CUDART_VERSION >= 12040
  cudaGraphSetConditional(condition, value ? 1u : 0u);
#endif
}

class Branches {
 public:
  Branches(const Branches&) = delete;
  Branches& operator=(const Branches&) = delete;
  ~Branches() {  // of a part that failed
    cudaGraph_t none = nullptr;
    if (!recording_) return;
    cudaStreamEndCapture(stream_, &none);
    cudaGetLastError();
  }
  /// at_launch: one that needs no kernel to set it first; it is not zero when the graph is launched.
  Condition condition([[maybe_unused]] bool at_launch = false) {
    Condition made{};
#if CUDART_VERSION >= 12040
    known(
        cudaGraphConditionalHandleCreate(&made, graph_, at_launch ? 1 : 0, at_launch ? cudaGraphCondAssignDefault : 0));
#endif
    return made;
  }
#if CUDART_VERSION >= 12040
  template <class Part>
  void when(Condition condition, Part&& part) {
    branch(cudaGraphCondTypeIf, condition, part);
  }
  template <class Part>
  void repeat(Condition condition, Part&& part) {
    branch(cudaGraphCondTypeWhile, condition, part);
  }
#else
  template <class Part>
  void when(Condition, Part&&) {
    throw NoBranches{};
  }
  template <class Part>
  void repeat(Condition, Part&&) {
    throw NoBranches{};
  }
#endif
  /// Passes what CUDA answers when it does not know such nodes, or not these kernels in them, on as NoBranches.
  static void known(cudaError_t status) {
    if (status == cudaErrorNotSupported || status == cudaErrorInvalidValue) {
      cudaGetLastError();
      throw NoBranches{};
    }
    CUDA_CHECK(status);
  }

 private:
  template <class Body>
  friend void record_graph(const Place& place, cudaGraph_t graph, Body&& body);
  explicit Branches(const Place& place) : stream_(stream_of(place)) {}

#if CUDART_VERSION >= 12040
  using Nodes = std::vector<cudaGraphNode_t>;
  void begin(cudaGraph_t graph, const Nodes& after) {
    CUDA_CHECK(cudaStreamBeginCaptureToGraph(stream_, graph, after.data(), nullptr, after.size(),
                                             cudaStreamCaptureModeThreadLocal));
    graph_ = graph, recording_ = true;
  }
  /// Returns what whatever comes next must wait for.
  Nodes end() {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaGraphNode_t* last = nullptr;
    std::size_t count = 0;
#if CUDART_VERSION >= 13000
    CUDA_CHECK(cudaStreamGetCaptureInfo(stream_, &status, nullptr, nullptr, &last, nullptr, &count));
#else
    CUDA_CHECK(cudaStreamGetCaptureInfo(stream_, &status, nullptr, nullptr, &last, &count));
#endif
    const Nodes nodes(last, last + count);  // before they go with the capture
    cudaGraph_t ended = nullptr;
    recording_ = false;
    CUDA_CHECK(cudaStreamEndCapture(stream_, &ended));
    return nodes;
  }
  template <class Part>
  void branch(cudaGraphConditionalNodeType type, Condition condition, Part& part) {
    const cudaGraph_t graph = graph_;
    const Nodes before = end();
    cudaGraphNodeParams node = {};
    node.type = cudaGraphNodeTypeConditional;
    node.conditional.handle = condition;
    node.conditional.type = type;
    node.conditional.size = 1;
    cudaGraphNode_t added;
#if CUDART_VERSION >= 13000
    known(cudaGraphAddNode(&added, graph, before.data(), nullptr, before.size(), &node));
#else
    known(cudaGraphAddNode(&added, graph, before.data(), before.size(), &node));
#endif
    begin(node.conditional.phGraph_out[0], {});
    part();
    end();
    begin(graph, {added});
  }
#endif

  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;  ///< what is being recorded
  bool recording_ = false;
};

/// Records into a graph that is empty. It must not allocate, copy to the host or wait, and each part must launch something.
template <class Body>
void record_graph([[maybe_unused]] const Place& place, [[maybe_unused]] cudaGraph_t graph,
                  [[maybe_unused]] Body&& body) {
#if CUDART_VERSION >= 12040
  CUDA_CHECK(set_device(place.device));
  Branches branches(place);
  branches.begin(graph, {});
  body(branches);
  branches.end();
#else
  throw NoBranches{};
#endif
}

}  // namespace kilochain::cuda
