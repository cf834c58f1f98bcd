// Graphs: nodes hold copies of their arguments, so what changes after a capture changes nothing in them. Conditional nodes
// look at a value that a kernel of the same launch must have set, by one thread (CUDA leaves undefined what calls beside each
// other do); their bodies are what CUDA allows: kernels, products, copies
// on the device, and such nodes again, and they are not empty (before CUDA 12.8 a device would hang).
#include <algorithm>

#include "tests/emulated_device/streams.hpp"

using namespace kilochain::emulated;

namespace {

/// Of all graphs that live, by their handles.
std::map<cudaGraphConditionalHandle, std::weak_ptr<Conditional>>& conditionals() {
  static std::map<cudaGraphConditionalHandle, std::weak_ptr<Conditional>> all;
  return all;
}
constexpr std::int64_t most_rounds = 10'000'000;  ///< a loop that makes more will not end
const Family* launched = nullptr;                 ///< whose nodes run

void stop(cudaError_t error, const char* why) {
  refuse(error, why);
  state().sticky = error;
}
void run_conditional(const Conditional& condition, const Graph& body, bool loops) {
  if (!condition.set)
    return stop(cudaErrorLaunchFailure, "a conditional node whose value nobody has set in this launch");
  for (std::int64_t round = 0; condition.value != 0 && state().sticky == cudaSuccess; ++round) {
    if (round == most_rounds) return stop(cudaErrorLaunchTimeout, "a loop of a graph does not end");
    run_nodes(body.nodes);
    if (!loops) return;
  }
}
bool allowed_in_a_body(const Work& work) {
  return work.kind == NodeKind::kernel || work.kind == NodeKind::product || work.kind == NodeKind::set ||
         work.kind == NodeKind::conditional || (work.kind == NodeKind::copy && work.detail == cudaMemcpyDeviceToDevice);
}
/// Empty when CUDA would make an executable graph of it.
std::string why_not(const Graph& graph, bool is_body) {
  if (is_body && graph.nodes.empty()) return "an empty body";
  for (const Node& n : graph.nodes)
    if (is_body && !allowed_in_a_body(n.work)) return "a body with such a node";
  for (const auto handle : graph.conditionals)
    if (!graph.family->conditionals.at(handle)->used) return "a handle without its node";
  for (const auto& body : graph.bodies)
    if (const std::string why = why_not(*body, true); !why.empty()) return why;
  return "";
}

}  // namespace

namespace kilochain::emulated {
void begin_launch(Family* family) {
  launched = family;
  if (!family) return;
  for (auto& [handle, condition] : family->conditionals) {
    condition->set = condition->assigns;
    if (condition->assigns) condition->value = condition->at_launch;
  }
}
void set_conditional(unsigned long long handle, unsigned value) {
  static std::uint32_t kernel = ~0u, thread = 0;  // that set one last
  if (kernel == now.launch && thread != now.thread) {
    watching = false;
    fault(cudaErrorLaunchFailure, here_in_kernel() + ": another thread of this kernel sets a condition, too");
  }
  kernel = now.launch, thread = now.thread;
  const auto found = conditionals().find(handle);
  const auto condition = found == conditionals().end() ? nullptr : found->second.lock();
  if (!condition || condition->of != launched) trap();
  condition->value = value, condition->set = true;
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
  const auto condition = std::make_shared<Conditional>();
  condition->at_launch = value_at_launch, condition->assigns = flags == cudaGraphCondAssignDefault;
  condition->of = graph->family.get();
  graph->conditionals.push_back(*handle);
  graph->family->conditionals[*handle] = condition;
  conditionals()[*handle] = condition;
  return cudaSuccess;
}
cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             const cudaGraphEdgeData*, std::size_t count, cudaGraphNodeParams* params) {
  KC_ENTER();
  const auto& asked = params->conditional;
  if (params->type != cudaGraphNodeTypeConditional || asked.size != 1)
    return refuse(cudaErrorNotSupported, "a node that is not a condition with one body");
  if (graph->captured) return refuse(cudaErrorInvalidValue, "a node for a graph that is captured");
  const auto& own = graph->conditionals;
  const auto condition = std::find(own.begin(), own.end(), asked.handle) == own.end()
                             ? nullptr
                             : graph->family->conditionals.at(asked.handle);
  if (!condition || condition->used)
    return refuse(cudaErrorInvalidValue, "a handle that is not this graph's, or has its node");
  std::vector<std::size_t> before;
  for (std::size_t k = 0; k < count; ++k) {
    before.push_back(reinterpret_cast<std::size_t>(after[k]) - 1);
    if (before.back() >= graph->nodes.size())
      return refuse(cudaErrorInvalidValue, "a node after one that is not there");
  }
  condition->used = true;
  const auto body = std::make_shared<Graph>();
  body->family = graph->family;
  graph->bodies.push_back(body);
  graph->told.push_back(body.get());
  params->conditional.phGraph_out = &graph->told.back();
  const bool loops = asked.type == cudaGraphCondTypeWhile;
  graph->nodes.push_back({{NodeKind::conditional, nullptr, asked.type,
                           [condition, body, loops] { run_conditional(*condition, *body, loops); }, nullptr},
                          before});
  *node = handle_of(graph->nodes.size() - 1);
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  KC_ENTER(cudaErrorMemoryAllocation);
  if (!graph) return refuse(cudaErrorInvalidValue, "no graph to instantiate");
  if (const std::string why = why_not(*graph, false); !why.empty()) return refuse(cudaErrorNotSupported, why);
  if (!graph->bodies.empty() && graph->family->instances > 0)
    return refuse(cudaErrorNotSupported, "a second instance of a graph with conditional nodes");
  if (!graph->bodies.empty() && mutant_strikes(Mutant::graph_loop)) return state().last = cudaErrorNotSupported;
  *exec = new GraphExec{graph->nodes, graph->family};
  ++graph->family->instances;
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
  --exec->family->instances;
  delete exec;  // launches that are queued have their own copy, as CUDA lets them finish
  --state().living.execs;
  return entered;
}
