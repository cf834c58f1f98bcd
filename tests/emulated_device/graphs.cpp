// Graphs: nodes hold copies of their arguments, so what changes after a capture changes nothing in them.
#include <algorithm>

#include "tests/emulated_device/streams.hpp"

using namespace kilochain::emulated;

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  KC_ENTER(cudaErrorMemoryAllocation);
  if (!graph) return refuse(cudaErrorInvalidValue, "no graph to instantiate");
  *exec = new GraphExec{graph->nodes};
  ++state().counters.instantiations, ++state().living.execs;
  return cudaSuccess;
}

/// As CUDA: the same nodes with the same edges; a copy keeps its direction, a kernel may be another.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
  KC_ENTER();
  *info = {};
  if (mutant_strikes(Mutant::graph_update)) return cudaSuccess;
  if (exec->nodes.size() != graph->nodes.size()) {
    info->result = cudaGraphExecUpdateErrorTopologyChanged;
    return state().last = cudaErrorGraphExecUpdateFailure;
  }
  for (std::size_t k = 0; k < graph->nodes.size(); ++k) {
    const Node &was = exec->nodes[k], &is = graph->nodes[k];
    if (was.after != is.after) info->result = cudaGraphExecUpdateErrorTopologyChanged;
    if (was.work.kind != is.work.kind || was.work.detail != is.work.detail)
      info->result = cudaGraphExecUpdateErrorNodeTypeChanged;
    if (info->result != cudaGraphExecUpdateSuccess) return state().last = cudaErrorGraphExecUpdateFailure;
  }
  exec->nodes = graph->nodes;
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  KC_ENTER();
  if (!exec || !stream) return refuse(cudaErrorInvalidResourceHandle, "no graph to launch, or no stream");
  if (stream->capture)
    return forbid_in_capture("a graph's launch");  // CUDA would make a child of it; nobody needs that
  ++state().counters.graph_launches;
  submit_graph(stream, *exec);
  return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) {
  KC_ENTER();
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t*, std::size_t* count) {
  KC_ENTER();
  *count = graph->nodes.size();
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const cudaError_t entered = enter();
  if (!graph) return refuse(cudaErrorInvalidValue, "no graph to destroy");
  delete graph;
  --state().living.graphs;
  return entered;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  const cudaError_t entered = enter();
  if (!exec) return refuse(cudaErrorInvalidValue, "no graph to destroy");
  delete exec;  // launches that are queued have their own copy, as CUDA lets them finish
  --state().living.execs;
  return entered;
}
