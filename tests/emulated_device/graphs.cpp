// Graphs: nodes hold copies of their arguments, so what changes after a capture changes nothing in them. Of conditional nodes
// there are loops, each the only node of its graph; their bodies are what CUDA allows: kernels, products, copies on the device.
#include "tests/emulated_device/streams.hpp"

using namespace kilochain::emulated;

namespace {

/// Of all graphs that live, by their handles.
std::map<cudaGraphConditionalHandle, std::weak_ptr<Conditional>>& conditionals() {
  static std::map<cudaGraphConditionalHandle, std::weak_ptr<Conditional>> all;
  return all;
}
constexpr std::int64_t most_rounds = 10'000'000;  ///< a loop that makes more will not end

void run_loop(Conditional& condition, const Graph& body) {
  if (condition.assigns) condition.value = condition.at_launch;
  for (std::int64_t round = 0; condition.value != 0 && state().sticky == cudaSuccess; ++round) {
    if (round == most_rounds) {
      refuse(cudaErrorLaunchTimeout, "a loop of a graph does not end");
      state().sticky = cudaErrorLaunchTimeout;
    }
    run_nodes(body.nodes);
  }
}
bool allowed_in_a_loop(const Work& work) {
  return work.kind == NodeKind::kernel || work.kind == NodeKind::product || work.kind == NodeKind::set ||
         (work.kind == NodeKind::copy && work.detail == cudaMemcpyDeviceToDevice);
}

}  // namespace

namespace kilochain::emulated {
void set_conditional(unsigned long long handle, unsigned value) {
  const auto found = conditionals().find(handle);
  const auto condition = found == conditionals().end() ? nullptr : found->second.lock();
  if (!condition) trap();
  condition->value = value;
}
}  // namespace kilochain::emulated

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  KC_ENTER(cudaErrorMemoryAllocation);
  *graph = new Graph;
  ++state().living.graphs;
  return cudaSuccess;
}
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned value_at_launch, unsigned flags) {
  KC_ENTER();
  if (!graph) return refuse(cudaErrorInvalidValue, "no graph for a handle");
  static cudaGraphConditionalHandle last = 0;
  *handle = ++last;
  const auto condition =
      std::make_shared<Conditional>(Conditional{value_at_launch, value_at_launch, flags == cudaGraphCondAssignDefault});
  graph->conditionals[*handle] = condition;
  conditionals()[*handle] = condition;
  return cudaSuccess;
}
cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t*, const cudaGraphEdgeData*,
                             std::size_t count, cudaGraphNodeParams* params) {
  KC_ENTER();
  const auto& loop = params->conditional;
  if (params->type != cudaGraphNodeTypeConditional || loop.type != cudaGraphCondTypeWhile || loop.size != 1 ||
      count != 0 || !graph->nodes.empty())
    return refuse(cudaErrorNotSupported, "a node that is not the loop of an empty graph");
  const auto found = graph->conditionals.find(loop.handle);
  if (found == graph->conditionals.end() || found->second->used)
    return refuse(cudaErrorInvalidValue, "a handle that is not this graph's, or has its node");
  const auto condition = found->second;
  condition->used = true;
  const auto body = std::make_shared<Graph>();
  graph->bodies.push_back(body);
  graph->told.push_back(body.get());
  params->conditional.phGraph_out = &graph->told.back();
  graph->nodes.push_back(
      {{NodeKind::loop, nullptr, 0, [condition, body] { run_loop(*condition, *body); }, nullptr}, {}});
  *node = &graph->nodes.back();
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  KC_ENTER(cudaErrorMemoryAllocation);
  if (!graph) return refuse(cudaErrorInvalidValue, "no graph to instantiate");
  for (const auto& body : graph->bodies)
    for (const Node& n : body->nodes)
      if (!allowed_in_a_loop(n.work)) return refuse(cudaErrorNotSupported, "a loop's body with such a node");
  if (!graph->bodies.empty() && *graph->instances > 0)
    return refuse(cudaErrorNotSupported, "a second instance of a graph with a loop");
  if (!graph->bodies.empty() && mutant_strikes(Mutant::graph_loop)) return state().last = cudaErrorNotSupported;
  *exec = new GraphExec{graph->nodes, graph->instances};
  ++*graph->instances;
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
  --*exec->instances;
  delete exec;  // launches that are queued have their own copy, as CUDA lets them finish
  --state().living.execs;
  return entered;
}
